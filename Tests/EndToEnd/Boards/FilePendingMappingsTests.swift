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

    @Test("what one run has, no other has, in other processes neither; names do not matter to each other")
    func holds() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("state/pending.json")
            let (one, other) = (FilePendingMappings(path: path), FilePendingMappings(path: path))
            var hold = try await one.hold(node: NodeID("node-1"))
            #expect(hold != nil)
            #expect(try await other.hold(node: NodeID("node-1")) == nil)
            #expect(try await one.hold(node: NodeID("node-1")) == nil)
            #expect(try await other.hold(node: NodeID("node-2")) != nil)
            // By another program's locks: of one byte, where FNV-1a of the name says.
            let asked = try await run(
                "python3", ["-c", Self.question, folder.file("state/.pending.json.holds"), "node-1", "node-2"])
            #expect(asked.standardOutput == "held\nfree\n", "\(asked.standardError)")
            hold = nil
            #expect(try await other.hold(node: NodeID("node-1")) != nil)
        }
    }

    private static let question = """
        import fcntl, sys
        for name in sys.argv[2:]:
            hash = 0xCBF29CE484222325
            for byte in name.encode():
                hash = ((hash ^ byte) * 0x100000001B3) & ((1 << 64) - 1)
            with open(sys.argv[1], "rb+") as file:
                try:
                    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, hash >> 2)
                    print("free")
                except BlockingIOError:
                    print("held")
        """

    @Test("a thousand signatures have room, and those of earlier versions are read")
    func signatures() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("pending.json")
            try await run("install", ["-m", "600", "/dev/null", path])
            let earlier = (0..<999).map { number in
                #"{"node":"n\#(number)","user":"user-1","stage":"applied","peer":"p","signature":[0,255],"request":"r"}"#
            }
            try folder.write("[\(earlier.joined(separator: ","))]", to: "pending.json")
            var mapping = bySignature
            mapping.proof = .signature([UInt8](repeating: 0xA5, count: 512), request: RequestID("request-2"))
            try await FilePendingMappings(path: path).save(mapping)
            let all = try await FilePendingMappings(path: path).all()
            #expect(all.count == 1000 && all.last == mapping)
            #expect(all.first?.proof == .signature([0, 255], request: RequestID("r")))
            let text = try folder.read("pending.json")
            #expect(text.contains(#""signature":"00ff""#) && text.contains(String(repeating: "a5", count: 512)))
        }
    }

    @Test("what a later version wrote is passed over, and kept for it")
    func laterVersion() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("pending.json")
            try await run("install", ["-m", "600", "/dev/null", path])
            let record = #"{"node":"node-9","user":"user-1","stage":"approved","peer":"COM1","secret":"c2VjcmV0"}"#
            try folder.write("[\(record)]", to: "pending.json")
            #expect(try await FilePendingMappings(path: path).all().isEmpty)
            try await FilePendingMappings(path: path).save(bySecret)
            #expect(try await FilePendingMappings(path: path).all() == [bySecret])
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
            let error = await #expect(throws: RecordStoreError.self) { try await FilePendingMappings(path: path).all() }
            #expect(error?.path == path)
            await #expect(throws: RecordStoreError.self) { try await FilePendingMappings(path: path).save(bySecret) }
            #expect(try folder.read("pending.json") == text)
        }
    }
}
