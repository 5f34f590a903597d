// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl: a run that was killed")
struct KilledRunTests {
    @Test("while the board was joining is finished by the next, with the board still there", arguments: ["1", "2"])
    func whileJoining(security: String) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-killed"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", security, "--join-delay", "2"]
                    + cloud.boardOptions(node: "node-killed"), in: folder)
            let child = try await maker.start(
                ["provision"] + Maker.way(to: board) + [
                    "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    folder.file("wifi"), "--events", "ndjson",
                ])
            try await child.output(containing: #""step":"connect""#)
            child.kill()
            // The cloud still waits for the board, which refuses to apply a second time and to be reset.
            let outcome = try await maker.provision(board, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["mapping"] == "confirmed")
            #expect(outcome.document?["ssid"] == .string(SimulatedBoard.ssid))
            let states = try cloud.journal.entries(where: ["event": "mapping"]).map { $0["state"]?.string }
            #expect(!states.contains("discarded"), "\(states)")
        }
    }

    struct Firmware: CustomTestStringConvertible, Sendable {
        var options: [String]
        var testDescription: String { options.joined(separator: " ") }
    }

    @Test(
        "with a wrong password does not keep the next one from applying the right one",
        arguments: [
            Firmware(options: ["--attempts", "3", "--reset-on-failure", "--mapping", "ch-resp"]),
            Firmware(options: ["--attempts", "3", "--mapping", "user"]),
            Firmware(options: ["--attempts", "0", "--mapping", "user"]),
        ])
    func correctedPassword(firmware: Firmware) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-corrected"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1", "--join-delay", "1.4"] + firmware.options
                    + cloud.boardOptions(node: "node-corrected"), in: folder)
            let child = try await maker.start(
                ["provision"] + Maker.way(to: board) + [
                    "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    folder.file("wrong"), "--events", "ndjson",
                ])
            try await child.output(containing: #""step":"connect""#)
            child.kill()
            let outcome = try await maker.provision(board, ["--json", "--events", "ndjson"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(try board.journal.entries(where: ["change": "joined"]).count == 1)
            let events = outcome.standardError.split(separator: "\n")
            // On a busy machine the other attempt may be over before the second run comes.
            let busy = events.firstIndex { $0.contains(#""detail":"occupied""#) }
            let accepted = events.firstIndex {
                $0.contains(#""step":"join""#) && $0.contains(#""state":"finished""#)
            }
            #expect(accepted.map { busy ?? -1 < $0 } == true, "\(outcome.standardError)")
            #expect(try board.journal.entries(where: ["change": "credentials_received"]).count == 2)
        }
    }

    @Test("with another network is followed, and the board's own word on where it is is what is said")
    func otherNetwork() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(
                [
                    "--http", "127.0.0.1:0", "--security", "1", "--mapping", "none", "--join-delay", "1.4",
                    "--wifi", "Other:planted-passphrase", "--wifi", "Home:planted-passphrase",
                ], in: folder)
            let child = try await maker.start(
                ["provision", "--no-mapping"] + Maker.way(to: board) + [
                    "--pop-file", folder.file("pop"), "--ssid", "Other", "--passphrase-file", folder.file("wifi"),
                    "--events", "ndjson",
                ])
            try await child.output(containing: #""step":"connect""#)
            child.kill()
            let outcome = try await maker.provision(board, ["--no-mapping", "--json"])
            outcome.expectFailure(1, "other", says: "The board is already on the network Other")
            #expect(outcome.failure?["step"] == "join")
        }
    }
}
