// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainKit
import RainMaker
import TestSupport
import Testing

@Suite("Pending mappings in a file")
struct FilePendingMappingsTests {
    private let bySecret = PendingMapping(
        node: NodeID("node-1"), user: UserID("user-1"),
        proof: .secret(MappingSecret(randomBytes: [UInt8](0..<16)), request: RequestID("request-1")), stage: .online,
        peer: "/dev/ttyUSB0")
    private let bySignature = PendingMapping(
        node: NodeID("node-2"), user: UserID("user-1"),
        proof: .signature([0, 255, 7], request: RequestID("request-2")),
        stage: .applied, peer: "192.168.4.1:80")

    @Test("a saved mapping is there for the next process, and absent after its removal")
    func roundTrip() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("state/pending.json")
            try await FilePendingMappings(path: path).save(bySecret)
            try await FilePendingMappings(path: path).save(bySignature)
            #expect(try await FilePendingMappings(path: path).all() == [bySecret, bySignature])
            var changed = bySecret
            changed.stage = .associated
            try await FilePendingMappings(path: path).save(changed)
            #expect(try await FilePendingMappings(path: path).all() == [bySignature, changed])
            try await FilePendingMappings(path: path).remove(node: NodeID("node-1"))
            try await FilePendingMappings(path: path).remove(node: NodeID("node-2"))
            #expect(try await FilePendingMappings(path: path).all().isEmpty)
        }
    }

    @Test("notes, label and date are saved with it")
    func notes() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("pending.json")
            var mapping = bySignature
            mapping.label = "PROV_a1b2c3"
            mapping.notes = MappingNotes(tags: ["room:kitchen", "a:b"], metadata: #"{"x":[1]}"#)
            mapping.since = UnixTime(seconds: 1_800_000_000.25)
            try await FilePendingMappings(path: path).save(mapping)
            #expect(try await FilePendingMappings(path: path).all() == [mapping])
        }
    }
}
