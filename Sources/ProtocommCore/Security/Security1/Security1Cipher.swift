// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The messages of a Security 1 session: confidential, but not authenticated.
///
/// A message that is lost, repeated or changed puts the two ends' key streams apart for good; only a new handshake helps.
/// Use one value for the whole session: two copies would encrypt two messages with the same key stream.
public struct Security1Cipher<Suite: CryptoSuite>: SessionCipher {
    private var stream: CounterModeStream<Suite>

    init(stream: CounterModeStream<Suite>) { self.stream = stream }

    public mutating func encrypt(_ plaintext: [UInt8]) throws(CipherError) -> [UInt8] { try apply(to: plaintext) }
    public mutating func decrypt(_ ciphertext: [UInt8]) throws(CipherError) -> [UInt8] { try apply(to: ciphertext) }

    private mutating func apply(to message: [UInt8]) throws(CipherError) -> [UInt8] {
        do throws(CryptoFailure) { return try stream.apply(to: message) } catch { throw .cryptoFailure }
    }
}
