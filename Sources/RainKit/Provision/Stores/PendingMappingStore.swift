// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Keeps pending mappings between runs, one for each node.
///
/// A run calls its store also after it was cancelled, to put right what it leaves: each call then does its work as well. No call waits
/// without a bound, and none blocks the thread that it is made on. `PendingMappingStoreConformance` in RainKitTesting proves what is
/// promised here.
public protocol PendingMappingStore: Sendable {
    /// The mappings in the order in which they were saved last.
    func all() async throws(RecordStoreError) -> [PendingMapping]
    /// Puts the mapping behind all others, in place of the one of the same node. When this returns, it survives the process, where the
    /// store does.
    func save(_ mapping: PendingMapping) async throws(RecordStoreError)
    /// Removes the node's mapping; one that is not there is fine.
    func remove(node: NodeID) async throws(RecordStoreError)
    /// Takes a node's mapping for one run, which is at work on it until it releases the value, or its process ends: of all that share the
    /// store, in other processes too, no other run may finish it meanwhile. It need not be in the store yet.
    /// - Returns: nil, without waiting, while another run has it.
    func hold(node: NodeID) async throws(RecordStoreError) -> PendingMappingHold?
}

extension PendingMappingStore {
    /// Removes what was left for that user, except what another run is at work on.
    /// - Returns: the nodes whose mappings were removed.
    package func forgetAll(of user: UserID) async throws(RecordStoreError) -> [NodeID] {
        var nodes: [NodeID] = []
        for mapping in try await all() where mapping.user == user {
            guard let hold = try await hold(node: mapping.node) else { continue }
            defer { withExtendedLifetime(hold) {} }
            // Another run may have finished it in the meantime.
            guard try await all().contains(where: { $0.node == mapping.node && $0.user == user }) else { continue }
            try await remove(node: mapping.node)
            nodes.append(mapping.node)
        }
        return nodes
    }
}
