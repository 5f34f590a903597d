// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL

/// A signature algorithm. All hash with SHA-256.
public enum SignatureAlgorithm: Sendable, Equatable {
    /// ECDSA on P-256, ASN.1 DER: the algorithm of a RainMaker node's answer to a challenge.
    case ecdsa
    /// ECDSA on P-256 as r and s of 32 bytes each: `ES256` of RFC 7518.
    case ecdsaFixedLength
    /// RSASSA-PSS, MGF1 with SHA-256; signs with a salt of 32 bytes, accepts any salt: the algorithm of an RSA node's answer.
    case rsaPSS
    /// RSASSA-PSS with a salt of exactly 32 bytes: `PS256` of RFC 7518.
    case rsaPSSFixedSalt
    /// RSASSA-PKCS1-v1_5: `RS256` of RFC 7518.
    case rsaPKCS1

    func fits(_ key: OpaquePointer) -> Bool {
        let kind = EVP_PKEY_get_base_id(key)
        return switch self {
        case .ecdsa, .ecdsaFixedLength: kind == EVP_PKEY_EC && EVP_PKEY_get_bits(key) == 256
        case .rsaPSS, .rsaPSSFixedSalt, .rsaPKCS1: kind == EVP_PKEY_RSA
        }
    }

    /// Sets the padding on a context that `EVP_Digest{Sign,Verify}Init` made.
    func configure(_ context: OpaquePointer?, toSign: Bool) -> Bool {
        switch self {
        case .ecdsa, .ecdsaFixedLength: true
        case .rsaPKCS1: EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
        case .rsaPSS, .rsaPSSFixedSalt:
            EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
                && EVP_PKEY_CTX_set_rsa_pss_saltlen(
                    context, toSign || self == .rsaPSSFixedSalt ? RSA_PSS_SALTLEN_DIGEST : RSA_PSS_SALTLEN_AUTO) == 1
        }
    }

    /// libcrypto writes DER; this converts it to the fixed-length form.
    func signatureFromOpenSSL(_ signature: [UInt8]) -> [UInt8]? {
        guard self == .ecdsaFixedLength else { return signature }
        let parsed = signature.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_ECDSA_SIG(nil, &cursor, buffer.count)
        }
        guard let parsed else { return nil }
        defer { ECDSA_SIG_free(parsed) }
        var fixed = [UInt8](repeating: 0, count: 64)
        let written = fixed.withUnsafeMutableBufferPointer { buffer in
            BN_bn2binpad(ECDSA_SIG_get0_r(parsed), buffer.baseAddress, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(parsed), buffer.baseAddress! + 32, 32) == 32
        }
        return written ? fixed : nil
    }

    func signatureForOpenSSL(_ signature: [UInt8]) -> [UInt8]? {
        guard self == .ecdsaFixedLength else { return signature }
        guard signature.count == 64, let parsed = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(parsed) }
        let r = BN_bin2bn(signature, 32, nil)
        let s = signature.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress! + 32, 32, nil) }
        // From here on the signature owns both numbers.
        guard ECDSA_SIG_set0(parsed, r, s) == 1 else { return nil }
        let length = i2d_ECDSA_SIG(parsed, nil)
        guard length > 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
            var cursor = buffer.baseAddress
            count = Int(i2d_ECDSA_SIG(parsed, &cursor))
        }
    }
}
