// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl provision: firmware of every version")
struct ProvisioningFirmwareVersionTests {
    @Test(
        "a board of each version is put on Wi-Fi, and into the account if its firmware supports that",
        arguments: [
            "rainmaker-1.14", "rainmaker-1.8.5", "rainmaker-1.0", "idf-6.0", "idf-5.5", "idf-5.1", "idf-5.0", "idf-4.4",
        ])
    func provisioned(preset: String) async throws {
        try await withTemporaryFolder { folder in
            let node = "node-of-a-version"
            let cloud = try await SimulatedCloud.start(nodes: [node], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--preset", preset] + cloud.boardOptions(node: node), in: folder)
            let more = preset.hasPrefix("idf") ? ["--no-mapping"] : []
            let outcome = try await maker.provision(board, ["--json"] + more)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(try board.journal.entries(where: ["change": "joined"]).count == 1)
            #expect(
                outcome.document?["mapping"]?.string == (more.isEmpty ? "confirmed" : "skipped"),
                "\(outcome.standardOutput)")
        }
    }
}
