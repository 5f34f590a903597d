// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// The unit tier compares the help of every command with its file, in-process (`RecordedOutputTests`).
@Suite("rainctl --help, started")
struct HelpTests {
    @Test("prints the recorded text on standard output", arguments: ["", "provision", "node params set"])
    func recorded(command: String) async throws {
        let words = command.split(separator: " ").map(String.init)
        let finished = try await run(
            Executables.path("rainctl"), words + ["--help"], environment: ["COLUMNS": "80"])
        #expect(finished.status == .exited(0))
        #expect(finished.standardError.isEmpty)
        let file = (["rainctl"] + words).joined(separator: "-") + ".txt"
        #expect(
            try finished.standardOutput == readFile(Repository.path("Tests/rainctlTests/Recorded/Help/\(file)")))
    }
}
