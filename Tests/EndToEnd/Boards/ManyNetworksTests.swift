// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl: a board that keeps more networks than most")
struct ManyNetworksTests {
    @Test("shows all that it has, asks for no more, and says where the list is full", arguments: [16, 64, 255])
    func all(kept: Int) async throws {
        try await withTemporaryFolder { folder in
            let networks = (0..<80).flatMap { index in
                ["--ap", #"{"ssid":"net-\#(index)","channel":\#(index % 13 + 1),"rssi":\#(-20 - index)}"#]
            }
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1", "--channel-delay", "0", "--scan-entries", "\(kept)"]
                    + networks, in: folder)
            let outcome = try await Maker(folder).rainctl(
                ["device", "scan", "--json", "--pop-file", folder.file("pop")] + Maker.way(to: board))
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            let strengths = outcome.document?["networks"]?.array?.compactMap { $0["rssi"]?.integer } ?? []
            #expect(strengths.count == min(kept, 80) && strengths == strengths.sorted(by: >))
            let isFull = outcome.document?["warnings"]?.array?.contains { $0["reason"] == "scan_full" } ?? false
            #expect(isFull == (kept == 16), "\(outcome.standardOutput)")
            #expect(try board.journal.entries(where: ["event": "request", "outcome": "refused"]).isEmpty)
        }
    }
}
