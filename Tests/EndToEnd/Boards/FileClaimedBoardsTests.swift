// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit
import TestSupport
import Testing

@Suite("Claimed boards in a file")
struct FileClaimedBoardsTests {
    private let first = NodeID("node-1")
    private let second = NodeID("node-2")

    @Test("what an earlier version wrote is read, and can be added to and removed from")
    func earlierVersion() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("claimed.json")
            try await run("install", ["-m", "600", "/dev/null", path])
            // It also held the way to each board, by which a board is not known any longer.
            try folder.write(
                #"[{"node":"node-1","peer":"192.168.4.1:80"},{"node":"node-2","peer":"PROV_a1b2c3"}]"#,
                to: "claimed.json")
            let store = FileClaimedBoards(path: path)
            #expect(try await store.all() == [first, second])
            try await store.save(first)
            #expect(try await store.all() == [second, first])
            try await store.remove(second)
            #expect(try await store.all() == [first])
            try await store.remove(first)
            #expect(try await store.all().isEmpty)
        }
    }

    @Test(
        "a file that cannot be read holds nothing, and the next claim replaces it", arguments: ["", "{}", "[1]", "["])
    func damaged(text: String) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("claimed.json")
            try await run("install", ["-m", "600", "/dev/null", path])
            try folder.write(text, to: "claimed.json")
            #expect(try await FileClaimedBoards(path: path).all().isEmpty)
            try await FileClaimedBoards(path: path).save(first)
            #expect(try await FileClaimedBoards(path: path).all() == [first])
        }
    }
}
