// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import RainCrypto

extension OpenSSLCrypto {
    private static var tagLength: Int { 16 }

    public static func aes256CounterMode(
        _ message: [UInt8], key: KeyMaterial, counterBlock: [UInt8], skipping offset: Int
    ) throws(CryptoFailure) -> [UInt8] {
        guard key.count == 32, counterBlock.count == 16, (0..<16).contains(offset) else { throw CryptoFailure() }
        return try withContext { context throws(CryptoFailure) in
            guard initialize(context, EVP_aes_256_ctr(), key, counterBlock, encrypting: true) else {
                throw CryptoFailure()
            }
            var skipped = [UInt8](repeating: 0, count: offset)
            guard try update(context, &skipped, from: [UInt8](repeating: 0, count: offset)) == offset else {
                throw CryptoFailure()
            }
            var result = [UInt8](repeating: 0, count: message.count)
            guard try update(context, &result, from: message) == message.count else { throw CryptoFailure() }
            return result
        }
    }

    public static func aes256GCMSeal(
        _ plaintext: [UInt8], key: KeyMaterial, nonce: [UInt8]
    ) throws(CryptoFailure) -> [UInt8] {
        try withContext { context throws(CryptoFailure) in
            try startGCM(context, key, nonce, encrypting: true)
            var sealed = [UInt8](repeating: 0, count: plaintext.count + tagLength)
            guard try update(context, &sealed, from: plaintext) == plaintext.count else { throw CryptoFailure() }
            let isSealed = sealed.withUnsafeMutableBufferPointer { buffer in
                let tag = buffer.baseAddress! + plaintext.count
                var length: Int32 = 0
                return EVP_CipherFinal_ex(context, tag, &length) == 1 && length == 0
                    && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), tag) == 1
            }
            guard isSealed else { throw CryptoFailure() }
            return sealed
        }
    }

    public static func aes256GCMOpen(
        _ sealed: [UInt8], key: KeyMaterial, nonce: [UInt8]
    ) throws(CryptoFailure) -> [UInt8]? {
        guard sealed.count >= tagLength else { return nil }
        return try withContext { context throws(CryptoFailure) in
            try startGCM(context, key, nonce, encrypting: false)
            let ciphertext = Array(sealed.dropLast(tagLength))
            var tag = Array(sealed.suffix(tagLength))
            var plaintext = [UInt8](repeating: 0, count: ciphertext.count)
            guard try update(context, &plaintext, from: ciphertext) == ciphertext.count,
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), &tag) == 1
            else { throw CryptoFailure() }
            // Nothing is left to write, but libcrypto wants somewhere to write it.
            var rest = [UInt8](repeating: 0, count: tagLength)
            var length: Int32 = 0
            guard EVP_CipherFinal_ex(context, &rest, &length) == 1 else {
                ERR_clear_error()
                return nil
            }
            return plaintext
        }
    }

    private static func startGCM(
        _ context: OpaquePointer, _ key: KeyMaterial, _ nonce: [UInt8], encrypting: Bool
    ) throws(CryptoFailure) {
        guard key.count == 32, !nonce.isEmpty,
            EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nil, nil, nil, encrypting ? 1 : 0) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonce.count), nil) == 1,
            initialize(context, nil, key, nonce, encrypting: encrypting)
        else { throw CryptoFailure() }
    }

    private static func initialize(
        _ context: OpaquePointer, _ cipher: OpaquePointer?, _ key: KeyMaterial, _ nonce: [UInt8], encrypting: Bool
    ) -> Bool {
        key.withBytes { EVP_CipherInit_ex(context, cipher, nil, $0.baseAddress, nonce, encrypting ? 1 : 0) == 1 }
    }

    private static func update(
        _ context: OpaquePointer, _ output: inout [UInt8], from input: [UInt8]
    ) throws(CryptoFailure) -> Int {
        guard let count = Int32(exactly: input.count) else { throw CryptoFailure() }
        guard count > 0 else { return 0 }
        var length: Int32 = 0
        guard EVP_CipherUpdate(context, &output, &length, input, count) == 1 else { throw CryptoFailure() }
        return Int(length)
    }

    /// Freeing the context also clears the key schedule in it.
    private static func withContext<Result>(
        _ body: (OpaquePointer) throws(CryptoFailure) -> Result
    ) throws(CryptoFailure) -> Result {
        guard let context = EVP_CIPHER_CTX_new() else { throw CryptoFailure() }
        defer { EVP_CIPHER_CTX_free(context) }
        return try body(context)
    }
}
