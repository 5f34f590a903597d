// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import RainCrypto

/// The cryptography of the security schemes, by libcrypto.
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
            // There is nothing left to write, but libcrypto requires a buffer.
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

extension OpenSSLCrypto {
    public static func power(
        _ base: KeyMaterial, _ exponent: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial {
        try modular(base, exponent, modulus) { result, base, exponent, modulus, context in
            BN_mod_exp_mont_consttime(result, base, exponent, modulus, context, nil)
        }
    }

    public static func multiply(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial {
        try modular(left, right, modulus) { BN_mod_mul($0, $1, $2, $3, $4) }
    }

    public static func add(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial {
        try modular(left, right, modulus) { BN_mod_add($0, $1, $2, $3, $4) }
    }

    public static func subtract(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial {
        try modular(left, right, modulus) { BN_mod_sub($0, $1, $2, $3, $4) }
    }

    public static func multiplyAdd(
        _ factor: KeyMaterial, _ other: KeyMaterial, _ summand: KeyMaterial
    ) throws(CryptoFailure) -> KeyMaterial {
        let result = try SecretNumber()
        let factorNumber = try SecretNumber(factor)
        let otherNumber = try SecretNumber(other)
        let summandNumber = try SecretNumber(summand)
        guard let context = BN_CTX_new() else { throw CryptoFailure() }
        defer { BN_CTX_free(context) }
        guard BN_mul(result.pointer, factorNumber.pointer, otherNumber.pointer, context) == 1,
            BN_add(result.pointer, result.pointer, summandNumber.pointer) == 1
        else { throw CryptoFailure() }
        return try result.bytes(count: max(factor.count + other.count, summand.count) + 1)
    }

    private typealias Operation = (
        OpaquePointer, OpaquePointer, OpaquePointer, OpaquePointer, OpaquePointer
    ) -> Int32

    private static func modular(
        _ left: KeyMaterial, _ right: KeyMaterial, _ modulus: [UInt8], _ operation: Operation
    ) throws(CryptoFailure) -> KeyMaterial {
        let result = try SecretNumber()
        let leftNumber = try SecretNumber(left)
        let rightNumber = try SecretNumber(right)
        let modulusNumber = try SecretNumber(KeyMaterial(modulus))
        // The context's scratch numbers hold intermediate secrets; freeing the context clears them.
        guard let context = BN_CTX_secure_new() else { throw CryptoFailure() }
        defer { BN_CTX_free(context) }
        guard
            operation(
                result.pointer, leftNumber.pointer, rightNumber.pointer, modulusNumber.pointer, context) == 1
        else { throw CryptoFailure() }
        return try result.bytes(count: modulus.count)
    }
}

/// A number of libcrypto that is cleared when it is released.
private struct SecretNumber: ~Copyable {
    let pointer: OpaquePointer

    init() throws(CryptoFailure) {
        guard let pointer = BN_new() else { throw CryptoFailure() }
        self.pointer = pointer
    }

    init(_ bytes: KeyMaterial) throws(CryptoFailure) {
        let number = bytes.withBytes { BN_bin2bn($0.baseAddress, Int32($0.count), nil) }
        guard let number else { throw CryptoFailure() }
        BN_set_flags(number, BN_FLG_CONSTTIME)
        pointer = number
    }

    deinit { BN_clear_free(pointer) }

    borrowing func bytes(count: Int) throws(CryptoFailure) -> KeyMaterial {
        let pointer = self.pointer
        return try KeyMaterial(count: count) { buffer throws(CryptoFailure) in
            guard BN_bn2binpad(pointer, buffer.baseAddress, Int32(count)) == count else { throw CryptoFailure() }
        }
    }
}

extension OpenSSLCrypto {
    public static func x25519PublicKey(_ privateKey: KeyMaterial) throws(CryptoFailure) -> [UInt8] {
        let key = try loadPrivateKey(privateKey)
        defer { EVP_PKEY_free(key) }
        var publicKey = [UInt8](repeating: 0, count: 32)
        var length = publicKey.count
        guard EVP_PKEY_get_raw_public_key(key, &publicKey, &length) == 1, length == 32 else { throw CryptoFailure() }
        return publicKey
    }

    public static func x25519SharedSecret(
        privateKey: KeyMaterial, publicKey: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial {
        defer { ERR_clear_error() }
        let key = try loadPrivateKey(privateKey)
        defer { EVP_PKEY_free(key) }
        guard publicKey.count == 32, let peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, publicKey, 32)
        else { throw CryptoFailure() }
        defer { EVP_PKEY_free(peer) }
        guard let context = EVP_PKEY_CTX_new(key, nil) else { throw CryptoFailure() }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, peer) == 1 else {
            throw CryptoFailure()
        }
        return KeyMaterial(count: 32) { buffer in
            var length = buffer.count
            // libcrypto refuses to derive the zero secret of a low-order key. No other failure is expected here. If there is one, the
            // caller refuses zeros anyway.
            if EVP_PKEY_derive(context, buffer.baseAddress, &length) != 1 || length != 32 {
                buffer.update(repeating: 0)
            }
        }
    }

    private static func loadPrivateKey(_ privateKey: KeyMaterial) throws(CryptoFailure) -> OpaquePointer {
        let key = privateKey.withBytes { EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nil, $0.baseAddress, $0.count) }
        guard let key else { throw CryptoFailure() }
        return key
    }
}

extension OpenSSLCrypto: PublicKeySignatures {
    public static func isValid(
        _ signature: [UInt8], for message: [UInt8], by key: PublicKeyNumbers, as scheme: SignatureScheme
    ) -> Bool {
        guard let key = PublicKey(key) else { return false }
        let algorithm: SignatureAlgorithm =
            switch scheme {
            case .rs256: .rsaPKCS1
            case .es256: .ecdsaFixedLength
            case .ps256: .rsaPSSFixedSalt
            }
        return key.isValid(signature, for: message, algorithm: algorithm)
    }
}

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

    /// Returns the 20 bytes of the SHA-1 digest. Only for protocols that require it without relying on its security, such as WebSocket (RFC
    /// 6455, 1.3).
    public static func sha1(_ message: [UInt8]) -> [UInt8] {
        message.withUnsafeBufferPointer { message in
            [UInt8](unsafeUninitializedCapacity: 20) { digest, count in
                hash(message, into: UnsafeMutableBufferPointer(rebasing: digest[..<20]), with: EVP_sha1())
                count = 20
            }
        }
    }

    /// Returns the 16 bytes of the MD5 digest. Only to find damaged files, never against an attacker.
    public static func md5(_ message: [UInt8]) -> [UInt8] {
        message.withUnsafeBufferPointer { message in
            [UInt8](unsafeUninitializedCapacity: 16) { digest, count in
                hash(message, into: UnsafeMutableBufferPointer(rebasing: digest[..<16]), with: EVP_md5())
                count = 16
            }
        }
    }

    private static func hash(
        _ message: UnsafeBufferPointer<UInt8>, into digest: UnsafeMutableBufferPointer<UInt8>,
        with function: OpaquePointer?
    ) {
        precondition(digest.count == Int(EVP_MD_get_size(function)), "the digest buffer has the wrong size")
        guard EVP_Digest(message.baseAddress, message.count, digest.baseAddress, nil, function, nil) == 1 else {
            fatalError("libcrypto cannot hash: it is out of memory")
        }
    }
}

/// When libcrypto frees its state.
package enum OpenSSLState {
    /// Keeps the state when the process ends, because threads may still use it then (OPENSSL_init_crypto(3), `OPENSSL_INIT_NO_ATEXIT`). It
    /// has no effect if another library of the process was first.
    package static func keepAtExit() { _ = OPENSSL_init_crypto(0x0008_0000, nil) }
}

/// Random bytes from libcrypto, which takes its entropy from the kernel.
public struct OpenSSLRandom: RandomSource {
    public init() {}

    public mutating func fill(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        guard RAND_bytes(buffer.baseAddress, Int32(buffer.count)) == 1 else {
            fatalError("libcrypto could not generate random bytes")
        }
    }
}
