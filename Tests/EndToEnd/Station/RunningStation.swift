// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport

/// A `rainctl station` that a person has started, with the link that it has printed.
struct RunningStation {
    let process: ChildProcess
    let link: String

    /// Starts it on the boards of a workshop.
    static func start(_ shop: Workshop, _ arguments: [String]) async throws -> RunningStation {
        let process = try await shop.maker.start(
            ["station"] + arguments + ["--ssid", SimulatedBoard.ssid, "--passphrase-file", shop.folder.file("wifi")],
            environment: shop.radio.environment)
        try await process.errorOutput(containing: "/?token=", within: .waitLimit)
        let words = process.standardError.split { $0 == " " || $0 == "\n" }
        guard let link = words.first(where: { $0.hasPrefix("http://") }) else {
            throw ProcessError("no link in: \(process.standardError)")
        }
        return RunningStation(process: process, link: String(link))
    }

    /// The address without the token.
    var base: String { String(link.prefix { $0 != "?" }) }

    /// Ends it as Ctrl-C does.
    func interrupt() async throws -> ChildExit {
        process.signal(SIGINT)
        let status = try await process.wait(within: .waitLimit)
        try await process.drained()
        return status
    }
}

extension HeadlessBrowser {
    /// Waits for the text of an element.
    func wait(for selector: String, toBe text: String, within limit: Duration = .waitLimit) async throws {
        try await run("return document.querySelector('\(selector)')?.textContent ?? null", within: limit) {
            $0.string == text
        }
    }

    func wait(for selector: String, toContain text: String, within limit: Duration = .waitLimit) async throws {
        try await run("return document.querySelector('\(selector)')?.textContent ?? null", within: limit) {
            $0.string?.contains(text) == true
        }
    }

    /// Returns what axe-core finds wrong with the page as it is now.
    func violations(_ axe: String) async throws -> [String] {
        try await run(axe)
        let found = try await run(
            """
            return axe.run(document).then(r => r.violations.map(
              v => v.id + ": " + v.nodes.map(n => n.target.join(" ") + " " + n.failureSummary).join(" | ")))
            """)
        return found.array?.compactMap(\.string) ?? ["axe did not run: \(found)"]
    }
}
