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
}
