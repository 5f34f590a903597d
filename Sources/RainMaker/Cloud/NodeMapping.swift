// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

/// The cloud calls that onboarding needs to map a node to the signed-in user.
///
/// Every call throws `AccountError`. A call that could not reach the cloud may be repeated.
public protocol NodeMapping: Sendable {
    /// Whether a confirmed mapping by secret proves that the node reported the secret, which it can do only while it is online. True by
    /// default; false for a cloud that confirms the user's request without asking the node.
    var confirmsReports: Bool { get }

    /// Whether boards can be mapped by a secret that they report. True by default; false for a cloud that only takes signatures.
    var acceptsSecrets: Bool { get }

    /// Whether a challenge is only good for one answer, and a board gets its Wi-Fi settings only after the cloud has accepted the answer. If
    /// no reply to the answer arrives, the board signs another challenge. False by default.
    var challengesTakeOneAnswer: Bool { get }

    /// How long a run waits until the cloud sees a board online after it has joined its network. Nil (the default) if a run does not wait for
    /// that.
    var presenceLimit: Duration? { get }

    /// Signs in to the cloud, if the cloud has a session of its own beside the identity provider's. Does nothing by default.
    func beginSession() async throws(AccountError)

    /// Ends the session of ``beginSession()``. Call it after the last request. Does nothing by default, or if no session was begun.
    func endSession() async throws(AccountError)

    /// Sends the user's half of a mapping by secret. The cloud confirms the mapping when the node has reported the same secret.
    func addMapping(node: NodeID, secret: MappingSecret, notes: MappingNotes) async throws(AccountError) -> RequestID

    /// Returns the state of a mapping request. Ask again while it is `requested` or unknown.
    /// - Parameter request: the id that ``addMapping(node:secret:notes:)`` returned.
    func mappingStatus(_ request: RequestID) async throws(AccountError) -> MappingStatus

    /// Returns a challenge for a node to sign. It is valid for `lifetime`.
    func initiateChallenge(lifetime: Duration) async throws(AccountError) -> MappingChallenge

    /// Sends a node's signature over a challenge. When this call returns, the mapping is final.
    func verifyChallenge(
        _ request: RequestID, node: NodeID, signature: [UInt8], notes: MappingNotes
    ) async throws(AccountError)

    /// Returns whether one of the user's nodes is connected to the cloud, and since when. It is the only evidence for a board that no
    /// longer answers, if the cloud confirms mappings without the board. Nil (the default) if the cloud does not know.
    func connectivity(of node: NodeID) async throws(AccountError) -> Node.Connectivity?

    /// Returns the MQTT broker that nodes of this cloud connect to, as `host` or `host:port`. Nil (the default) if the cloud does not name
    /// one.
    func brokerHost() async throws(AccountError) -> String?
}

extension NodeMapping {
    public var confirmsReports: Bool { true }
    public var acceptsSecrets: Bool { true }
    public var challengesTakeOneAnswer: Bool { false }
    public var presenceLimit: Duration? { nil }
    public func beginSession() async throws(AccountError) {}
    public func endSession() async throws(AccountError) {}
    public func connectivity(of node: NodeID) async throws(AccountError) -> Node.Connectivity? { nil }
    public func brokerHost() async throws(AccountError) -> String? { nil }
}

/// The state of a mapping request.
public enum MappingStatus: Sendable, Hashable {
    /// `requested`: not decided yet. `confirmed`: the node belongs to the user. `timedOut`: the node did not report in time, so the request
    /// is void. `discarded`: the node reported another user or secret.
    case requested, confirmed, timedOut, discarded
    /// A state that this version does not know.
    case other(String)
}

/// A challenge, and the request that it belongs to.
public struct MappingChallenge: Sendable {
    /// The id to pass to ``NodeMapping/verifyChallenge(_:node:signature:notes:)`` with the signature.
    public var request: RequestID
    /// The bytes that the node signs: the cloud's text in UTF-8.
    public var challenge: [UInt8]

    public init(request: RequestID, challenge: [UInt8]) {
        self.request = request
        self.challenge = challenge
    }
}

/// The tags and metadata that the user wants to store with a node.
public struct MappingNotes: Sendable, Equatable {
    /// Tags, each of the form `key:value`.
    public var tags: [String]
    /// A JSON object as text, or nil.
    public var metadata: String?

    public init(tags: [String] = [], metadata: String? = nil) {
        self.tags = tags
        self.metadata = metadata
    }
}
