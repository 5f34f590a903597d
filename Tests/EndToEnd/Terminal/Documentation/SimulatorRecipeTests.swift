// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// The lines for CI machines in pytest-rainkit/README.md.
@Suite("The simulators without pytest, as README has it")
struct SimulatorRecipeTests {
    @Test("start one after the other, and a board joins the network and the account", .timeLimit(.minutes(10)))
    func recipe() async throws {
        let page = try readFile(Repository.path("pytest-rainkit/README.md"))
        let block = try #require(page.firstMatch(of: /\n```sh\n((?:[^`]+\n)+)```\n/)).1
        // Other tests run at the same time: any ports that are free.
        let lines = String(block).replacing("127.0.0.1:8443", with: "127.0.0.1:0")
            .replacing("127.0.0.1:8080", with: "127.0.0.1:0")
        #expect(lines.matches(of: /127\.0\.0\.1:0/).count == 2)
        let script = """
            set -e
            trap 'kill $(jobs -p)' EXIT
            \(lines)
            rainctl profile add ci --base-url "$(value api)" >/dev/null
            printf secret-Passw0rd | rainctl login me@example.com --profile ci --password-stdin >/dev/null
            board=$(sed 's/.*"http":"\\([^"]*\\)".*/\\1/' board.json)
            printf abcd1234 >pop
            printf secret-Wi-Fi | rainctl provision --profile ci --transport softap --device-host "$board" \\
              --pop-file pop --ssid Home --passphrase-stdin --json
            """
        try await withTemporaryFolder { folder in
            let programs = try Executables.path("rainctl").split(separator: "/").dropLast().joined(separator: "/")
            let finished = try await run(
                "bash", ["-c", script],
                environment: try Maker(folder).environment.merging(["PATH": "/\(programs):/usr/sbin:/usr/bin:/bin"]) {
                    $1
                },
                directory: folder.path)
            #expect(finished.status == .exited(0), "\(finished.standardError)\(finished.standardOutput)")
            #expect(finished.standardOutput.contains("\"node_id\": \"node-1\""), "\(finished.standardOutput)")
            #expect(finished.standardOutput.contains("\"mapping\": \"confirmed\""), "\(finished.standardOutput)")
        }
    }

    @Test("the pages of the simulated cloud and board put a board into an account", .timeLimit(.minutes(10)))
    func pages() async throws {
        var script = "set -e\ntrap 'kill $(jobs -p)' EXIT\n"
        for (name, heading) in [("simulated-cloud", "With rainctl"), ("simulated-board", "In the simulated cloud")] {
            script += try block(page: name, below: heading)
        }
        // Other tests run at the same time: any port that is free.
        #expect(script.matches(of: /127\.0\.0\.1:8080/).count == 2)
        script = script.replacing("--http 127.0.0.1:8080", with: "--http 127.0.0.1:0").replacing(
            "--device-host 127.0.0.1:8080", with: #"--device-host "$(sed 's/.*"http":"\([^"]*\)".*/\1/' board.json)""#)
        try await withTemporaryFolder { folder in
            let programs = try Executables.path("rainctl").split(separator: "/").dropLast().joined(separator: "/")
            let finished = try await run(
                "bash", ["-c", script],
                environment: try Maker(folder).environment.merging(["PATH": "/\(programs):/usr/sbin:/usr/bin:/bin"]) {
                    $1
                },
                directory: folder.path)
            #expect(finished.status == .exited(0), "\(finished.standardError)\(finished.standardOutput)")
            #expect(finished.standardOutput.contains("node-1  online"), "\(finished.standardOutput)")
        }
    }

    @Test("the page of the library for C starts a cloud and two boards", .timeLimit(.minutes(10)))
    func library() async throws {
        let script = """
            set -e
            trap 'kill $(jobs -p)' EXIT
            \(try block(page: "c-library", below: "Without a board and an account"))
            rainctl profile add ci --base-url "$EXAMPLE_CLOUD" >/dev/null
            printf %s "$EXAMPLE_PASSWORD" | rainctl login "$EXAMPLE_USER" --profile ci --password-stdin >/dev/null
            printf %s "$EXAMPLE_PROOF" >pop
            printf %s "$EXAMPLE_PASSPHRASE" >wifi
            for way in "--port $PWD/door-cable" "--transport softap --device-host $(value lamp http)"; do
              rainctl provision --profile ci $way --pop-file pop --ssid "$EXAMPLE_NETWORK" --passphrase-file wifi >/dev/null
            done
            rainctl node list --profile ci
            """
        try await withTemporaryFolder { folder in
            let programs = try Executables.path("rainctl").split(separator: "/").dropLast().joined(separator: "/")
            let finished = try await run(
                "bash", ["-c", script],
                environment: try Maker(folder).environment.merging(["PATH": "/\(programs):/usr/sbin:/usr/bin:/bin"]) {
                    $1
                },
                directory: folder.path)
            #expect(finished.status == .exited(0), "\(finished.standardError)\(finished.standardOutput)")
            for node in ["door", "lamp"] { #expect(finished.standardOutput.contains("\(node)  online")) }
        }
    }

    /// The first block of shell lines below a heading of a page.
    private func block(page name: String, below heading: String) throws -> String {
        let page = try readFile(Repository.path("docs/\(name).md"))
        let section = try #require(page.firstRange(of: "# \(heading)\n")).upperBound
        return String(try #require(page[section...].firstMatch(of: /\n```sh\n((?:[^`]+\n)+)```\n/)).1)
    }
}
