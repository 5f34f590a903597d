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
        var testDescription: String { "\(option): \(command)" }

        init(_ command: String, _ option: String) { (self.command, self.option) = (command, option) }
    }

    static let questions = [
        Question("login", "rainctl login USER"), Question("login new@example.com", "--password-file"),
        Question("account signup new@example.com", "--password-file"),
        Question("account confirm new@example.com", "--code-file"),
        Question("account password change --password-file SECRET", "--new-password-file"),
        Question("account password reset maker@example.com --code-file SECRET", "--new-password-file"),
        Question("account delete", "--yes"), Question("node remove node-one", "--yes"),
        Question("provision WAY --pop-file pop", "--ssid"),
        Question("provision WAY --pop-file pop --ssid Home", "--passphrase-file"),
        Question("provision WAY --no-mapping --ssid Home --passphrase-file wifi", "--pop-file"),
        Question("device scan WAY", "--pop-file"),
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
            let page = try readFile(Repository.path("docs/reasons.md"))
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
                if let reason = outcome.failure?["reason"]?.string {
                    #expect(page.contains("| `\(reason)` |"), "\(question.command): \(reason)")
                }
                if question.option == "--passphrase-file" {
                    #expect(outcome.failure?["reason"] == "missing_wifi_password")
                }
                #expect([64, 77].contains(outcome.status), "\(question.command): \(outcome.status)")
            }
        }
    }
}
