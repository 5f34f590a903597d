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

    /// u = H(PAD(A) | PAD(B)). Zero would take the password out of the secret.
    static func scramble(clientPublicKey: [UInt8], devicePublicKey: [UInt8]) throws(HandshakeError) -> KeyMaterial {
        let scramble = Suite.sha512([
            KeyMaterial(clientPublicKey).padded(to: SRPGroup.length),
            KeyMaterial(devicePublicKey).padded(to: SRPGroup.length),
        ])
        guard !scramble.isZero else { throw .unsafePublicKey }
        return scramble
    }

    /// A or B must not be a multiple of N: the secret would be known without the password.
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
