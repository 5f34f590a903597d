// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import RainCrypto

/// SHA-2 by libcrypto.
public enum OpenSSLHashes: Hashes {
    public static func sha256(
        _ message: UnsafeBufferPointer<UInt8>, into digest: UnsafeMutableBufferPointer<UInt8>
    ) {
        hash(message, into: digest, with: EVP_sha256())
    }

    public static func sha512(
        _ message: UnsafeBufferPointer<UInt8>, into digest: UnsafeMutableBufferPointer<UInt8>
    ) {
        hash(message, into: digest, with: EVP_sha512())
    }

    /// The 20 bytes of the SHA-1 digest, for protocols that demand it where nothing is protected by it, such as WebSocket (RFC 6455, 1.3).
    public static func sha1(_ message: [UInt8]) -> [UInt8] {
        message.withUnsafeBufferPointer { message in
            [UInt8](unsafeUninitializedCapacity: 20) { digest, count in
                hash(message, into: UnsafeMutableBufferPointer(rebasing: digest[..<20]), with: EVP_sha1())
                count = 20
            }
        }
    }

    private static func hash(
        _ message: UnsafeBufferPointer<UInt8>, into digest: UnsafeMutableBufferPointer<UInt8>,
        with function: OpaquePointer?
    ) {
        precondition(digest.count == Int(EVP_MD_get_size(function)), "the digest has the wrong room")
        guard EVP_Digest(message.baseAddress, message.count, digest.baseAddress, nil, function, nil) == 1 else {
            fatalError("libcrypto cannot hash: it is out of memory")
        }
    }
}
