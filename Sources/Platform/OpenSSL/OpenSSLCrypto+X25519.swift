// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import RainCrypto

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
            // libcrypto refuses to derive the zero secret of a low-order key. Nothing else can go wrong by now, and if it
            // does, the caller refuses zeros just the same.
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
