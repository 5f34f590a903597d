// SPDX-License-Identifier: Apache-2.0

/// Signs messages with a private key, which it does not reveal.
public protocol MessageSigner: Sendable {
    /// Returns the signature of `message`, which is hashed as the algorithm requires.
    func sign(_ message: [UInt8]) throws(SignatureFailure) -> [UInt8]
}

/// Checks whether the owner of a key signed a message.
public protocol SignatureVerifier: Sendable {
    /// Returns whether the key's owner made this signature for this message.
    func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool
}

/// The key could not sign: it is of another kind than the algorithm, or the crypto library failed.
public struct SignatureFailure: Error, Equatable, Sendable {
    public init() {}
}

/// Checks signatures with public keys that are given as numbers, like JSON Web Keys. All functions are stateless.
public protocol PublicKeySignatures: Sendable {
    /// Returns whether the key's owner signed this message with this scheme. False too for a key of another kind, or an invalid one.
    static func isValid(
        _ signature: [UInt8], for message: [UInt8], by key: PublicKeyNumbers, as scheme: SignatureScheme
    ) -> Bool
}

/// A public key as numbers in big-endian bytes (RFC 7518, section 6).
public enum PublicKeyNumbers: Sendable, Equatable {
    /// RSA. Implementations refuse fewer than 2048 bits (RFC 7518, section 3.3), and sizes above their own limit.
    case rsa(modulus: [UInt8], exponent: [UInt8])
    /// A point on P-256, 32 bytes for each coordinate. Implementations refuse points that are not on the curve.
    case p256(x: [UInt8], y: [UInt8])
}

/// The algorithm of a JSON Web Token's signature with a private key (RFC 7518, section 3.1). All hash with SHA-256.
public enum SignatureScheme: Sendable, CaseIterable {
    /// RSASSA-PKCS1-v1_5.
    case rs256
    /// ECDSA on P-256: r and s of 32 bytes each.
    case es256
    /// RSASSA-PSS, MGF1 with SHA-256, a salt of 32 bytes.
    case ps256
}
