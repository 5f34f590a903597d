// SPDX-License-Identifier: Apache-2.0
import RainCore

/// What a client must know to open a session with a board.
public struct BoardCredentials: Sendable {
    /// Asked only when the board wants one: Security 0 and `no_pop` boards never cause a question. Nil when nobody knows it.
    public var proofOfPossession: @Sendable () async -> ProofOfPossession?
    /// The user name of Security 2.
    public var username: String
    /// The scheme to insist on, or nil for the one that the board names.
    public var securityVersion: Int?
    /// What is known of the board beforehand, from its label (``QRPayload/leastSecurity``). The board names its scheme in clear, and anyone
    /// in reach can do so in its place. If it claims less than this, the conversation ends (`securityMismatch`).
    public var leastSecurity = SecurityRequirement(version: 0, needsProofOfPossession: false)
    /// Whether a proof of possession is known beforehand. A board that says all the same that it speaks Security 0, which uses none and sends
    /// everything in clear, is refused (`securityMismatch`) unless ``securityVersion`` is 0.
    public var hasProofOfPossession = false
    /// The password of the network that the board itself opens, for whoever joins it; nil for an open one.
    public var accessPointPassphrase: Secret?
    /// Called before a session in which the board does not prove which one it is, since it says that it wants no proof of possession.
    public var whenUnproven: @Sendable (SecurityRequirement) -> Void = { _ in }

    /// How many proofs the board has refused already, in earlier conversations: RainMaker boards stop provisioning at the fifth. After the
    /// first, a proof is made in the standard's way alone, not for a faulty verifier as well, which would count twice.
    package var refusedBefore = 0

    /// The user name that RainMaker's and ESP-IDF's examples are built with.
    public static let defaultUsername = "wifiprov"

    public init(
        username: String = Self.defaultUsername, securityVersion: Int? = nil,
        proofOfPossession: @escaping @Sendable () async -> ProofOfPossession?
    ) {
        self.username = username
        self.securityVersion = securityVersion
        self.proofOfPossession = proofOfPossession
    }

    /// For a board whose proof of possession is known, or which is known to want none: nil.
    public init(proof: ProofOfPossession?, username: String = Self.defaultUsername, securityVersion: Int? = nil) {
        self.init(username: username, securityVersion: securityVersion) { proof }
        hasProofOfPossession = proof != nil
    }
}
