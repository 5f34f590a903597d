// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import RainCrypto

/// Random bytes of libcrypto, which takes its entropy from the kernel.
public struct OpenSSLRandom: RandomSource {
    public init() {}

    public mutating func fill(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        guard RAND_bytes(buffer.baseAddress, Int32(buffer.count)) == 1 else {
            fatalError("libcrypto has no random bytes to give")
        }
    }
}
