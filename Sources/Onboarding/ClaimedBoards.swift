import JSON
import PrivateFiles
import Synchronization
import Vocabulary

/// A board that was given its certificate.
public struct ClaimedBoard: Sendable, Equatable, Codable {
    /// What it is called since.
    public var node: String
    /// How it was reached.
    public var peer: String

    public init(node: NodeID, peer: String) {
        self.node = node.rawValue
        self.peer = peer
    }
}

/// Remembers between runs which boards have been claimed.
///
/// A board says that it wants to be claimed until it restarts, also when it has been, and its firmware must not be asked then.
public protocol ClaimedBoardStore: Sendable {
    func all() throws(PendingMappingError) -> [ClaimedBoard]
    func save(_ board: ClaimedBoard) throws(PendingMappingError)
    func remove(node: NodeID) throws(PendingMappingError)
}

/// Claimed boards that are forgotten when the process ends.
public final class InMemoryClaimedBoards: ClaimedBoardStore {
    private let boards = Mutex<[ClaimedBoard]>([])

    public init() {}

    public func all() -> [ClaimedBoard] { boards.withLock { $0 } }
    public func save(_ board: ClaimedBoard) {
        boards.withLock { boards in
            boards.removeAll { $0.node == board.node }
            boards.append(board)
        }
    }
    public func remove(node: NodeID) { boards.withLock { $0.removeAll { $0.node == node.rawValue } } }
}

/// Claimed boards in one private file, for the processes of one user. One that cannot be read holds none: what it is there for can
/// be had by a restart of the board as well.
public struct FileClaimedBoards: ClaimedBoardStore {
    private let file: PrivateFile

    public init(path: String) { file = PrivateFile(path: path) }

    /// A board matters from its claim until it is on its network.
    private static let maximumEntries = 200

    public func all() throws(PendingMappingError) -> [ClaimedBoard] {
        do { return decoded(try file.read()) } catch { throw failure(error) }
    }

    public func save(_ board: ClaimedBoard) throws(PendingMappingError) {
        try change { boards in
            boards.removeAll { $0.node == board.node }
            boards.append(board)
            boards = boards.suffix(Self.maximumEntries)
        }
    }

    public func remove(node: NodeID) throws(PendingMappingError) {
        guard try all().contains(where: { $0.node == node.rawValue }) else { return }
        try change { boards in boards.removeAll { $0.node == node.rawValue } }
    }

    private func change(_ body: (inout [ClaimedBoard]) -> Void) throws(PendingMappingError) {
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

    private func decoded(_ bytes: [UInt8]?) -> [ClaimedBoard] {
        bytes.flatMap { try? JSONCoder.decode([ClaimedBoard].self, from: $0) } ?? []
    }

    private func failure(_ error: any Error) -> PendingMappingError {
        PendingMappingError(path: file.path, message: "\(error)")
    }
}
