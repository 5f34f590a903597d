// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// A board has one connection and one session, and whoever comes next takes both. That is not the board's word on a proof of possession.
@Suite("rainctl: two clients at one board", .serialized)
struct TwoClientsTests {
    private static let rounds = 12

    @Test("both finish, and neither reports a wrong proof", arguments: ["1", "2"])
    func bothRight(security: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0", "--security", security], in: folder)
            let command = ["device", "scan", "--json", "--pop-file", folder.file("pop")] + Maker.way(to: board)
            for round in 1...Self.rounds {
                async let one = maker.rainctl(command)
                async let other = maker.rainctl(command)
                let outcomes = [try await one, try await other]
                // On a busy machine handshakes take so long that each client may interrupt the other each time.
                if Timings.isAlone { #expect(outcomes.contains { $0.status == 0 }, "round \(round)") }
                for outcome in outcomes where Timings.isAlone || outcome.failure?["reason"] != "session_taken" {
                    #expect(outcome.status == 0, "round \(round): \(outcome.standardOutput)\(outcome.standardError)")
                }
            }
            #expect(try board.journal.entries(where: ["change": "wrong_proof"]).isEmpty)
        }
    }

    @Test("the client with the wrong proof reports it, with the board's count")
    func oneWrong() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            for round in 1...4 {
                let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0", "--security", "1"], in: folder)
                let scan = ["device", "scan", "--json"] + Maker.way(to: board)
                async let right = maker.rainctl(scan + ["--pop-file", folder.file("pop")])
                async let wrong = maker.rainctl(scan + ["--pop-file", folder.file("wrong")])
                let (good, bad) = (try await right, try await wrong)
                #expect(good.status == 0, "round \(round): \(good.standardOutput)\(good.standardError)")
                // Where the other client cut it off each time, the board's verdict never came: the connection broke, or the board is busy.
                #expect([10, 14, 75].contains(bad.status), "round \(round): \(bad.standardOutput)\(bad.standardError)")
                let counted = try board.journal.entries(where: ["change": "wrong_proof"]).count
                #expect((1...4).contains(counted), "round \(round)")
                try await board.process.terminate()
            }
        }
    }

    @Test(
        "the messages count wrong proofs as the board does",
        arguments: [("1", "wrong", 1, "After five wrong proofs"), ("2", "wrong", 2, "has now received 2 wrong proofs")])
    func strikes(security: String, proof: String, count: Int, words: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0", "--security", security], in: folder)
            let outcome = try await maker.rainctl(
                ["device", "scan", "--json", "--pop-file", folder.file(proof)] + Maker.way(to: board))
            #expect(outcome.status == 10)
            #expect(outcome.failure?["message"]?.string?.contains(words) == true, "\(outcome.standardOutput)")
            #expect(try board.journal.entries(where: ["change": "wrong_proof"]).count == count)
        }
    }

    @Test("a wrong user name of Security 2 is named as what may be wrong, beside the proof")
    func userName() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "2", "--username", "workshop"], in: folder)
            let command = ["device", "scan", "--json", "--pop-file", folder.file("pop")] + Maker.way(to: board)
            let outcome = try await maker.rainctl(command)
            #expect(outcome.status == 10)
            let message = outcome.failure?["message"]?.string ?? ""
            #expect(message.contains("proof of possession") && message.contains("user name"), "\(message)")
            #expect(message.contains("wifiprov") && message.contains("--username"), "\(message)")
            #expect(try await maker.rainctl(command + ["--username", "workshop"]).status == 0)
        }
    }
}
