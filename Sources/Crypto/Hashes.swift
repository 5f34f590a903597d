// SPDX-License-Identifier: Apache-2.0

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
