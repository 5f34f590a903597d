// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// A network's name from one command's document, given to another.
@Suite("rainctl: names of networks in documents")
struct NetworkNameTests {
    @Test(
        "go back in as they came out",
        arguments: [
            #"Back\slash "quoted""#, "tab\there", "Grüße 🏠", "bidi\u{202E}name", "c1\u{9B}31m", " spaces  ", "-x",
        ])
    func roundTrip(name: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let hex = Array(name.utf8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let board = try await SimulatedBoard.start(
                [
                    "--http", "127.0.0.1:0", "--security", "1", "--join-delay", "0", "--ap",
                    #"{"ssid_hex":"\#(hex)","passphrase":"\#(SimulatedBoard.passphrase)"}"#,
                ], in: folder)
            let way = ["--json", "--pop-file", folder.file("pop")] + Maker.way(to: board)
            let scan = try await maker.rainctl(["device", "scan"] + way)
            let network = scan.document?["networks"]?.array?.first
            #expect(network?["ssid_hex"] == .string(hex), "\(scan.standardOutput)")
            let found = try #require(network?["ssid"]?.string)
            let outcome = try await maker.rainctl(
                ["provision", "--ssid=\(found)", "--passphrase-file", folder.file("wifi"), "--no-mapping"] + way)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["ssid"] == .string(name))
            #expect(outcome.document?["ssid_hex"] == .string(hex))
        }
    }
}
