// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit
import TestSupport
import Testing

@Suite("Claimed boards in a file")
struct FileClaimedBoardsTests {
    private let first = NodeID("node-1")
    private let second = NodeID("node-2")

    @Test("a saved board is there for the next process, once for each node, and absent after its removal")
    func roundTrip() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("state/claimed.json")
            for board in [first, second, first] { try await FileClaimedBoards(path: path).save(board) }
            #expect(try await FileClaimedBoards(path: path).all() == [second, first])
            for node in [first, second, NodeID("node-3")] { try await FileClaimedBoards(path: path).remove(node) }
            #expect(try await FileClaimedBoards(path: path).all().isEmpty)
        }
    }
}
