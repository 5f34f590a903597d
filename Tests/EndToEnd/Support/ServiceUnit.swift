// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// A unit of packaging/systemd.
struct ServiceUnit {
    let name: String

    private var text: String {
        get throws { try readFile(Repository.path("packaging/systemd/\(name)")) }
    }

    /// Returns the arguments of rainctl, as systemd starts it.
    ///
    /// - Parameter settings: the values of `%d`, the folder of credentials, and of variables such as `${SSID}`.
    func arguments(_ settings: [String: String]) throws -> [String] {
        let line = try #require(
            text.replacing("\\\n", with: " ").split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        let words = line.dropFirst("ExecStart=".count).split(separator: " ").map { word in
            settings.reduce(String(word)) { $0.replacing($1.key, with: $1.value) }
        }
        try #require(words.first == "/usr/bin/rainctl")
        return Array(words.dropFirst())
    }

    /// Has systemd verify the unit, and rate it.
    ///
    /// - Parameters:
    ///   - file: the environment file, and its content.
    ///   - limit: the exposure that is accepted, in tenths of systemd's scale from 0 to 10.
    /// - Returns: the exposure.
    func exposure(_ file: (name: String, content: String), limit: Int) async throws -> String {
        try await withTemporaryFolder { folder in
            let unit = try text.replacing("/usr/bin/rainctl", with: "/bin/true")
                .replacing("/etc/rainkit", with: folder.file("etc"))
            try folder.makeFolder("etc")
            try folder.write(file.content, to: "etc/\(file.name)")
            try folder.write(unit, to: name)
            let verified = try await run(
                "systemd-analyze", ["verify", "--man=no", folder.file(name)],
                environment: ["SYSTEMD_LOG_LEVEL": "warning"])
            let word = name.split(separator: ".")[0]
            #expect(!verified.standardError.contains(word), "\(verified.standardError)")
            let rated = try await run(
                "systemd-analyze", ["security", "--offline=true", "--threshold=\(limit)", folder.file(name)])
            #expect(rated.status == .exited(0), "\(rated.standardOutput.suffix(200))")
            return String(
                try #require(rated.standardOutput.firstMatch(of: /exposure level for .*: ([0-9.]+)/)).output.1)
        }
    }
}
