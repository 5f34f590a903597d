// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import RainCrypto

/// A P-256 or RSA public key.
///
/// `@unchecked` because libcrypto's key objects are immutable once made and count their references atomically.
public final class PublicKey: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over one reference.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// The subject's key of the first `CERTIFICATE`, or the first `PUBLIC KEY`, in PEM text.
    public init(pem: [UInt8]) throws(KeyError) {
        guard let pointer = Self.read(pem) else { throw .malformed }
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }

    /// A `PUBLIC KEY` block (SubjectPublicKeyInfo).
    public var pem: [UInt8] { writePEM { PEM_write_bio_PUBKEY($0, pointer) } }

    /// Lends libcrypto's own object, for certificates and the like.
    public func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result { body(pointer) }

    /// Whether this key's owner made the signature over this very message. False, too, where the algorithm is for another kind of key.
    public func isValid(_ signature: [UInt8], for message: [UInt8], algorithm: SignatureAlgorithm) -> Bool {
        guard algorithm.fits(pointer) else { return false }
        guard let signature = algorithm.signatureForOpenSSL(signature) else { return false }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        var keyContext: OpaquePointer?
        guard EVP_DigestVerifyInit(context, &keyContext, EVP_sha256(), nil, pointer) == 1,
            algorithm.configure(keyContext, toSign: false)
        else { return false }
        defer { ERR_clear_error() }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    /// A verifier that uses this key with that algorithm. If the algorithm is for another kind of key, no signature is valid.
    public func verifier(_ algorithm: SignatureAlgorithm) -> some SignatureVerifier {
        Verifier(key: self, algorithm: algorithm)
    }

    private struct Verifier: SignatureVerifier {
        let key: PublicKey
        let algorithm: SignatureAlgorithm
        func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
            key.isValid(signature, for: message, algorithm: algorithm)
        }
    }

    private static func read(_ pem: [UInt8]) -> OpaquePointer? {
        defer { ERR_clear_error() }
        let certificate = withReadingBIO(pem) { PEM_read_bio_X509($0, nil, refusePassword, nil) }
        if let certificate {
            defer { X509_free(certificate) }
            return X509_get_pubkey(certificate)
        }
        return withReadingBIO(pem) { PEM_read_bio_PUBKEY($0, nil, refusePassword, nil) }
    }
}
