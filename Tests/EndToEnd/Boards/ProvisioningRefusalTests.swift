// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Each cause that keeps a board from being provisioned has its own exit code, over every transport.
@Suite("rainctl provision: refusals")
struct ProvisioningRefusalTests {
    struct Refusal: CustomTestStringConvertible, Sendable {
        var what: String
        var line = BoardLine.http
        var options: [String] = []
        var passphrase = "wifi"
        var pop = "pop"
        var more: [String] = []
        var status: Int
        var code: String
        /// What the sentence says is to be tried.
        var says: String
        var testDescription: String { "\(what), \(line) → \(status)" }
    }

    static let refusals =
        [
            Refusal(
                what: "a wrong proof of possession, Security 2", options: ["--security", "2"], pop: "wrong",
                status: 10, code: "wrong_pop", says: "label"),
            Refusal(
                what: "Security 2", line: .console, options: ["--security", "2"], status: 15,
                code: "security_mismatch", says: "another transport"),
        ]
        // RainMaker's own console has neither handshake nor proof.
        + [BoardLine.http, .console].flatMap { line in
            [
                Refusal(
                    what: "a wrong proof of possession, Security 1", line: line, pop: "wrong", status: 10,
                    code: "wrong_pop", says: "label"),
                Refusal(
                    what: "another scheme than the board's", line: line, more: ["--sec-ver", "2"], status: 15,
                    code: "security_mismatch", says: "--sec-ver"),
            ]
        }
        + BoardLine.allCases.flatMap { line in
            [
                Refusal(
                    what: "a wrong Wi-Fi password", line: line, passphrase: "wrong", status: 11,
                    code: "wifi_auth_failed", says: "Wi-Fi password"),
                Refusal(
                    what: "an absent network", line: line, options: ["--wifi", "Elsewhere:planted-elsewhere"],
                    status: 12, code: "wifi_ap_not_found", says: "2.4 GHz"),
                Refusal(
                    what: "a stuck board", line: line, options: ["--fail", "stuck"], more: ["--timeout", "60s"],
                    status: 16, code: "deadline", says: "nearer to the access point"),
            ]
        }

    @Test("each has its exit code, and one sentence that says what to try", arguments: refusals)
    func refused(refusal: Refusal) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-refusing"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                refusal.line.options(in: folder) + refusal.options + cloud.boardOptions(node: "node-refusing"),
                in: folder)
            let outcome = try await maker.provision(
                board, passphrase: refusal.passphrase, pop: refusal.pop, refusal.more + ["--json"])
            outcome.expectFailure(refusal.status, refusal.code, says: refusal.says)
            if refusal.line == .console, refusal.status == 15 {
                // Seen before the handshake.
                let asked = try board.journal.entries(where: ["event": "request", "endpoint": "prov-session"])
                #expect(asked.isEmpty)
            }
        }
    }

    @Test("without a session nothing is sent to anyone")
    func notSignedIn() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.use(cloud)
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0"], in: folder)
            let outcome = try await maker.provision(board, ["--json"])
            outcome.expectFailure(77, "auth", says: "rainctl login")
            #expect(outcome.failure?["reason"]?.string == "not_signed_in")
            #expect(try board.journal.entries(where: ["event": "request"]).isEmpty)
            #expect(try cloud.journal.entries(where: ["event": "request"]).isEmpty)
        }
    }

    @Test("a cloud that is down before the start leaves the board alone")
    func cloudDown() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            try await cloud.process.terminate()
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0"], in: folder)
            let outcome = try await maker.provision(board, ["--json"])
            outcome.expectFailure(75, "temporary", says: "try again")
            #expect(try board.journal.entries(where: ["event": "request"]).isEmpty)
        }
    }
}
