// SPDX-License-Identifier: Apache-2.0
import RainCore
import Synchronization

/// Remembers between runs which boards have been claimed, by the node ids that they have since.
///
/// A board is not known by how it was reached: the same one answers to a name and to an address, and many answer at one. It says
/// that it wants to be claimed until it restarts, also when it has been, and its firmware must not be asked then.
///
/// Each call does its work also where its task has been cancelled, waits no longer than a bound, and does not block the thread that it is
/// made on. `ClaimedBoardStoreConformance` in RainKitTesting proves what is promised here.
public protocol ClaimedBoardStore: Sendable {
    /// The nodes in the order in which they were saved last.
    func all() async throws(RecordStoreError) -> [NodeID]
    /// Puts the node behind all others, once.
    func save(_ node: NodeID) async throws(RecordStoreError)
    /// Removes the node; one that is not there is fine.
    func remove(_ node: NodeID) async throws(RecordStoreError)
}

/// Claimed boards that are forgotten when the process ends: for tests, and for programs that keep their own.
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
