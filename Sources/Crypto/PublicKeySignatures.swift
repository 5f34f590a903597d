// SPDX-License-Identifier: Apache-2.0

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
