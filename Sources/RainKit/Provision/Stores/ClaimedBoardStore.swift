// SPDX-License-Identifier: Apache-2.0
import RainCore
import Synchronization

/// Remembers between runs which boards have been claimed, by the node ids that the claim gave them.
///
/// An address does not identify a board: one board answers to a name and to an address, and many boards answer at one address. A claimed
/// board still asks to be claimed until it restarts, and its firmware must not be claimed again then.
///
/// Each call does its work even if its task has been cancelled. It waits no longer than a bound, and does not block the calling thread.
/// `ClaimedBoardStoreConformance` in RainKitTesting checks these promises.
public protocol ClaimedBoardStore: Sendable {
    /// Returns the nodes in the order in which they were last saved.
    func all() async throws(RecordStoreError) -> [NodeID]
    /// Adds the node at the end, or moves it there.
    func save(_ node: NodeID) async throws(RecordStoreError)
    /// Removes the node. A node that is not in the store is not an error.
    func remove(_ node: NodeID) async throws(RecordStoreError)
}

/// Keeps claimed boards in memory until the process ends: for tests, and for programs with their own storage.
public final class InMemoryClaimedBoards: ClaimedBoardStore {
    private let nodes = Mutex<[NodeID]>([])

    public init() {}

    public func all() -> [NodeID] { nodes.withLock { $0 } }

    public func save(_ node: NodeID) {
        nodes.withLock { nodes in
            nodes.removeAll { $0 == node }
            nodes.append(node)
        }
    }

    public func remove(_ node: NodeID) { nodes.withLock { $0.removeAll { $0 == node } } }
}

/// Keeps claimed boards in one private file, for the processes of one user. A file that cannot be read counts as empty, since a restart of
/// the board has the same effect as the record.
///
/// The file is read and written on a thread of the store's own. A call waits for those before it, and for at most five seconds while
/// another process has the file.
public struct FileClaimedBoards: ClaimedBoardStore {
    private let file: RecordFile<StoredBoard>

    /// - Parameter path: the JSON file. The store creates it and its folder when it first saves a board.
    public init(path: String) { self.init(path: path) {} }

    /// - Parameter beforeAccess: called on the thread that reads and writes the file, before each call's work.
    package init(path: String, beforeAccess: @escaping @Sendable () -> Void) {
        // A record matters only from the board's claim until the board is on its network.
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

/// A claimed board as it is stored in the file. Earlier versions also stored how the board had been reached.
private struct StoredBoard: Codable {
    var node: String
}
