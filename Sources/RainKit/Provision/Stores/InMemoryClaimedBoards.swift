// SPDX-License-Identifier: Apache-2.0
import Synchronization
import RainCore

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
