// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainCore
import RainCrypto

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

/// What a user insists on and what is known of a board beforehand, against what the board says of itself.
///
/// A board names its scheme in clear, before any session, and so can anyone who answers in its place.
struct SecurityPolicy: Sendable, Equatable {
    /// The scheme to insist on, whatever else is known.
    var wanted: Int?
    /// The least security that is accepted from a board.
    var least: SecurityRequirement

    /// Whether a proof of possession is known, which a session in clear would not use.
    var expectsProof: Bool

    init(wanted: Int? = nil, least: SecurityRequirement, expectsProof: Bool = false) {
        self.wanted = wanted
        self.least = least
        self.expectsProof = expectsProof
    }

    init(_ credentials: BoardCredentials) {
        self.init(
            wanted: credentials.securityVersion, least: credentials.leastSecurity,
            expectsProof: credentials.hasProofOfPossession)
    }

    /// Why no session is opened with a board that says this; nil where one may be.
    func refusal(of claim: SecurityRequirement) -> ProvisioningError? {
        if let wanted, wanted != claim.version {
            return ProvisioningError(
                .securityMismatch,
                message: "The board speaks Security \(claim.version), not \(wanted).", remedies: [.anySecurity])
        }
        if let shortfall = shortfall(of: claim) {
            return refusal(of: claim, "\(shortfall), but its label says otherwise")
        }
        guard wanted == nil, expectsProof, claim.version == 0 else { return nil }
        return refusal(of: claim, "\(Self.clear), although a proof of possession was given for it")
    }

    private func refusal(of claim: SecurityRequirement, _ contradiction: String) -> ProvisioningError {
        ProvisioningError(
            .securityMismatch,
            message:
                "The board says that it \(contradiction): another one may use its name. Nothing secret was sent.",
            remedies: [.acceptedSecurity(version: claim.version)])
    }

    private static let clear = "speaks Security 0, where all goes in clear"

    /// What a board says that is less than what is known of it.
    private func shortfall(of claim: SecurityRequirement) -> String? {
        if claim.version >= 0, claim.version < least.version {
            return claim.version == 0 ? Self.clear : "speaks Security \(claim.version)"
        }
        if claim.version == 1, least.needsProofOfPossession, !claim.needsProofOfPossession {
            return "wants no proof of possession"
        }
        return nil
    }
}

/// Makes the client's end of the scheme that a board requires.
struct SecuritySelection {
    var required: SecurityRequirement
    var username: [UInt8]
    var password: [UInt8]

    init(_ required: SecurityRequirement, username: String, secret: Secret?) {
        self.required = required
        self.username = Array(username.utf8)
        // A proof of possession given to a board that wants none is left out: mixing it in would make the keys differ.
        password = required.needsProofOfPossession ? secret?.revealBytes() ?? [] : []
    }

    func scheme<Suite: CryptoSuite, Random: RandomSource>(
        _: Suite.Type, passwordHash: PasswordHash = .standard, random: inout Random
    ) throws(ProvisioningError) -> ClientSecurity<Suite> {
        switch (required.version, Security2PatchVersion(required.patch)) {
        case (0, _): return .security0(Security0Client())
        case (1, _): return .security1(Security1Client(proofOfPossession: password, random: &random))
        case (2, let patch?):
            guard !username.isEmpty else {
                throw ProvisioningError(
                    .invalidArgument, message: "Security 2 needs a user name.", remedies: [.securityUserName])
            }
            return .security2(
                Security2Client(
                    username: username, password: password, patchVersion: patch, passwordHash: passwordHash,
                    random: &random))
        default:
            throw ProvisioningError(
                .securityMismatch,
                message:
                    "The board wants Security \(required.version), patch \(required.patch), which this version does "
                    + "not know. Update RainKit.")
        }
    }

    /// How a faulty verifier on the board may have been made, worth one more try after a refused proof.
    ///
    /// A verifier made with numbers instead of bytes differs only if the inner hash begins with a zero, which is known here.
    /// Otherwise what is left is the salt whose leading zero the firmware lost, which nobody can tell from outside. One try
    /// and no more: RainMaker firmware stops after five wrong proofs.
    func fallback<Suite: CryptoSuite>(_: Suite.Type) -> PasswordHash? {
        guard required.version == 2 else { return nil }
        let inner = Suite.sha512(username + [UInt8(ascii: ":")] + password)
        return inner.first == 0 ? .withoutLeadingZeros : .saltWithoutLastByte
    }
}
