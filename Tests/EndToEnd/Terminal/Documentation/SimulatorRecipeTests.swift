// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// The lines for CI machines in pytest-rainkit/README.md.
@Suite("The simulators without pytest, as README has it")
struct SimulatorRecipeTests {
    @Test("start one after the other, and a board joins the network and the account", .timeLimit(.minutes(2)))
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

    @Test("the pages of the simulated cloud and board put a board into an account", .timeLimit(.minutes(2)))
    func pages() async throws {
        var script = "set -e\ntrap 'kill $(jobs -p)' EXIT\n"
        for (name, heading) in [("simulated-cloud", "With rainctl"), ("simulated-board", "In the simulated cloud")] {
            let page = try readFile(Repository.path("docs/\(name).md"))
            let section = try #require(page.firstRange(of: "\n## \(heading)\n")).upperBound
            script += String(try #require(page[section...].firstMatch(of: /\n```sh\n((?:[^`]+\n)+)```\n/)).1)
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
}
