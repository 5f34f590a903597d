// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import rainctl

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

    @Test("a topic is as wide as the terminal")
    func topic() async throws {
        for topic in HelpTopic.allCases {
            let finished = try await run(
                Executables.path("rainctl"), ["--profile", "lab", "help", topic.rawValue],
                environment: ["COLUMNS": "60"])
            #expect(finished.status == .exited(0) && finished.standardError.isEmpty)
            #expect(finished.standardOutput == topic.text(columns: 60))
        }
    }

    @Test("options before the command do what they do after it", arguments: ["node list", "account curl -- /v1/user2"])
    func optionsFirst(command: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let words = command.split(separator: " ").map(String.init)
            let own = words.prefix { $0 != "--" }
            let options = ["--json", "--profile=nowhere", "-qv", "--log-file", folder.file("log")]
            let before = try await maker.rainctl(options + words)
            let after = try await maker.rainctl(own + options + words.dropFirst(own.count))
            #expect(before.status == 78 && before.failure?["message"]?.string?.contains("nowhere") == true, "\(before)")
            #expect(before.standardOutput == after.standardOutput && before.standardError == after.standardError)
        }
    }
}
