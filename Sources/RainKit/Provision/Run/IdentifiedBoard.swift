// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore

/// A board that has answered.
struct IdentifiedBoard: Sendable {
    var identity: BoardIdentity
    /// What an earlier run left, where it may be of this very board.
    var leftOver: LeftOver?
    /// What the board has been called since this run claimed it.
    var claimedNode: NodeID?
}
