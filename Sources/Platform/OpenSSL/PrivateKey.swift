// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import RainCrypto

/// A P-256 or RSA private key. No part of it is ever printed.
///
/// `@unchecked` because libcrypto's key objects are immutable once made and count their references atomically.
public final class PrivateKey: @unchecked Sendable {
    /// The kinds of key that can be generated: an elliptic-curve key on P-256, or an RSA key of 2048 bits.
    public enum Kind: Sendable, Equatable { case p256, rsa2048 }

    let pointer: OpaquePointer

    /// Reads the first private key in PEM text. Keys under a pass phrase are refused.
    public init(pem: [UInt8]) throws(KeyError) {
        defer { ERR_clear_error() }
        let read = withReadingBIO(pem) { PEM_read_bio_PrivateKey($0, nil, refusePassword, nil) }
        guard let read else { throw .malformed }
        pointer = read
    }

    /// Generates a new key.
    public init(generating kind: Kind) throws(KeyError) {
        defer { ERR_clear_error() }
        let type = kind == .p256 ? EVP_PKEY_EC : EVP_PKEY_RSA
        guard let context = EVP_PKEY_CTX_new_id(type, nil) else { throw .cryptoFailure }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_keygen_init(context) == 1 else { throw .cryptoFailure }
        let configured =
            switch kind {
            case .p256: EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1)
            case .rsa2048: EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048)
            }
        var generated: OpaquePointer?
        guard configured == 1, EVP_PKEY_keygen(context, &generated) == 1 else { throw .cryptoFailure }
        guard let generated else { throw .cryptoFailure }
        pointer = generated
    }

    deinit { EVP_PKEY_free(pointer) }

    /// Whether it is an elliptic-curve key and not an RSA key, which decides the algorithms that it can sign with.
    public var isElliptic: Bool { EVP_PKEY_get_base_id(pointer) == EVP_PKEY_EC }

    /// The public key, in an object that does not hold the private key. Throws `cryptoFailure` if libcrypto fails.
    public var publicKey: PublicKey {
        get throws(KeyError) {
            // Exports the public key alone, so that the new object does not hold the private key.
            var length = i2d_PUBKEY(pointer, nil)
            guard length > 0 else { throw .cryptoFailure }
            let encoded = [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
                var cursor = buffer.baseAddress
                length = i2d_PUBKEY(pointer, &cursor)
                count = max(0, Int(length))
            }
            let decoded = encoded.withUnsafeBufferPointer { buffer in
                var cursor = buffer.baseAddress
                return d2i_PUBKEY(nil, &cursor, buffer.count)
            }
            guard let decoded else { throw .cryptoFailure }
            return PublicKey(owning: decoded)
        }
    }

    /// A `PRIVATE KEY` block (PKCS #8, unencrypted), only for files of mode 0600.
    public var pem: [UInt8] { writePEM { PEM_write_bio_PrivateKey($0, pointer, nil, nil, 0, nil, nil) } }

    /// Calls `body` with libcrypto's own object, for certificates and the like.
    public func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result { body(pointer) }

    /// Returns the signature over the SHA-256 of `message`, in the algorithm's form.
    ///
    /// Throws if the algorithm is for another kind of key, and if libcrypto fails.
    public func sign(_ message: [UInt8], algorithm: SignatureAlgorithm) throws(SignatureFailure) -> [UInt8] {
        guard algorithm.fits(pointer), let context = EVP_MD_CTX_new() else { throw SignatureFailure() }
        defer { EVP_MD_CTX_free(context) }
        var keyContext: OpaquePointer?
        guard EVP_DigestSignInit(context, &keyContext, EVP_sha256(), nil, pointer) == 1,
            algorithm.configure(keyContext, toSign: true)
        else { throw SignatureFailure() }
        var length = Int(EVP_PKEY_get_size(pointer))
        var signature = [UInt8](repeating: 0, count: length)
        guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else {
            throw SignatureFailure()
        }
        signature.removeLast(signature.count - length)
        guard let result = algorithm.signatureFromOpenSSL(signature) else { throw SignatureFailure() }
        return result
    }

    /// Returns a signer that uses this key with that algorithm. If the algorithm is for another kind of key, signing throws.
    public func signer(_ algorithm: SignatureAlgorithm) -> some MessageSigner {
        Signer(key: self, algorithm: algorithm)
    }

    private struct Signer: MessageSigner {
        let key: PrivateKey
        let algorithm: SignatureAlgorithm
        func sign(_ message: [UInt8]) throws(SignatureFailure) -> [UInt8] {
            try key.sign(message, algorithm: algorithm)
        }
    }
}

/// Why bytes are not a key.
public enum KeyError: Error, Equatable, Sendable {
    /// Not PEM, not a P-256 or RSA key, or under a pass phrase.
    case malformed
    /// libcrypto failed.
    case cryptoFailure
}

extension PrivateKey {
    /// Returns a certificate request (PKCS #10, in PEM) as mbedtls writes it in the firmware: only the common name, signed with SHA-256.
    public func certificateRequest(commonName: [UInt8]) throws(SignatureFailure) -> [UInt8] {
        defer { ERR_clear_error() }
        guard let request = X509_REQ_new() else { throw SignatureFailure() }
        defer { X509_REQ_free(request) }
        let name = X509_REQ_get_subject_name(request)
        let isMade =
            X509_REQ_set_version(request, 0) == 1
            && X509_NAME_add_entry_by_NID(
                name, NID_commonName, MBSTRING_UTF8, commonName, Int32(clamping: commonName.count), -1, 0) == 1
            && X509_REQ_set_pubkey(request, pointer) == 1 && X509_REQ_sign(request, pointer, EVP_sha256()) > 0
        let text = isMade ? writePEM { PEM_write_bio_X509_REQ($0, request) } : []
        guard !text.isEmpty else { throw SignatureFailure() }
        return text
    }
}
