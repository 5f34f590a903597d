// SPDX-License-Identifier: Apache-2.0

/// The cryptographic functions of the security schemes: libcrypto on the host, Swift on the chip.
///
/// All functions are stateless. Numbers are big-endian bytes. The modulus is odd, and every result of modular arithmetic is padded to the
/// length of the modulus. Operands may have any length and need not be reduced.
public protocol CryptoSuite: Hashes {
    /// Returns the public key of an X25519 private key (32 bytes, clamped by this function as in RFC 7748).
    static func x25519PublicKey(_ privateKey: KeyMaterial) throws(CryptoFailure) -> [UInt8]

    /// Returns the shared secret, 32 bytes. It is all zeros for a public key of low order, which the caller must refuse.
    static func x25519SharedSecret(
        privateKey: KeyMaterial, publicKey: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial

    /// Encrypts or decrypts with AES-256-CTR: `message` exclusive-or the key stream that starts at `counterBlock`. The block has 16 bytes
    /// and is incremented as a 128-bit big-endian number. The first `offset` bytes (0 to 15) of the stream are skipped.
    static func aes256CounterMode(
        _ message: [UInt8], key: KeyMaterial, counterBlock: [UInt8], skipping offset: Int
    ) throws(CryptoFailure) -> [UInt8]

    /// Encrypts with AES-256-GCM without additional data. Returns the ciphertext and its tag of 16 bytes. The nonce has 12 or 16 bytes.
    static func aes256GCMSeal(
        _ plaintext: [UInt8], key: KeyMaterial, nonce: [UInt8]
    ) throws(CryptoFailure) -> [UInt8]

    /// Returns the plaintext of a ciphertext and its tag; nil if the tag does not match.
    static func aes256GCMOpen(
        _ sealed: [UInt8], key: KeyMaterial, nonce: [UInt8]
    ) throws(CryptoFailure) -> [UInt8]?

    /// Returns base ^ exponent mod modulus. The time does not depend on the exponent's bits.
    static func power(
        _ base: KeyMaterial, _ exponent: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial

    /// Returns left × right mod modulus.
    static func multiply(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial

    /// Returns left + right mod modulus.
    static func add(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial

    /// Returns left − right mod modulus, which is never negative.
    static func subtract(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial

    /// Returns factor × other + summand as a plain integer, long enough for any result.
    static func multiplyAdd(
        _ factor: KeyMaterial, _ other: KeyMaterial, _ summand: KeyMaterial
    ) throws(CryptoFailure) -> KeyMaterial
}

/// The crypto library failed: it is out of memory, or got a key of the wrong length.
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

/// The hash functions of the protocols, independent of an implementation.
///
/// Hashing cannot fail. If the library of an implementation fails (it is out of memory), the implementation traps.
public protocol Hashes: Sendable {
    /// Writes the 32 bytes of the digest to `digest`, which has exactly this size.
    static func sha256(_ message: UnsafeBufferPointer<UInt8>, into digest: UnsafeMutableBufferPointer<UInt8>)
    /// Writes the 64 bytes of the digest to `digest`, which has exactly this size.
    static func sha512(_ message: UnsafeBufferPointer<UInt8>, into digest: UnsafeMutableBufferPointer<UInt8>)
}

extension Hashes {
    /// Returns the 32 bytes of the SHA-256 digest.
    public static func sha256(_ message: [UInt8]) -> [UInt8] {
        message.withUnsafeBufferPointer { message in
            [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
                sha256(message, into: UnsafeMutableBufferPointer(rebasing: digest[..<32]))
                count = 32
            }
        }
    }

    /// Returns the 64 bytes of the SHA-512 digest.
    public static func sha512(_ message: [UInt8]) -> [UInt8] {
        message.withUnsafeBufferPointer { message in
            [UInt8](unsafeUninitializedCapacity: 64) { digest, count in
                sha512(message, into: UnsafeMutableBufferPointer(rebasing: digest[..<64]))
                count = 64
            }
        }
    }

    /// Returns the HMAC-SHA-256 (RFC 2104), 32 bytes.
    public static func hmacSHA256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        let pads = HMACPads(key: key.count > 64 ? sha256(key) : key, blockSize: 64)
        return sha256(pads.outer + sha256(pads.inner + message))
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

/// Returns whether two byte strings are equal. The time depends only on their lengths.
public func equalInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
}
