// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Why a board does not get onto its network, or is not a board.
@Suite("rainctl provision: the cause of a failure to join")
struct NetworkCauseTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var network: String
        var options: [String]
        var passphrase = ""
        var exit: Int
        var reason: String
        var says: String
        var testDescription: String { reason + " " + says }
    }

    static let cases = [
        Case(
            network: #"{"ssid":"Home","passphrase":"correct horse"}"#, options: ["--open"], exit: 11,
            reason: "password_missing", says: "has a password"),
        Case(
            network: #"{"ssid":"Home","passphrase":"correct horse","auth":5}"#, options: ["--passphrase-file", "FILE"],
            passphrase: "another horse", exit: 11, reason: "enterprise_network", says: "enterprise network"),
        Case(
            network: #"{"ssid":"Home","passphrase":"correct horse"}"#, options: ["--passphrase-file", "FILE"],
            passphrase: "correct horse ", exit: 11, reason: "wifi_authentication_failed", says: "ends with white space"),
        Case(
            network: #"{"ssid":"Home","passphrase":"correct horse"}"#, options: ["--passphrase-file", "FILE"],
            passphrase: #""correct horse""#, exit: 11, reason: "wifi_authentication_failed", says: "quotation marks"),
        Case(
            network: #"{"ssid":"Home","passphrase":"correct horse"}"#, options: ["--passphrase-file", "FILE"],
            passphrase: String(repeating: "0a", count: 32), exit: 64, reason: "key_not_taken", says: "64 hexadecimal"),
        Case(
            network: #"{"ssid":"Home","passphrase":"correct horse"}"#, options: ["--passphrase-file", "FILE"],
            passphrase: "correct\nhorse", exit: 65, reason: "bad_secret_file", says: "more than one line"),
    ]

    @Test("is named", arguments: cases)
    func cause(example: Case) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            try folder.write(example.passphrase, to: "passphrase")
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1", "--join-delay", "0", "--ap", example.network], in: folder)
            let options = example.options.map { $0 == "FILE" ? folder.file("passphrase") : $0 }
            let outcome = try await maker.rainctl(
                ["provision", "--no-mapping", "--ssid", "Home", "--pop-file", folder.file("pop"), "--json"] + options
                    + Maker.way(to: board))
            #expect(outcome.status == example.exit, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.failure?["reason"]?.string == example.reason)
            #expect(outcome.failure?["message"]?.string?.contains(example.says) == true, "\(outcome.standardOutput)")
            #expect(!outcome.standardOutput.contains("horse") && !outcome.standardError.contains("horse"))
        }
    }

    @Test("a router's web server at the board's address", arguments: ["404 Not Found", "302 Found", "200 OK"])
    func router(status: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let server = try LoopbackServer { peer in
                guard peer.readRequest() != nil else { return }
                peer.respond(status, headers: ["Location: https://192.168.4.1/login"], #"{"status":"ok"}"#)
            }
            let outcome = try await maker.rainctl(
                "provision", "--no-mapping", "--ssid", "Home", "--passphrase-file", folder.file("wifi"), "--pop-file",
                folder.file("pop"), "--json", "--transport", "softap", "--device-host", "127.0.0.1:\(server.port)")
            outcome.expectFailure(69, "unavailable", says: "not a board")
            #expect(outcome.failure?["reason"] == "not_a_board")
            #expect(server.seen.count == 1)
        }
    }
}
