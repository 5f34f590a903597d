// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

/// The cloud's side of tying a node to the signed-in user: what an onboarding needs of the cloud, and nothing else.
///
/// Every call throws ``AccountError``; one that could not reach the cloud may simply be made again.
public protocol NodeMapping: Sendable {
    /// Whether a mapping by secret that is confirmed shows that the node has reported the secret, which it can on its network only. True
    /// by default; false for a cloud that takes the user's word.
    var confirmsReports: Bool { get }

    /// Signs in to the cloud, where it has a session of its own beside the identity provider's. Does nothing by default.
    func beginSession() async throws(AccountError)

    /// Ends that session when nothing more is asked. Does nothing by default, and where none was begun.
    func endSession() async throws(AccountError)

    /// The user's half of a mapping by secret. The cloud confirms it once the node has reported the same secret.
    func addMapping(node: NodeID, secret: MappingSecret, notes: MappingNotes) async throws(AccountError) -> RequestID

    /// How far a request for a mapping has come. Ask again while it is `requested` or a word that is not known.
    /// - Parameter request: what ``addMapping(node:secret:notes:)`` returned.
    func mappingStatus(_ request: RequestID) async throws(AccountError) -> MappingStatus

    /// A challenge for a node to sign, good for `lifetime`.
    func initiateChallenge(lifetime: Duration) async throws(AccountError) -> MappingChallenge

    /// Hands in a node's signature over a challenge. On return the mapping is final.
    func verifyChallenge(
        _ request: RequestID, node: NodeID, signature: [UInt8], notes: MappingNotes
    ) async throws(AccountError)

    /// Whether the cloud has a connection to a node of the user's, and since when: the only word on a board that no longer answers and
    /// whose mapping the cloud confirms without it. Nil where the cloud has no such knowledge, as by default.
    func connectivity(of node: NodeID) async throws(AccountError) -> Node.Connectivity?

    /// The MQTT broker that nodes of this cloud connect to: `host`, or `host:port`. Nil where the cloud does not say, as by default.
    func brokerHost() async throws(AccountError) -> String?
}

extension NodeMapping {
    public var confirmsReports: Bool { true }
    public func beginSession() async throws(AccountError) {}
    public func endSession() async throws(AccountError) {}
    public func connectivity(of node: NodeID) async throws(AccountError) -> Node.Connectivity? { nil }
    public func brokerHost() async throws(AccountError) -> String? { nil }
}

/// How far a mapping request has come.
public enum MappingStatus: Sendable, Hashable {
    /// `requested`: not decided yet. `confirmed`: the node is the user's. `timedOut`: the node did not report in time, so the request
    /// is void. `discarded`: the node reported another user or secret.
    case requested, confirmed, timedOut, discarded
    /// A word this version does not know.
    case other(String)
}

/// A challenge and the request it belongs to.
public struct MappingChallenge: Sendable {
    /// What ``NodeMapping/verifyChallenge(_:node:signature:notes:)`` is given with the signature.
    public var request: RequestID
    /// What the node signs: the UTF-8 bytes of the cloud's text.
    public var challenge: [UInt8]

    public init(request: RequestID, challenge: [UInt8]) {
        self.request = request
        self.challenge = challenge
    }
}

/// What the user wants remembered with a node.
public struct MappingNotes: Sendable, Equatable {
    /// `key:value` each.
    public var tags: [String]
    /// One JSON object as text, or nil.
    public var metadata: String?

    public init(tags: [String] = [], metadata: String? = nil) {
        self.tags = tags
        self.metadata = metadata
    }
}
