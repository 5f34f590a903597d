// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import RainCryptoOpenSSL

/// A PKCS #10 request whose signature its own key made.
struct CertificateRequest {
    var commonName: String
    var key: PublicKey
    var isElliptic: Bool

    /// More than any P-256 or RSA-2048 request takes.
    static let maximumBytes = 4096

    init(pem: String) throws(ClaimRefusal) {
        let malformed = ClaimRefusal("CSR is invalid")
        let text = Array(pem.utf8)
        guard text.count <= Self.maximumBytes else { throw malformed }
        defer { ERR_clear_error() }
        guard let input = BIO_new_mem_buf(text, Int32(text.count)) else { throw malformed }
        defer { BIO_free(input) }
        guard let request = PEM_read_bio_X509_REQ(input, nil, refusePassword, nil) else { throw malformed }
        defer { X509_REQ_free(request) }
        guard let key = X509_REQ_get0_pubkey(request), X509_REQ_verify(request, key) == 1 else { throw malformed }
        switch (EVP_PKEY_get_base_id(key), EVP_PKEY_get_bits(key)) {
        case (EVP_PKEY_EC, 256): isElliptic = true
        case (EVP_PKEY_RSA, 2048...4096): isElliptic = false
        default: throw ClaimRefusal("Key of the CSR is invalid")
        }
        var name = [CChar](repeating: 0, count: 128)
        let length = X509_NAME_get_text_by_NID(
            X509_REQ_get_subject_name(request), NID_commonName, &name, Int32(name.count))
        guard length > 0 else { throw malformed }
        commonName = String(decoding: name.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let publicKey = Self.publicKey(of: key) else { throw malformed }
        self.key = publicKey
    }

    private static func publicKey(of key: OpaquePointer) -> PublicKey? {
        guard let output = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(output) }
        guard PEM_write_bio_PUBKEY(output, key) == 1 else { return nil }
        let pem = [UInt8](unsafeUninitializedCapacity: BIO_ctrl_pending(output)) { buffer, count in
            count = max(0, Int(BIO_read(output, buffer.baseAddress, Int32(buffer.count))))
        }
        return try? PublicKey(pem: pem)
    }
}
