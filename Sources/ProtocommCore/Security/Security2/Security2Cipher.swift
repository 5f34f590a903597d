// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The messages of a Security 2 session: AES-256-GCM, each message followed by a tag of 16 bytes.
///
/// Under patch version 1 the ends count their messages together: after a request whose answer was lost, the next request
/// would be encrypted under the nonce of that answer. Such a session must end. Use one value for the whole session.
public struct Security2Cipher<Suite: CryptoSuite>: SessionCipher {
    static var tagLength: Int { 16 }

    private let key: KeyMaterial
    private let isCounted: Bool
    private var nonce: [UInt8]
    private var isExhausted = false

    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - nonce: as the board named it; its last four bytes are the counter under patch version 1.
    init(key: KeyMaterial, nonce: [UInt8], patchVersion: Security2PatchVersion) {
        self.key = key
        self.nonce = nonce
        isCounted = patchVersion == .countedNonce
    }

    public mutating func encrypt(_ plaintext: [UInt8]) throws(CipherError) -> [UInt8] {
        guard !plaintext.isEmpty else { throw .emptyPlaintext }
        guard !isExhausted else { throw .nonceExhausted }
        let sealed: [UInt8]
        do throws(CryptoFailure) {
            sealed = try Suite.aes256GCMSeal(plaintext, key: key, nonce: nonce)
        } catch { throw .cryptoFailure }
        advance()
        return sealed
    }

    /// A message that does not decrypt leaves the counter where it is, as on the board.
    public mutating func decrypt(_ ciphertext: [UInt8]) throws(CipherError) -> [UInt8] {
        guard ciphertext.count > Self.tagLength else { throw .tooShort }
        guard !isExhausted else { throw .nonceExhausted }
        let opened: [UInt8]?
        do throws(CryptoFailure) {
            opened = try Suite.aes256GCMOpen(ciphertext, key: key, nonce: nonce)
        } catch { throw .cryptoFailure }
        guard let opened else { throw .authenticationFailed }
        advance()
        return opened
    }

    private mutating func advance() {
        guard isCounted else { return }
        var index = nonce.count
        while index > nonce.count - 4 {
            index -= 1
            nonce[index] &+= 1
            if nonce[index] != 0 { return }
        }
        // The counter is back at zero: a further message would repeat a nonce sooner or later.
        isExhausted = true
    }
}
