// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// What a terminal is asked, a script gives by an option: without a terminal the error names it.
@Suite("rainctl: each question has an option")
struct PromptFlagTests {
    struct Question: Sendable, CustomTestStringConvertible {
        var command: String
        /// What answers it.
        var option: String
        var reason: String
        var testDescription: String { "\(option): \(command)" }

        init(_ command: String, _ option: String, _ reason: String) {
            (self.command, self.option, self.reason) = (command, option, reason)
        }
    }

    static let questions = [
        Question("login", "rainctl login USER", "missing_user"),
        Question("login new@example.com", "--password-file", "missing_secret"),
        Question("account signup new@example.com", "--password-file", "missing_secret"),
        Question("account confirm new@example.com", "--code-file", "missing_code"),
        Question("account password change --password-file SECRET", "--new-password-file", "missing_secret"),
        Question(
            "account password reset maker@example.com --code-file SECRET", "--new-password-file", "missing_secret"),
        Question("account delete", "--yes", "missing_confirmation"),
        Question("node remove node-one", "--yes", "missing_confirmation"),
        Question("provision WAY --pop-file pop", "--ssid", "missing_ssid"),
        Question("provision WAY --pop-file pop --ssid Home", "--passphrase-file", "missing_secret"),
        Question("provision WAY --no-mapping --ssid Home --passphrase-file wifi", "--pop-file", "proof_needed"),
        Question("device scan WAY", "--pop-file", "proof_needed"),
    ]

    @Test("which the error names where nobody can be asked, and nothing is waited for")
    func named() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(nodes: ["node-one"], in: folder)
            try await maker.signIn(to: cloud)
            // One that is in the account, and one that is not yet.
            let known = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0"] + cloud.boardOptions(node: "node-one"), in: folder)
            #expect(try await maker.provision(known).status == 0)
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0"], in: folder)
            let reasons = try readFile(Repository.path("docs/reasons.md"))
            for question in Self.questions {
                let words = question.command.split(separator: " ").map(String.init).flatMap { word in
                    switch word {
                    case "WAY": Maker.way(to: board)
                    case "pop", "wifi": [folder.file(word)]
                    case "SECRET": [folder.file("password")]
                    default: [word]
                    }
                }
                let outcome = try await maker.rainctl(words + ["--no-input", "--json"])
                let message = outcome.failure?["message"]?.string ?? ""
                #expect(message.contains(question.option), "\(question.command): \(outcome.standardOutput)")
                #expect(outcome.status == 64, "\(question.command): \(outcome.status)")
                let reason = outcome.failure?["reason"]?.string ?? ""
                #expect(reason == question.reason, "\(question.command): \(outcome.standardOutput)")
                #expect(reasons.contains("\n| `\(reason)` |"), "\(question.command): \(reason)")
            }
        }
    }
}
