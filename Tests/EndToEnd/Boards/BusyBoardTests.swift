// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Firmware that is asked to look for networks while it joins one never ends a scan again, until it restarts.
@Suite("rainctl: a board that is joining a network for the first time")
struct BusyBoardTests {
    private func applied(_ board: SimulatedBoard, _ maker: Maker) async throws {
        let child = try await maker.start(
            ["provision"] + Maker.way(to: board) + [
                "--pop-file", maker.folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                maker.folder.file("wrong"), "--no-mapping",
            ])
        _ = try await board.journal.entry(where: ["change": "credentials_received"])
        child.kill()
        _ = try await child.wait()
    }

    @Test("is not asked to scan, which is said at once, and scans once it has come to its verdict")
    func scan() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1", "--attempts", "3", "--join-delay", "3"], in: folder)
            try await applied(board, maker)
            let scan = ["device", "scan", "--json", "--pop-file", folder.file("pop")] + Maker.way(to: board)
            let refused = try await maker.rainctl(scan)
            #expect(refused.status == 75, "\(refused.standardOutput)\(refused.standardError)")
            #expect(refused.failure?["reason"] == "joining")
            #expect(refused.failure?["message"]?.string?.contains("joining a network") == true)
            #expect(try board.journal.entries(where: ["change": "scan_started"]).isEmpty)
            _ = try await board.journal.entry(where: ["change": "join_failed"])
            let found = try await maker.rainctl(scan)
            #expect(found.status == 0, "\(found.standardOutput)\(found.standardError)")
            #expect(found.document?["networks"]?.array?.first?["ssid"] == .string(SimulatedBoard.ssid))
        }
    }
}
