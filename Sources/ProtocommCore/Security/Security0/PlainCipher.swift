// SPDX-License-Identifier: Apache-2.0

/// Security 0 has no security: messages travel as they are.
public struct PlainCipher: SessionCipher {
    public init() {}
    public mutating func encrypt(_ plaintext: [UInt8]) throws(CipherError) -> [UInt8] { plaintext }
    public mutating func decrypt(_ ciphertext: [UInt8]) throws(CipherError) -> [UInt8] { ciphertext }
}
