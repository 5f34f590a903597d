// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import RainCore
import RainCrypto

/// The secrets and requirements of a client for a session with a board.
public struct BoardCredentials: Sendable {
    /// Returns the proof of possession; nil if nobody knows it. Called only if the board needs one: boards with Security 0 or `no_pop`
    /// never cause a question.
    public var proofOfPossession: @Sendable () async -> ProofOfPossession?
    /// The user name of Security 2.
    public var username: String
    /// The security scheme to insist on; nil for the one that the board names.
    public var securityVersion: Int?
    /// The security that the board's label promises (``QRPayload/leastSecurity``). The board names its scheme in clear, and so can any
    /// device in range in its place. If it names less than this, the session is refused (`securityMismatch`).
    public var leastSecurity = SecurityRequirement(version: 0, needsProofOfPossession: false)
    /// Whether the proof of possession is known in advance. If so, a board that claims Security 0, which uses none and sends everything in
    /// clear, is refused (`securityMismatch`) unless ``securityVersion`` is 0.
    public var hasProofOfPossession = false
    /// The password of the network that the board itself opens, for a client that joins it; nil for an open one.
    public var accessPointPassphrase: Secret?
    /// Called before a session in which the board does not prove its identity, because it reports that it needs no proof of possession.
    public var whenUnproven: @Sendable (SecurityRequirement) -> Void = { _ in }

    /// How many proofs the board has refused in earlier sessions; RainMaker boards stop provisioning at the fifth. After the first refusal
    /// only the standard proof is made, not also the one for a faulty verifier, which would count twice.
    package var refusedBefore = 0

    /// The user name in RainMaker's and ESP-IDF's examples.
    public static let defaultUsername = "wifiprov"

    public init(
        username: String = Self.defaultUsername, securityVersion: Int? = nil,
        proofOfPossession: @escaping @Sendable () async -> ProofOfPossession?
    ) {
        self.username = username
        self.securityVersion = securityVersion
        self.proofOfPossession = proofOfPossession
    }

    /// For a board whose proof of possession is known, or nil for one that is known to need none.
    public init(proof: ProofOfPossession?, username: String = Self.defaultUsername, securityVersion: Int? = nil) {
        self.init(username: username, securityVersion: securityVersion) { proof }
        hasProofOfPossession = proof != nil
    }
}

/// Compares the user's requirements and the known facts about a board with the board's claim.
///
/// A board names its scheme in clear, before any session, and so can any device that answers in its place.
struct SecurityPolicy: Sendable, Equatable {
    /// The scheme to insist on, whatever else is known.
    var wanted: Int?
    /// The minimum security that is accepted from a board.
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

    /// Returns the error for a board that claims this security; nil if a session may be opened.
    func refusal(of claim: SecurityRequirement) -> BoardError? {
        if let wanted, wanted != claim.version {
            return BoardError(
                .securityMismatch,
                message: "The board uses Security \(claim.version), not \(wanted).", remedies: [.anySecurity])
        }
        if let shortfall = shortfall(of: claim) {
            return refusal(of: claim, "\(shortfall), but its label requires better protection")
        }
        guard wanted == nil, expectsProof, claim.version == 0 else { return nil }
        return refusal(
            of: claim, "\(Self.clear), but you gave a proof of possession, which only boards with encryption have")
    }

    private func refusal(of claim: SecurityRequirement, _ contradiction: String) -> BoardError {
        BoardError(
            .securityMismatch,
            message:
                "The board reports that it \(contradiction). Another device may be using the board's name. Nothing secret was sent.",
            remedies: [.acceptedSecurity(version: claim.version)])
    }

    private static let clear = "uses Security 0, which encrypts nothing"

    /// Returns the claim, as a text, if it is less than the known security.
    private func shortfall(of claim: SecurityRequirement) -> String? {
        if claim.version >= 0, claim.version < least.version {
            return claim.version == 0 ? Self.clear : "uses Security \(claim.version)"
        }
        if claim.version == 1, least.needsProofOfPossession, !claim.needsProofOfPossession {
            return "needs no proof of possession"
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
        // A proof of possession for a board that needs none is left out: with it the keys would differ.
        password = required.needsProofOfPossession ? secret?.revealBytes() ?? [] : []
    }

    func scheme<Suite: CryptoSuite, Random: RandomSource>(
        _: Suite.Type, passwordHash: PasswordHash = .standard, random: inout Random
    ) throws(BoardError) -> ClientSecurity<Suite> {
        switch (required.version, Security2PatchVersion(required.patch)) {
        case (0, _): return .security0(Security0Client())
        case (1, _): return .security1(Security1Client(proofOfPossession: password, random: &random))
        case (2, let patch?):
            guard !username.isEmpty else {
                throw BoardError(
                    .invalidArgument, message: "Security 2 needs a user name.", remedies: [.securityUserName])
            }
            return .security2(
                Security2Client(
                    username: username, password: password, patchVersion: patch, passwordHash: passwordHash,
                    random: &random))
        default:
            throw BoardError(
                .securityMismatch,
                message:
                    "The board requires Security \(required.version), patch \(required.patch), which this version of RainKit does not "
                    + "support. Update RainKit.")
        }
    }

    /// Returns how a faulty verifier on the board may have been made, for one more try after a refused proof.
    ///
    /// A verifier made with numbers instead of bytes differs only if the inner hash begins with a zero, which is known here. Otherwise the
    /// remaining case is a salt whose leading zero the firmware lost, which cannot be seen from outside. Only one more try: RainMaker
    /// firmware stops after five wrong proofs.
    func fallback<Suite: CryptoSuite>(_: Suite.Type) -> PasswordHash? {
        guard required.version == 2 else { return nil }
        let inner = Suite.sha512(username + [UInt8(ascii: ":")] + password)
        return inner.first == 0 ? .withoutLeadingZeros : .saltWithoutLastByte
    }
}
