// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

/// A node that is in the account by an earlier run, and that the cloud has not seen since.
struct UnseenNode: Sendable {
    let node: NodeID
    var presence: NodePresence

    /// - Parameter elapsed: the run's own clock, which `now` is the civil time of.
    init(_ mapping: PendingMapping, now: UnixTime, elapsed: Duration) {
        node = mapping.node
        let age = now.seconds - (mapping.since ?? now).seconds
        presence = NodePresence(toldToJoin: elapsed - .seconds(max(age, 0)))
    }
}
