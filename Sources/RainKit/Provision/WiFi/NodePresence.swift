// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainMaker

/// Decides from what the cloud says of a node's connection whether the node has come online since it was told to join.
///
/// A cloud goes on showing a connection for minutes after the node has lost its power, so `connected` alone is no news. Only the cloud's own
/// times are compared with each other: the clock of this machine may be wrong.
struct NodePresence: Sendable {
    /// When the board was told to join, by the run's own clock. It was not on any network then: it spoke to us.
    let toldToJoin: Duration
    /// What the cloud said last.
    private var before: Node.Connectivity?

    init(toldToJoin: Duration) { self.toldToJoin = toldToJoin }

    /// - Parameter now: when the cloud said so, by the run's own clock.
    mutating func isOnline(_ said: Node.Connectivity, at now: Duration) -> Bool {
        defer { before = said }
        guard said.isConnected else { return false }
        if let since = said.since, let asOf = said.asOf {
            let toldToJoin = asOf.seconds - (now - toldToJoin) / .seconds(1)
            if since.seconds > toldToJoin { return true }
        }
        guard let before else { return false }
        guard before.isConnected else { return true }
        guard let earlier = before.since, let since = said.since else { return false }
        return since > earlier
    }
}
