import Onboarding
import TestSupport
import Testing
import Vocabulary

@Suite("Claimed boards in a file")
struct FileClaimedBoardsTests {
    private let first = ClaimedBoard(node: NodeID("node-1"), peer: "192.168.4.1:80")
    private let second = ClaimedBoard(node: NodeID("node-2"), peer: "PROV_a1b2c3")

    @Test("what is remembered is there for the next process, once for each node, and gone once it is removed")
    func roundTrip() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("state/claimed.json")
            for board in [first, second, first] { try FileClaimedBoards(path: path).save(board) }
            #expect(try FileClaimedBoards(path: path).all() == [second, first])
            for node in ["node-1", "node-2", "node-3"] { try FileClaimedBoards(path: path).remove(node: NodeID(node)) }
            #expect(try FileClaimedBoards(path: path).all().isEmpty)
        }
    }

    @Test(
        "a file that cannot be read holds nothing, and the next claim replaces it", arguments: ["", "{}", "[1]", "["])
    func damaged(text: String) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("claimed.json")
            try await run("install", ["-m", "600", "/dev/null", path])
            try folder.write(text, to: "claimed.json")
            #expect(try FileClaimedBoards(path: path).all().isEmpty)
            try FileClaimedBoards(path: path).save(first)
            #expect(try FileClaimedBoards(path: path).all() == [first])
        }
    }
}
