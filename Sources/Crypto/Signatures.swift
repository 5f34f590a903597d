// SPDX-License-Identifier: Apache-2.0

/// Signs messages with a private key that it keeps to itself.
public protocol MessageSigner: Sendable {
    /// The signature over `message`, which is hashed as the algorithm prescribes.
    func sign(_ message: [UInt8]) throws(SignatureFailure) -> [UInt8]
}

/// Tells whether a message was signed by the owner of a key.
public protocol SignatureVerifier: Sendable {
    /// Whether the signature is the key owner's, over this very message.
    func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool
}

/// The key could not sign: it is of another kind than the algorithm, or the crypto library failed.
public struct SignatureFailure: Error, Equatable, Sendable {
    public init() {}
}

/// Checks signatures by public keys that come as numbers, as JSON Web Keys do. All functions are stateless.
public protocol PublicKeySignatures: Sendable {
    /// Whether the key's owner signed this very message in that way. False, too, for a key of another kind and for one that is none.
    static func isValid(
        _ signature: [UInt8], for message: [UInt8], by key: PublicKeyNumbers, as scheme: SignatureScheme
    ) -> Bool
}

/// A public key as numbers in big-endian bytes (RFC 7518, section 6).
public enum PublicKeyNumbers: Sendable, Equatable {
    /// RSA. Implementations refuse fewer than 2048 bits (RFC 7518, section 3.3), and more than they care to calculate with.
    case rsa(modulus: [UInt8], exponent: [UInt8])
    /// A point on P-256, 32 bytes each. Implementations refuse points that are not on the curve.
    case p256(x: [UInt8], y: [UInt8])
}

/// How a JSON Web Token is signed with a private key, after RFC 7518, section 3.1. All hash with SHA-256.
public enum SignatureScheme: Sendable, CaseIterable {
    /// RSASSA-PKCS1-v1_5.
    case rs256
    /// ECDSA on P-256: r and s of 32 bytes each.
    case es256
    /// RSASSA-PSS, MGF1 with SHA-256, a salt of 32 bytes.
    case ps256
}
