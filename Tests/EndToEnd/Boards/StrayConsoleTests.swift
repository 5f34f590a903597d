// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Boards on RainMaker's console, whose log says why they do not come to the user's cloud.
@Suite("rainctl: boards of another cloud, and unclaimed ones on a console")
struct StrayConsoleTests {
    private func consoleOptions(_ folder: TemporaryFolder) -> [String] {
        BoardLine.rainmaker.options(in: folder) + [
            "--security", "1", "--mapping", "user", "--join-delay", "0.4", "--console-noise", "none",
        ]
    }

    @Test("a board that connects to another cloud's broker: 13, as soon as it reports that")
    func otherCloud() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let other = try await SimulatedCloud.start(nodes: ["node-elsewhere"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                consoleOptions(folder) + other.boardOptions(node: "node-elsewhere"), in: folder)
            let outcome = try await maker.provision(board, ["--json"])
            outcome.expectFailure(13, "mapping_failed", says: "belongs to a deployment other than sim")
            #expect(outcome.failure?["reason"] == "not_reported")
            #expect(outcome.failure?["message"]?.string?.contains(other.mqtt) == true, "\(outcome.standardOutput)")
            #expect(SecretHunt.mode(of: folder.file("state/rainkit/pending-sim.json")) == nil)
        }
    }

    @Test("an unclaimed board is reported once it is on Wi-Fi: 17, with the remedy")
    func unclaimed() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud, claims: true)
            let board = try await SimulatedBoard.start(
                consoleOptions(folder) + cloud.unclaimedBoardOptions, in: folder)

            let info = try await maker.rainctl(["device", "info"] + Maker.way(to: board) + ["--json"])
            #expect(info.document?["needs_claim"] == .null, "\(info.standardOutput)")
            let claim = try await maker.rainctl(["device", "claim"] + Maker.way(to: board) + ["--json"])
            claim.expectFailure(17, "claim_needed", says: "does not show whether the board has been claimed")
            #expect(claim.failure?["reason"] == "claim_unknown")

            let outcome = try await maker.provision(board, ["--json"])
            outcome.expectFailure(17, "claim_needed", says: "it was never claimed")
            #expect(outcome.failure?["reason"] == "unclaimed")
            #expect(outcome.failure?["message"]?.string?.contains("--transport ble or softap") == true)
        }
    }

    @Test("a claimed one is not bothered")
    func claimed() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-claimed", "7CDFA100033B"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud, claims: true)
            let board = try await SimulatedBoard.start(
                consoleOptions(folder) + cloud.boardOptions(node: "7CDFA100033B"), in: folder)
            let outcome = try await maker.provision(board, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)")
            board.process.kill()

            let named = try await SimulatedBoard.start(
                consoleOptions(folder) + cloud.boardOptions(node: "node-claimed"), in: folder)
            let info = try await maker.rainctl(["device", "info"] + Maker.way(to: named) + ["--json"])
            #expect(info.document?["needs_claim"] == false, "\(info.standardOutput)")
            let claim = try await maker.rainctl(["device", "claim"] + Maker.way(to: named) + ["--json"])
            #expect(claim.document?["claimed"] == false, "\(claim.standardOutput)")
        }
    }
}
