// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import RainCrypto

/// A P-256 or RSA public key.
///
/// `@unchecked` because libcrypto's key objects are immutable once made and count their references atomically.
public final class PublicKey: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes ownership of one reference.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Reads the first `CERTIFICATE` (its subject's key) or the first `PUBLIC KEY` in PEM text.
    public init(pem: [UInt8]) throws(KeyError) {
        guard let pointer = Self.read(pem) else { throw .malformed }
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }

    /// A `PUBLIC KEY` block (SubjectPublicKeyInfo).
    public var pem: [UInt8] { writePEM { PEM_write_bio_PUBKEY($0, pointer) } }

    /// Calls `body` with libcrypto's own object, for certificates and the like.
    public func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result { body(pointer) }

    /// Whether this key's owner made the signature over exactly this message. False if the algorithm is for another kind of key.
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

    /// Returns a verifier that uses this key with that algorithm. If the algorithm is for another kind of key, no signature is valid.
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

extension PublicKey {
    /// In bits. Shorter keys are not safe (RFC 7518, section 3.3). Longer keys take a client more time than any provider's keys do.
    private static let modulusSizes = 2048...8192

    /// Returns nil for numbers that are not a key: a short or even modulus, or a point that is not on the curve.
    convenience init?(_ numbers: PublicKeyNumbers) {
        defer { ERR_clear_error() }
        let encoded: [UInt8]
        switch numbers {
        case .rsa(let modulus, let exponent):
            let modulus = Array(modulus.drop { $0 == 0 })
            let exponent = Array(exponent.drop { $0 == 0 })
            // libcrypto has no time limit for calculations with long exponents.
            guard let first = modulus.first, let last = modulus.last, last & 1 == 1,
                Self.modulusSizes.contains(modulus.count * 8 - first.leadingZeroBitCount),
                (1...8).contains(exponent.count), exponent != [1], exponent.last.map({ $0 & 1 }) == 1
            else { return nil }
            encoded = DER.rsaPublicKey(modulus: modulus, exponent: exponent)
        case .p256(let x, let y):
            guard x.count == 32, y.count == 32 else { return nil }
            encoded = DER.p256PublicKey(x: x, y: y)
        }
        let read = encoded.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_PUBKEY(nil, &cursor, buffer.count)
        }
        guard let read else { return nil }
        self.init(owning: read)
    }
}

/// SubjectPublicKeyInfo (RFC 5280, section 4.1), from which libcrypto reads and checks keys.
private enum DER {
    static func rsaPublicKey(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
        // rsaEncryption (1.2.840.113549.1.1.1) with NULL parameters.
        let algorithm: [UInt8] = [
            0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
        ]
        let key = sequence(integer(modulus) + integer(exponent))
        return sequence(algorithm + item(0x03, [0] + key))
    }

    static func p256PublicKey(x: [UInt8], y: [UInt8]) -> [UInt8] {
        // id-ecPublicKey (1.2.840.10045.2.1) on prime256v1 (1.2.840.10045.3.1.7).
        let algorithm: [UInt8] = [
            0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D,
            0x03, 0x01, 0x07,
        ]
        return sequence(algorithm + item(0x03, [0, 0x04] + x + y))
    }

    private static func sequence(_ content: [UInt8]) -> [UInt8] { item(0x30, content) }

    /// The number is positive, so a set first bit gets a zero byte before it.
    private static func integer(_ number: [UInt8]) -> [UInt8] {
        item(0x02, (number.first ?? 0) >= 0x80 ? [0] + number : number)
    }

    private static func item(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            count < 0x80
            ? [UInt8(count)]
            : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
        return [tag] + length + content
    }
}
