// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import RainCore
import RainKit
import TestSupport
import Testing

/// Folders as esp-rainmaker-admin-cli writes them (README of espressif/esp-rainmaker-admin-cli, April 2026).
@Suite("Folders of boards that were made before")
struct PremadeFolderTests {
    private static let ids = ["BxDhUvjWQmKcNnXGtTgYPe", "FqLzr2XvSnHwA8mJdEuKp9", "node_three"]

    /// Writes a batch of three boards, and lets the test spoil it.
    private func withBatch(_ prepare: (PremadeBatch) throws -> Void, _ body: (PremadeBatch) throws -> Void) async throws
    {
        try await withTemporaryFolder { folder in
            let batch = try PremadeBatch(
                Self.ids.enumerated().map { .init(nodeID: $1, name: "PROV_00000\($0)", proof: "proof-\($0)") },
                in: folder)
            try prepare(batch)
            try body(batch)
        }
    }

    /// The message of the error that reading gives; empty without one.
    private func message(_ path: String) -> String {
        do throws(BatchFileError) {
            _ = try BatchFile(premade: path)
            return ""
        } catch {
            return error.description
        }
    }

    @Test("each board has its node id, and the content of its QR code")
    func entries() async throws {
        try await withBatch({ _ in }) { batch in
            let file = try BatchFile(premade: batch.path)
            #expect(file.form == .premade && file.entries.map(\.line) == [1, 2, 3])
            #expect(file.entries.map { $0.nodeID.map { "\($0)" } } == Self.ids)
            #expect(file.entries.map(\.name) == ["PROV_000000", "PROV_000001", "PROV_000002"])
            #expect(file.entries[1].address == .bluetooth("PROV_000001") && file.entries[1].proof == "proof-1")
        }
    }

    @Test("the private keys are not opened")
    func keys() async throws {
        try await withBatch({ _ in }) { batch in
            let opened = try batch.watchKeys()
            #expect(try BatchFile(premade: batch.path).entries.count == 3)
            #expect(opened().isEmpty)
            // The watch works.
            _ = try readFileBytes(batch.keys[1])
            #expect(opened() == [batch.keys[1]])
        }
    }

    @Test("the SHA-256 is over what was read: it changes with a proof and an index, and not with a key")
    func hash() async throws {
        try await withBatch({ _ in }) { batch in
            let before = try BatchFile(premade: batch.path).sha256
            #expect(before.utf8.count == 64)
            try batch.write("another key", to: "common/ca.key")
            #expect(try BatchFile(premade: batch.path).sha256 == before)
            try batch.write(PremadeBatch.code("PROV_000000", "other"), to: batch.code(0))
            #expect(try BatchFile(premade: batch.path).sha256 != before)
        }
    }

    @Test("boards without a proof get that of the defaults")
    func withoutProof() async throws {
        try await withBatch({ batch in try batch.write(PremadeBatch.code("PROV_000000", nil), to: batch.code(0)) }) {
            batch in
            #expect(try BatchFile(premade: batch.path).entries[0].proof == nil)
            var defaults = BatchDefaults()
            defaults.proof = "shared"
            let entries = try BatchFile(premade: batch.path, defaults: defaults).entries
            #expect(entries.map(\.proof) == ["shared", "proof-1", "proof-2"])
        }
    }

    @Test("the output folder names the batches in it")
    func outputFolder() async throws {
        try await withBatch({ _ in }) { batch in
            let error = message(batch.outputFolder)
            #expect(error.contains("2026-04-01/Mfg-000001") && error.contains("Give the folder of one batch"))
            #expect(message("\(batch.path)/common").contains("node_details is missing"))
            #expect(message("\(batch.path)/absent").contains("absent: It is missing"))
        }
    }

    /// What is wrong, and what the message must contain.
    static let faults: [(@Sendable (PremadeBatch) throws -> Void, [String])] = [
        (
            { unlink("\($0.path)/\($0.code(1))") },
            ["node_details/node-000002-FqLz", "qrcode.txt: It is missing", "option prov"]
        ),
        ({ try $0.remove(1) }, ["node-000003", "index 2 is missing", "FqLzr2XvSnHwA8mJdEuKp9 has no folder"]),
        ({ try $0.rename(1, to: "node-000004-FqLzr2XvSnHwA8mJdEuKp9") }, ["node-000003", "index 2 is missing"]),
        ({ try $0.rename(1, to: "node-000001-FqLzr2XvSnHwA8mJdEuKp9") }, ["has the same index"]),
        ({ try $0.rename(1, to: "node-000002-BxDhUvjWQmKcNnXGtTgYPe") }, ["has the same node id", "node-000001"]),
        ({ try $0.rename(1, to: "node-2nd") }, ["node-2nd", "not node-INDEX-NODE_ID"]),
        ({ try $0.write("{\"ver\":\"v1\",", to: $0.code(2)) }, ["node-000003", "qrcode.txt", "JSON"]),
        ({ try $0.write("{\"ver\":\"v1\",\"name\":7}", to: $0.code(2)) }, ["node-000003", "qrcode.txt", "name"]),
        ({ try $0.write(PremadeBatch.code("PROV_000000", "x"), to: $0.code(2)) }, ["same name as", "node-000001"]),
        (
            { try $0.write(String(repeating: "x", count: 5000), to: $0.code(0)) },
            ["qrcode.txt", "more than 1024 bytes"]
        ),
        ({ try $0.link($0.code(0), to: "/etc/passwd") }, ["qrcode.txt", "symbolic link"]),
        ({ try $0.link("common/node_ids.csv", to: "values.csv") }, ["common/node_ids.csv", "symbolic link"]),
        ({ unlink("\($0.path)/common/node_ids.csv") }, ["common/node_ids.csv", "missing"]),
        ({ try $0.write("id\nx\n", to: "common/node_ids.csv") }, ["common/node_ids.csv", "node_id"]),
        (
            { try $0.write("node_id\n\(ids[0])\n\(ids[0])\n", to: "common/node_ids.csv") },
            ["Line 3", "repeats a node id"]
        ),
        ({ try $0.write("node_id\n\(ids[0])\n", to: "common/node_ids.csv") }, ["does not list this board"]),
    ]

    @Test("a fault names the file and the cause", arguments: faults.indices)
    func fault(_ number: Int) async throws {
        let (spoil, words) = Self.faults[number]
        try await withBatch(spoil) { batch in
            let message = message(batch.path)
            for word in words { #expect(message.contains(word), "\(message)") }
            #expect(!message.contains("proof-"))
        }
    }
}
