import JSON
import PrivateFiles
import Synchronization
import Vocabulary

/// Remembers between runs which boards have been claimed, by the node ids that they have since.
///
/// A board is not known by how it was reached: the same one answers to a name and to an address, and many answer at one. It says that it wants to be claimed until it restarts, also when it has been, and its firmware must not be asked then.
public protocol ClaimedBoardStore: Sendable {
    func all() throws(PendingMappingError) -> [NodeID]
    func save(_ node: NodeID) throws(PendingMappingError)
    func remove(_ node: NodeID) throws(PendingMappingError)
}

/// Claimed boards that are forgotten when the process ends.
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
public struct FileClaimedBoards: ClaimedBoardStore {
    private let file: PrivateFile

    public init(path: String) { file = PrivateFile(path: path) }

    /// A board matters from its claim until it is on its network.
    private static let maximumEntries = 200

    public func all() throws(PendingMappingError) -> [NodeID] {
        do { return decoded(try file.read()).map(\.id) } catch { throw failure(error) }
    }

    public func save(_ node: NodeID) throws(PendingMappingError) {
        try change { boards in
            boards.removeAll { $0.id == node }
            boards.append(StoredBoard(node: node.rawValue))
            boards = boards.suffix(Self.maximumEntries)
        }
    }

    public func remove(_ node: NodeID) throws(PendingMappingError) {
        guard try all().contains(node) else { return }
        try change { boards in boards.removeAll { $0.id == node } }
    }

    private func change(_ body: (inout [StoredBoard]) -> Void) throws(PendingMappingError) {
        do {
            try file.update { bytes in
                var boards = decoded(bytes)
                body(&boards)
                return (boards.isEmpty ? nil : try JSONCoder.encode(boards), ())
            }
        } catch {
            throw failure(error)
        }
    }

    private func decoded(_ bytes: [UInt8]?) -> [StoredBoard] {
        bytes.flatMap { try? JSONCoder.decode([StoredBoard].self, from: $0) } ?? []
    }

    private func failure(_ error: any Error) -> PendingMappingError {
        PendingMappingError(path: file.path, message: "\(error)")
    }
}

/// A claimed board as it lies in the file. Earlier versions wrote there as well how it had been reached.
private struct StoredBoard: Codable {
    var node: String

    var id: NodeID { NodeID(node) }
}
