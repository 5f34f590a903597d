// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The cipher of whichever scheme was selected at run time, without an existential.
public enum SelectedCipher<Suite: CryptoSuite>: SessionCipher {
    /// Passes messages on in clear.
    case security0(PlainCipher)
    /// AES-256-CTR: messages are confidential, but not authenticated.
    case security1(Security1Cipher<Suite>)
    /// AES-256-GCM: messages are confidential and authenticated.
    case security2(Security2Cipher<Suite>)

    public mutating func encrypt(_ plaintext: [UInt8]) throws(CipherError) -> [UInt8] {
        switch self {
        case .security0(var cipher):
            defer { self = .security0(cipher) }
            return try cipher.encrypt(plaintext)
        case .security1(var cipher):
            defer { self = .security1(cipher) }
            return try cipher.encrypt(plaintext)
        case .security2(var cipher):
            defer { self = .security2(cipher) }
            return try cipher.encrypt(plaintext)
        }
    }

    public mutating func decrypt(_ ciphertext: [UInt8]) throws(CipherError) -> [UInt8] {
        switch self {
        case .security0(var cipher):
            defer { self = .security0(cipher) }
            return try cipher.decrypt(ciphertext)
        case .security1(var cipher):
            defer { self = .security1(cipher) }
            return try cipher.decrypt(ciphertext)
        case .security2(var cipher):
            defer { self = .security2(cipher) }
            return try cipher.decrypt(ciphertext)
        }
    }
}
