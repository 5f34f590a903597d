import RainCore

/// Remembers between runs which boards have been claimed, by the node ids that they have since.
///
/// A board is not known by how it was reached: the same one answers to a name and to an address, and many answer at one. It says
/// that it wants to be claimed until it restarts, also when it has been, and its firmware must not be asked then.
public protocol ClaimedBoardStore: Sendable {
    func all() throws(RecordStoreError) -> [NodeID]
    func save(_ node: NodeID) throws(RecordStoreError)
    func remove(_ node: NodeID) throws(RecordStoreError)
}
