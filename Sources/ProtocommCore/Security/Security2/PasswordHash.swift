// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// How x is made from the salt, the user name and the password: the standard way, or as a faulty verifier was made.
///
/// Some boards carry verifiers that the standard way can never match. Each variant changes x alone, so it is worth one more
/// handshake; mind that RainMaker firmware stops provisioning after five wrong proofs.
public struct PasswordHash: Sendable, Equatable {
    enum Kind: Sendable, Equatable { case standard, saltWithoutLastByte, withoutLeadingZeros }
    let kind: Kind

    /// x = H(salt | H(username ":" password))
    public static let standard = PasswordHash(kind: .standard)
    /// The board drew a 16-byte salt that began with 00, made the verifier from the other 15 bytes, and stored a stray byte
    /// after them (`esp_srp_gen_salt_verifier`; one board in 256).
    public static let saltWithoutLastByte = PasswordHash(kind: .saltWithoutLastByte)
    /// The verifier was made with numbers instead of bytes, as the Python tools do: leading zeros of the salt and of the
    /// inner hash are lost.
    public static let withoutLeadingZeros = PasswordHash(kind: .withoutLeadingZeros)

    func compute<Suite: CryptoSuite>(
        salt: [UInt8], username: [UInt8], password: KeyMaterial, with _: Suite.Type
    ) -> KeyMaterial {
        let inner = Suite.sha512([KeyMaterial(username), KeyMaterial([UInt8(ascii: ":")]), password])
        switch kind {
        case .standard: return Suite.sha512([KeyMaterial(salt), inner])
        case .saltWithoutLastByte: return Suite.sha512([KeyMaterial(Array(salt.dropLast())), inner])
        case .withoutLeadingZeros:
            return Suite.sha512([KeyMaterial(salt).withoutLeadingZeros(), inner.withoutLeadingZeros()])
        }
    }
}
