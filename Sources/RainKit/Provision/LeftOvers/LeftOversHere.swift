// SPDX-License-Identifier: Apache-2.0
import RainCore

/// What earlier runs left, as far as it may be about the board at hand.
struct LeftOversHere: Sendable {
    /// The newest that the cloud has not confirmed yet.
    private(set) var unconfirmed: LeftOver?
    /// The board at hand, where an earlier run had finished with it but for the cloud.
    private(set) var finishedNode: NodeID?

    mutating func add(unconfirmed leftOver: LeftOver) {
        if unconfirmed == nil { unconfirmed = leftOver }
    }

    /// Confirmed by its signature alone, and not seen on its network yet.
    private(set) var unseen: UnseenNode?

    mutating func add(unseen node: UnseenNode) {
        if unconfirmed == nil, finishedNode == nil { unseen = node }
    }

    /// The cloud has seen it.
    mutating func seen(_ node: NodeID) {
        unseen = nil
        add(finished: node)
    }

    /// Of several that were left here the last one decides.
    mutating func add(finished node: NodeID) {
        if unconfirmed == nil, finishedNode == nil { finishedNode = node }
    }

    mutating func takeUnconfirmed() -> LeftOver? {
        defer { unconfirmed = nil }
        return unconfirmed
    }

    /// The one that a board may be about which answers: one that says its name at once says as well whether it is that one.
    func unconfirmed(for node: NodeID?) -> LeftOver? {
        node == nil || node == unconfirmed?.mapping.node ? unconfirmed : nil
    }
}
