// SPDX-License-Identifier: Apache-2.0

/// The cryptography that the schemes are made of: libcrypto on the host, Swift on the chip.
///
/// All functions are stateless. Numbers are big-endian bytes; the modulus is odd, and every result of modular arithmetic is
/// padded to the modulus' length. Operands may be of any length and need not be reduced.
public protocol CryptoSuite: Hashes {
    /// The public key of an X25519 private key (32 bytes, clamped by this function as RFC 7748 says).
    static func x25519PublicKey(_ privateKey: KeyMaterial) throws(CryptoFailure) -> [UInt8]

    /// The shared secret, 32 bytes. All zeros for a public key of low order, which the caller refuses.
    static func x25519SharedSecret(
        privateKey: KeyMaterial, publicKey: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial

    /// AES-256-CTR: `message` exclusive-or the key stream that starts at `counterBlock` (16 bytes, counted up as a 128-bit
    /// big-endian number), without its first `offset` bytes (0 to 15).
    static func aes256CounterMode(
        _ message: [UInt8], key: KeyMaterial, counterBlock: [UInt8], skipping offset: Int
    ) throws(CryptoFailure) -> [UInt8]

    /// AES-256-GCM without additional data: the ciphertext and its tag of 16 bytes. The nonce has 12 or 16 bytes.
    static func aes256GCMSeal(
        _ plaintext: [UInt8], key: KeyMaterial, nonce: [UInt8]
    ) throws(CryptoFailure) -> [UInt8]

    /// The plaintext of a ciphertext and its tag; nil if the tag does not fit.
    static func aes256GCMOpen(
        _ sealed: [UInt8], key: KeyMaterial, nonce: [UInt8]
    ) throws(CryptoFailure) -> [UInt8]?

    /// base ^ exponent mod modulus, in a time that does not depend on the exponent's bits.
    static func power(
        _ base: KeyMaterial, _ exponent: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial

    /// left × right mod modulus.
    static func multiply(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial

    /// left + right mod modulus.
    static func add(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial

    /// left − right mod modulus, which is never negative.
    static func subtract(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial

    /// factor × other + summand as a plain integer, long enough for any result.
    static func multiplyAdd(
        _ factor: KeyMaterial, _ other: KeyMaterial, _ summand: KeyMaterial
    ) throws(CryptoFailure) -> KeyMaterial
}

/// The crypto library failed: it is out of memory, or was handed a key of the wrong length.
public struct CryptoFailure: Error, Equatable, Sendable {
    public init() {}
}

extension CryptoSuite {
    package static func sha256(_ message: KeyMaterial) -> KeyMaterial {
        message.withBytes { message in KeyMaterial(count: 32) { sha256(message, into: $0) } }
    }

    package static func sha512(_ parts: [KeyMaterial]) -> KeyMaterial {
        KeyMaterial.joining(parts).withBytes { message in KeyMaterial(count: 64) { sha512(message, into: $0) } }
    }
}

/// The hash functions of the protocols, without naming an implementation.
///
/// Hashing cannot fail; an implementation whose library does (it is out of memory) traps.
public protocol Hashes: Sendable {
    /// Writes the 32 bytes of the digest to `digest`, which has exactly that room.
    static func sha256(_ message: UnsafeBufferPointer<UInt8>, into digest: UnsafeMutableBufferPointer<UInt8>)
    /// Writes the 64 bytes of the digest to `digest`, which has exactly that room.
    static func sha512(_ message: UnsafeBufferPointer<UInt8>, into digest: UnsafeMutableBufferPointer<UInt8>)
}

extension Hashes {
    /// The 32 bytes of the SHA-256 digest.
    public static func sha256(_ message: [UInt8]) -> [UInt8] {
        message.withUnsafeBufferPointer { message in
            [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
                sha256(message, into: UnsafeMutableBufferPointer(rebasing: digest[..<32]))
                count = 32
            }
        }
    }

    /// The 64 bytes of the SHA-512 digest.
    public static func sha512(_ message: [UInt8]) -> [UInt8] {
        message.withUnsafeBufferPointer { message in
            [UInt8](unsafeUninitializedCapacity: 64) { digest, count in
                sha512(message, into: UnsafeMutableBufferPointer(rebasing: digest[..<64]))
                count = 64
            }
        }
    }

    /// HMAC-SHA-256 (RFC 2104), 32 bytes.
    public static func hmacSHA256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        let pads = HMACPads(key: key.count > 64 ? sha256(key) : key, blockSize: 64)
        return sha256(pads.outer + sha256(pads.inner + message))
    }

    /// HMAC-SHA-512 (RFC 2104), 64 bytes.
    public static func hmacSHA512(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        let pads = HMACPads(key: key.count > 128 ? sha512(key) : key, blockSize: 128)
        return sha512(pads.outer + sha512(pads.inner + message))
    }
}

private struct HMACPads {
    var inner: [UInt8]
    var outer: [UInt8]

    init(key: [UInt8], blockSize: Int) {
        inner = [UInt8](repeating: 0x36, count: blockSize)
        outer = [UInt8](repeating: 0x5C, count: blockSize)
        for index in key.indices {
            inner[index] ^= key[index]
            outer[index] ^= key[index]
        }
    }
}

/// Whether two byte strings are the same, in a time that depends on their lengths only.
public func equalInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
}
