// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// A script without its secret gets an error before anything is sent. An empty secret does not mean "none".
@Suite("rainctl and a secret that is empty")
struct EmptySecretTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var words: [String]
        var input: ChildProcess.Input = .empty
        /// What the message names.
        var says: String
        var testDescription: String { words.joined(separator: " ") }
    }

    static let passphrases = [
        Case(words: ["--passphrase", ""], says: "--open"),
        Case(words: ["--passphrase-file", "EMPTY"], says: "--open"),
        Case(words: ["--passphrase-file", "LINE"], says: "--open"),
        Case(words: ["--passphrase-stdin"], says: "--open"),
        Case(words: ["--passphrase-stdin"], input: .text("\r\n"), says: "--open"),
    ]

    static let proofs = [
        Case(words: ["--pop", ""], says: "(--pop)"), Case(words: ["--pop-file", "EMPTY"], says: "(--pop-file)"),
        Case(words: ["--pop-stdin"], says: "(--pop-stdin)"),
    ]

    /// The board's only network is open, and it wants no proof of possession: all that is empty would do.
    private func refuses(_ example: Case, _ command: [String]) async throws {
        try await withTemporaryFolder { folder in
            try folder.write("", to: "EMPTY")
            try folder.write("\n", to: "LINE")
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--no-pop", "--wifi", "Shop:"], in: folder)
            let words = example.words.map { ["EMPTY", "LINE"].contains($0) ? folder.file($0) : $0 }
            let outcome = try await maker.rainctl(
                command + Maker.way(to: board) + words + ["--json"], input: example.input)
            #expect(outcome.status == 64, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.failure?["code"] == "usage")
            #expect(outcome.failure?["reason"] == "empty_secret")
            let message = outcome.failure?["message"]?.string ?? ""
            let isNamed = ["empty", "has no text"].contains { message.contains($0) }
            #expect(isNamed && message.contains(example.says), "\(message)")
            #expect(try board.journal.entries(where: ["event": "request"]).isEmpty)
        }
    }

    @Test("an open network is asked for by --open, not by an empty password", arguments: passphrases)
    func passphrase(example: Case) async throws {
        try await refuses(example, ["provision", "--no-mapping", "--ssid", "Shop"])
    }

    @Test("an empty proof of possession is not sent", arguments: proofs)
    func proof(example: Case) async throws {
        try await refuses(example, ["device", "scan"])
    }

    @Test("neither is it where the network comes from the board")
    func chosen() async throws {
        let example = Case(words: ["--passphrase-file", "EMPTY"], says: "--open")
        try await refuses(example, ["provision", "--no-mapping"])
    }

    @Test("--open joins an open network")
    func open() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--no-pop", "--wifi", "Shop:"], in: folder)
            let outcome = try await maker.rainctl(
                ["provision", "--no-mapping", "--ssid", "Shop", "--open", "--json"] + Maker.way(to: board))
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        }
    }
}
