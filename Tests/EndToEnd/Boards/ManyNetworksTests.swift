// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl: a board that keeps more networks than most")
struct ManyNetworksTests {
    @Test("shows all that it has, and no more are asked for", arguments: [(16, 16), (64, 64), (255, 80)])
    func all(kept: Int, expected: Int) async throws {
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
            let names = outcome.document?["networks"]?.array?.compactMap { $0["ssid"]?.string }
            #expect(names == (0..<expected).map { "net-\($0)" })
            #expect(try board.journal.entries(where: ["event": "request", "outcome": "refused"]).isEmpty)
        }
    }
}
