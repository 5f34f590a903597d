// SPDX-License-Identifier: Apache-2.0
import RainCore

/// What a board is asked, so that the cloud will believe it belongs to a user.
public enum AssociationRequest: Sendable {
    /// Remember this user and secret, and report them to the cloud once online (`cloud_user_assoc`).
    case userMapping(UserID, MappingSecret)
    /// Sign these bytes with the node's own key (`ch_resp`).
    case challenge([UInt8])
}

/// The board's answer.
public struct AssociationReply: Sendable, Equatable {
    /// The node id under which the cloud knows the board. A board gets it when it is claimed.
    public var nodeID: NodeID
    /// The signature over the challenge: ECDSA P-256 in DER, or RSA-PSS. Empty for a user mapping.
    public var signature: [UInt8]

    public init(nodeID: NodeID, signature: [UInt8] = []) {
        self.nodeID = nodeID
        self.signature = signature
    }
}
