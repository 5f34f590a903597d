// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainCore
import RainCrypto

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
