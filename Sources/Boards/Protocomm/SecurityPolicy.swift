// SPDX-License-Identifier: Apache-2.0
import RainCore

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
