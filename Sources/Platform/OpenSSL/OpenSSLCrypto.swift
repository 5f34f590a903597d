// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The schemes' cryptography by libcrypto.
public enum OpenSSLCrypto: CryptoSuite {
    public static func sha256(
        _ message: UnsafeBufferPointer<UInt8>, into digest: UnsafeMutableBufferPointer<UInt8>
    ) {
        OpenSSLHashes.sha256(message, into: digest)
    }

    public static func sha512(
        _ message: UnsafeBufferPointer<UInt8>, into digest: UnsafeMutableBufferPointer<UInt8>
    ) {
        OpenSSLHashes.sha512(message, into: digest)
    }
}
