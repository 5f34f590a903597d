import Onboarding
import TestSupport
import Testing
import Vocabulary

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

    @Test("what is kept is there for the next process, and gone once it is removed")
    func roundTrip() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("state/pending.json")
            try FilePendingMappings(path: path).save(bySecret)
            try FilePendingMappings(path: path).save(bySignature)
            #expect(try FilePendingMappings(path: path).all() == [bySecret, bySignature])
            var changed = bySecret
            changed.stage = .associated
            try FilePendingMappings(path: path).save(changed)
            #expect(try FilePendingMappings(path: path).all() == [bySignature, changed])
            try FilePendingMappings(path: path).remove(node: NodeID("node-1"))
            try FilePendingMappings(path: path).remove(node: NodeID("node-2"))
            #expect(try FilePendingMappings(path: path).all().isEmpty)
        }
    }

    @Test("what a later version wrote is passed over, and kept for it")
    func laterVersion() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("pending.json")
            try await run("install", ["-m", "600", "/dev/null", path])
            let record = #"{"node":"node-9","user":"user-1","stage":"approved","peer":"COM1","secret":"c2VjcmV0"}"#
            try folder.write("[\(record)]", to: "pending.json")
            #expect(try FilePendingMappings(path: path).all().isEmpty)
            try FilePendingMappings(path: path).save(bySecret)
            #expect(try FilePendingMappings(path: path).all() == [bySecret])
            #expect(try folder.read("pending.json").contains(#""stage":"approved""#))
        }
    }

    @Test(
        "a damaged file is an error that names it, and is left as it is", arguments: ["", "{}", "[{\"node\":1}]", "["])
    func damaged(text: String) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("pending.json")
            try await run("install", ["-m", "600", "/dev/null", path])
            try folder.write(text, to: "pending.json")
            let error = #expect(throws: RecordStoreError.self) { try FilePendingMappings(path: path).all() }
            #expect(error?.path == path)
            #expect(throws: RecordStoreError.self) { try FilePendingMappings(path: path).save(bySecret) }
            #expect(try folder.read("pending.json") == text)
        }
    }
}
