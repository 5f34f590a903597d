// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import RainCrypto

extension PrivateKey {
    /// A request for a certificate (PKCS #10, in PEM) as mbedtls writes it in the firmware: the common name and nothing else, signed with
    /// SHA-256.
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
