// SPDX-License-Identifier: Apache-2.0
import Synchronization
import RainCore

/// Pending mappings that end with the process: for tests, and for programs that keep their own.
public final class InMemoryPendingMappings: PendingMappingStore {
    private let mappings: Mutex<[PendingMapping]>
    private let held = Mutex<Set<NodeID>>([])

    public init(_ mappings: [PendingMapping] = []) { self.mappings = Mutex(mappings) }

    public func all() -> [PendingMapping] { mappings.withLock { $0 } }

    public func save(_ mapping: PendingMapping) {
        mappings.withLock { mappings in
            mappings.removeAll { $0.node == mapping.node }
            mappings.append(mapping)
        }
    }

    public func remove(node: NodeID) {
        mappings.withLock { $0.removeAll { $0.node == node } }
    }

    public func hold(node: NodeID) -> PendingMappingHold? {
        guard held.withLock({ $0.insert(node).inserted }) else { return nil }
        return PendingMappingHold { [self] in held.withLock { _ = $0.remove(node) } }
    }
}
