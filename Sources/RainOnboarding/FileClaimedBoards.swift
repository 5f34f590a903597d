import RainCore

/// Claimed boards in one private file, for the processes of one user. One that cannot be read holds none: what it is there for can
/// be had by a restart of the board as well.
public struct FileClaimedBoards: ClaimedBoardStore {
    private let file: RecordFile<StoredBoard>

    public init(path: String) {
        // A board matters from its claim until it is on its network.
        file = RecordFile(path: path, identity: \.node, maximumEntries: 200, whenUnreadable: .empty)
    }

    public func all() throws(RecordStoreError) -> [NodeID] { try file.all().map { NodeID($0.node) } }
    public func save(_ node: NodeID) throws(RecordStoreError) { try file.save(StoredBoard(node: node.rawValue)) }
    public func remove(_ node: NodeID) throws(RecordStoreError) { try file.remove(node.rawValue) }
}

/// A claimed board as it lies in the file. Earlier versions wrote there as well how it had been reached.
private struct StoredBoard: Codable {
    var node: String
}
