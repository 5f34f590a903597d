// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The arithmetic of SRP-6a as Security 2 uses it: RFC 5054's 3072-bit group with SHA-512.
///
/// PAD is the left-padding with zeros to 384 bytes. Letters are RFC 5054's.
enum SRP<Suite: CryptoSuite> {
    /// k = H(N | PAD(g))
    static func multiplier() -> KeyMaterial {
        Suite.sha512([KeyMaterial(SRPGroup.modulus), SRPGroup.generator.padded(to: SRPGroup.length)])
    }

    /// u = H(PAD(A) | PAD(B)). With u = 0 the secret would not depend on the password.
    static func scramble(clientPublicKey: [UInt8], devicePublicKey: [UInt8]) throws(HandshakeError) -> KeyMaterial {
        let scramble = Suite.sha512([
            KeyMaterial(clientPublicKey).padded(to: SRPGroup.length),
            KeyMaterial(devicePublicKey).padded(to: SRPGroup.length),
        ])
        guard !scramble.isZero else { throw .unsafePublicKey }
        return scramble
    }

    /// Throws if A or B is a multiple of N, because the secret would be known without the password.
    static func refuseUnsafe(_ publicKey: [UInt8]) throws(HandshakeError) {
        let reduced = try duringHandshake { () throws(CryptoFailure) in
            try Suite.add(KeyMaterial(publicKey), KeyMaterial([0]), modulus: SRPGroup.modulus)
        }
        guard !reduced.isZero else { throw .unsafePublicKey }
    }

    /// g ^ exponent, padded to 384 bytes.
    static func power(ofGenerator exponent: KeyMaterial) throws(CryptoFailure) -> KeyMaterial {
        try Suite.power(SRPGroup.generator, exponent, modulus: SRPGroup.modulus)
    }

    /// S = (B - k * g^x) ^ (a + u * x)
    static func clientSecret(
        privateKey a: KeyMaterial, devicePublicKey: [UInt8], scramble u: KeyMaterial, passwordHash x: KeyMaterial
    ) throws(CryptoFailure) -> KeyMaterial {
        let modulus = SRPGroup.modulus
        let masked = try Suite.multiply(multiplier(), power(ofGenerator: x), modulus: modulus)
        let base = try Suite.subtract(KeyMaterial(devicePublicKey), masked, modulus: modulus)
        return try Suite.power(base, Suite.multiplyAdd(u, x, a), modulus: modulus)
    }

    /// B = k * v + g^b, without leading zeros as the firmware sends it.
    static func devicePublicKey(verifier v: KeyMaterial, privateKey b: KeyMaterial) throws(CryptoFailure) -> [UInt8] {
        let modulus = SRPGroup.modulus
        let masked = try Suite.multiply(multiplier(), v, modulus: modulus)
        return try Suite.add(masked, power(ofGenerator: b), modulus: modulus).withoutLeadingZeros().bytes
    }

    /// S = (A * v^u) ^ b
    static func deviceSecret(
        clientPublicKey: [UInt8], verifier v: KeyMaterial, scramble u: KeyMaterial, privateKey b: KeyMaterial
    ) throws(CryptoFailure) -> KeyMaterial {
        let modulus = SRPGroup.modulus
        let base = try Suite.multiply(
            KeyMaterial(clientPublicKey), Suite.power(v, u, modulus: modulus), modulus: modulus)
        return try Suite.power(base, b, modulus: modulus)
    }

    /// K = H(S), S in its shortest form: 64 bytes, of which the first 32 are the AES key.
    static func sessionKey(_ secret: KeyMaterial) -> KeyMaterial {
        Suite.sha512([secret.withoutLeadingZeros()])
    }

    /// M1 = H(H(N) xor H(PAD(g)) | H(username) | salt | A | B | K), A, B and salt as they travelled.
    static func clientProof(
        username: [UInt8], salt: [UInt8], clientPublicKey: [UInt8], devicePublicKey: [UInt8], sessionKey: KeyMaterial
    ) -> [UInt8] {
        let group = Suite.sha512([KeyMaterial(SRPGroup.modulus)])
            .exclusiveOr(Suite.sha512([SRPGroup.generator.padded(to: SRPGroup.length)]))
        return Suite.sha512([
            group, Suite.sha512([KeyMaterial(username)]), KeyMaterial(salt), KeyMaterial(clientPublicKey),
            KeyMaterial(devicePublicKey), sessionKey,
        ]).bytes
    }

    /// M2 = H(A | M1 | K)
    static func deviceProof(clientPublicKey: [UInt8], clientProof: [UInt8], sessionKey: KeyMaterial) -> [UInt8] {
        Suite.sha512([KeyMaterial(clientPublicKey), KeyMaterial(clientProof), sessionKey]).bytes
    }
}

/// The 3072-bit group of RFC 5054, appendix A, with generator 5.
enum SRPGroup {
    static let length = 384
    static let generator = KeyMaterial([5])
    static let modulus: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xC9, 0x0F, 0xDA, 0xA2, 0x21, 0x68, 0xC2, 0x34,
        0xC4, 0xC6, 0x62, 0x8B, 0x80, 0xDC, 0x1C, 0xD1, 0x29, 0x02, 0x4E, 0x08, 0x8A, 0x67, 0xCC, 0x74,
        0x02, 0x0B, 0xBE, 0xA6, 0x3B, 0x13, 0x9B, 0x22, 0x51, 0x4A, 0x08, 0x79, 0x8E, 0x34, 0x04, 0xDD,
        0xEF, 0x95, 0x19, 0xB3, 0xCD, 0x3A, 0x43, 0x1B, 0x30, 0x2B, 0x0A, 0x6D, 0xF2, 0x5F, 0x14, 0x37,
        0x4F, 0xE1, 0x35, 0x6D, 0x6D, 0x51, 0xC2, 0x45, 0xE4, 0x85, 0xB5, 0x76, 0x62, 0x5E, 0x7E, 0xC6,
        0xF4, 0x4C, 0x42, 0xE9, 0xA6, 0x37, 0xED, 0x6B, 0x0B, 0xFF, 0x5C, 0xB6, 0xF4, 0x06, 0xB7, 0xED,
        0xEE, 0x38, 0x6B, 0xFB, 0x5A, 0x89, 0x9F, 0xA5, 0xAE, 0x9F, 0x24, 0x11, 0x7C, 0x4B, 0x1F, 0xE6,
        0x49, 0x28, 0x66, 0x51, 0xEC, 0xE4, 0x5B, 0x3D, 0xC2, 0x00, 0x7C, 0xB8, 0xA1, 0x63, 0xBF, 0x05,
        0x98, 0xDA, 0x48, 0x36, 0x1C, 0x55, 0xD3, 0x9A, 0x69, 0x16, 0x3F, 0xA8, 0xFD, 0x24, 0xCF, 0x5F,
        0x83, 0x65, 0x5D, 0x23, 0xDC, 0xA3, 0xAD, 0x96, 0x1C, 0x62, 0xF3, 0x56, 0x20, 0x85, 0x52, 0xBB,
        0x9E, 0xD5, 0x29, 0x07, 0x70, 0x96, 0x96, 0x6D, 0x67, 0x0C, 0x35, 0x4E, 0x4A, 0xBC, 0x98, 0x04,
        0xF1, 0x74, 0x6C, 0x08, 0xCA, 0x18, 0x21, 0x7C, 0x32, 0x90, 0x5E, 0x46, 0x2E, 0x36, 0xCE, 0x3B,
        0xE3, 0x9E, 0x77, 0x2C, 0x18, 0x0E, 0x86, 0x03, 0x9B, 0x27, 0x83, 0xA2, 0xEC, 0x07, 0xA2, 0x8F,
        0xB5, 0xC5, 0x5D, 0xF0, 0x6F, 0x4C, 0x52, 0xC9, 0xDE, 0x2B, 0xCB, 0xF6, 0x95, 0x58, 0x17, 0x18,
        0x39, 0x95, 0x49, 0x7C, 0xEA, 0x95, 0x6A, 0xE5, 0x15, 0xD2, 0x26, 0x18, 0x98, 0xFA, 0x05, 0x10,
        0x15, 0x72, 0x8E, 0x5A, 0x8A, 0xAA, 0xC4, 0x2D, 0xAD, 0x33, 0x17, 0x0D, 0x04, 0x50, 0x7A, 0x33,
        0xA8, 0x55, 0x21, 0xAB, 0xDF, 0x1C, 0xBA, 0x64, 0xEC, 0xFB, 0x85, 0x04, 0x58, 0xDB, 0xEF, 0x0A,
        0x8A, 0xEA, 0x71, 0x57, 0x5D, 0x06, 0x0C, 0x7D, 0xB3, 0x97, 0x0F, 0x85, 0xA6, 0xE1, 0xE4, 0xC7,
        0xAB, 0xF5, 0xAE, 0x8C, 0xDB, 0x09, 0x33, 0xD7, 0x1E, 0x8C, 0x94, 0xE0, 0x4A, 0x25, 0x61, 0x9D,
        0xCE, 0xE3, 0xD2, 0x26, 0x1A, 0xD2, 0xEE, 0x6B, 0xF1, 0x2F, 0xFA, 0x06, 0xD9, 0x8A, 0x08, 0x64,
        0xD8, 0x76, 0x02, 0x73, 0x3E, 0xC8, 0x6A, 0x64, 0x52, 0x1F, 0x2B, 0x18, 0x17, 0x7B, 0x20, 0x0C,
        0xBB, 0xE1, 0x17, 0x57, 0x7A, 0x61, 0x5D, 0x6C, 0x77, 0x09, 0x88, 0xC0, 0xBA, 0xD9, 0x46, 0xE2,
        0x08, 0xE2, 0x4F, 0xA0, 0x74, 0xE5, 0xAB, 0x31, 0x43, 0xDB, 0x5B, 0xFC, 0xE0, 0xFD, 0x10, 0x8E,
        0x4B, 0x82, 0xD1, 0x20, 0xA9, 0x3A, 0xD2, 0xCA, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    ]
}

/// How x is computed from the salt, the user name and the password: the standard way, or as in a faulty verifier.
///
/// Some boards have verifiers that the standard way can never match. Each variant changes only x, so it is worth one more handshake.
/// RainMaker firmware stops provisioning after five wrong proofs.
public struct PasswordHash: Sendable, Equatable {
    enum Kind: Sendable, Equatable { case standard, saltWithoutLastByte, withoutLeadingZeros }
    let kind: Kind

    /// x = H(salt | H(username ":" password))
    public static let standard = PasswordHash(kind: .standard)
    /// The board drew a 16-byte salt that began with 00, made the verifier from the other 15 bytes, and stored a stray byte
    /// after them (`esp_srp_gen_salt_verifier`; one board in 256).
    public static let saltWithoutLastByte = PasswordHash(kind: .saltWithoutLastByte)
    /// The verifier was computed with numbers instead of bytes, as in the Python tools, so leading zeros of the salt and of the inner hash
    /// are lost.
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
