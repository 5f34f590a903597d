// SPDX-License-Identifier: Apache-2.0
import RainCore

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
