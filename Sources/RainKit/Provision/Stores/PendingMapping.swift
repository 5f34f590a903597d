// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainMaker
import RainCore

/// What a later run needs to finish a mapping that this one could not.
public struct PendingMapping: Sendable, Equatable {
    /// What shows the cloud that the board was in the user's hands.
    public enum Proof: Sendable, Equatable {
        /// The user's half of a mapping by secret, and the cloud's request once the PUT went through.
        case secret(MappingSecret, request: RequestID?)
        /// A signature that the cloud has not seen yet.
        case signature([UInt8], request: RequestID)
    }

    /// How far the board itself had come when the run ended.
    public enum Stage: String, Sendable {
        /// The board knows; it has no Wi-Fi credentials of this run, or failed with them.
        case associated
        /// The board accepted Wi-Fi credentials. It may be online by now.
        case applied
        /// The board was seen on its network.
        case online
    }

    /// The board's node id; there is one pending mapping for each.
    public var node: NodeID
    /// Whose the node will be: only a run of this user finishes it.
    public var user: UserID
    /// What the cloud is still to be told, or has been told already.
    public var proof: Proof
    /// Decides whether a later run has to talk to the board again.
    public var stage: Stage
    /// How the board was reached.
    public var peer: String
    /// What its label calls it, where that was known; see ``OnboardingRequest/label``.
    public var label: String?
    /// What the user wants remembered with this very node.
    public var notes: MappingNotes
    /// When the board was told; nil in what earlier versions kept.
    public var since: UnixTime?

    public init(
        node: NodeID, user: UserID, proof: Proof, stage: Stage, peer: String, label: String? = nil,
        notes: MappingNotes = MappingNotes(), since: UnixTime? = nil
    ) {
        self.node = node
        self.user = user
        self.proof = proof
        self.stage = stage
        self.peer = peer
        self.label = label
        self.notes = notes
        self.since = since
    }

    /// Whether it is about the same secret or signature of the same node, however far each has come.
    func isSameAssociation(as other: PendingMapping) -> Bool {
        guard node == other.node, user == other.user else { return false }
        switch (proof, other.proof) {
        case (.secret(let one, _), .secret(let another, _)): return one == another
        case (.signature(let one, _), .signature(let another, _)): return one == another
        default: return false
        }
    }
}
