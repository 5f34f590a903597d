// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl batch with boards that were made before", .serialized)
struct BatchPremadeTests {
    @Test("the folder of esp-rainmaker-admin-cli is a batch of claimed boards; no private key is opened or recorded")
    func folder() async throws {
        try await withTemporaryFolder { folder in
            let shop = try await Workshop.open(3, folder)
            let batch = try PremadeBatch(
                shop.radio.boards.map { .init(nodeID: $0.nodeID, name: $0.name, proof: $0.proofOfPossession) },
                in: folder)
            let opened = try batch.watchKeys()
            let outer = try await shop.run(["run", batch.outputFolder] + shop.common)
            #expect(outer.status == 65 && outer.document["error"]?["reason"]?.string == "bad_batch_file")
            #expect(outer.document["error"]?["message"]?.string?.contains("2026-04-01/Mfg-000001") == true)
            let first = try await shop.run(["run", batch.path] + shop.common)
            #expect(first.status == 0 && first.document["done"]?.integer == 3, "\(first.error)")
            #expect(Set(try shop.confirmed()) == Set(shop.radio.boards.map(\.nodeID)))
            let again = try await shop.run(["resume"] + shop.common)
            #expect(again.status == 0, "\(again.error)")
            try batch.write(PremadeBatch.code(shop.radio.boards[0].name, "changed"), to: batch.code(0))
            let changed = try await shop.run(["resume"] + shop.common)
            #expect(changed.document["error"]?["reason"]?.string == "changed_batch_file")
            #expect(opened().isEmpty)
            for name in ["ledger.sqlite", "ledger.sqlite-wal", "batch-records.sqlite"] {
                guard let text = try? readFileBytes(folder.file("state/rainkit/\(name)")) else { continue }
                for secret in [PremadeBatch.secret, SimulatedBoard.proofOfPossession] {
                    #expect(!text.contains(Array(secret.utf8)), "\(name) has a secret")
                }
            }
            try await shop.close()
        }
    }

    @Test("a board that answers with another node id fails, and gets no network")
    func otherNode() async throws {
        try await withTemporaryFolder { folder in
            let shop = try await Workshop.open(2, folder)
            let boards = shop.radio.boards
            let batch = try PremadeBatch(
                [
                    .init(nodeID: boards[0].nodeID, name: boards[0].name, proof: boards[0].proofOfPossession),
                    .init(nodeID: "another-node", name: boards[1].name, proof: boards[1].proofOfPossession),
                ], in: folder)
            let outcome = try await shop.run(["run", batch.path] + shop.common)
            #expect(outcome.status == 20 && outcome.document["done"]?.integer == 1, "\(outcome.error)")
            let failed = outcome.document["boards"]?.array?.first
            #expect(
                failed?["line"]?.integer == 2 && failed?["reason"]?.string == "unexpected_node", "\(outcome.document)")
            #expect(try shop.confirmed() == [boards[0].nodeID])
            try await shop.close()
        }
    }
}
