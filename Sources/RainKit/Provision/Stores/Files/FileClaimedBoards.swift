// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Claimed boards in one private file, for the processes of one user. One that cannot be read holds none: what it is there for can
/// be had by a restart of the board as well.
///
/// The file is read and written on a thread of the store's own. A call waits for those before it, and for at most five seconds while another
/// process has the file.
public struct FileClaimedBoards: ClaimedBoardStore {
    private let file: RecordFile<StoredBoard>

    /// - Parameter path: the JSON file; it and its folder are made when a board is first kept.
    public init(path: String) { self.init(path: path) {} }

    /// - Parameter beforeAccess: called on the thread that reads and writes the file, before each call's work.
    package init(path: String, beforeAccess: @escaping @Sendable () -> Void) {
        // A board matters from its claim until it is on its network.
        file = RecordFile(
            RecordFileContent(path: path, identity: \.node, maximumEntries: 200, whenUnreadable: .empty),
            beforeAccess: beforeAccess)
    }

    public func all() async throws(RecordStoreError) -> [NodeID] { try await file.all().map { NodeID($0.node) } }
    public func save(_ node: NodeID) async throws(RecordStoreError) {
        try await file.save(StoredBoard(node: node.rawValue))
    }
    public func remove(_ node: NodeID) async throws(RecordStoreError) { try await file.remove(node.rawValue) }
}

/// A claimed board as it lies in the file. Earlier versions wrote there as well how it had been reached.
private struct StoredBoard: Codable {
    var node: String
}
