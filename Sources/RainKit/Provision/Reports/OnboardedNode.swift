// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore

/// A board that is set up, as far as the request asked.
public struct OnboardedNode: Sendable, Equatable {
    /// Whether the node is in the user's account.
    public enum Mapping: String, Sendable {
        /// The cloud has confirmed that the node is the user's.
        case confirmed
        /// It was not asked for.
        case skipped
    }

    /// Absent when the board was not tied to an account and did not say its id.
    public var nodeID: NodeID?
    /// The network it is on by its own word; nil where its Wi-Fi was left alone, and where only the cloud saw it there.
    public var network: JoinedNetwork?
    /// What became of the request to put it into the account.
    public var mapping: Mapping
    /// Whether this run gave the board its certificate.
    public var claimed: Bool
    /// Whether this run only finished at the cloud what an earlier one had begun.
    public var resumed: Bool
    /// What the board said of itself; nil where it was not asked, as after a run that only finished an earlier one.
    public var identity: BoardIdentity?
    /// What the board's application has answered to what it was sent, by endpoint.
    public var customData: [CustomData]
    /// The time the run took.
    public var elapsed: Duration

    public init(
        nodeID: NodeID?, network: JoinedNetwork?, mapping: Mapping, claimed: Bool = false, resumed: Bool = false,
        identity: BoardIdentity? = nil, customData: [CustomData] = [], elapsed: Duration
    ) {
        self.nodeID = nodeID
        self.network = network
        self.mapping = mapping
        self.claimed = claimed
        self.resumed = resumed
        self.identity = identity
        self.customData = customData
        self.elapsed = elapsed
    }
}
