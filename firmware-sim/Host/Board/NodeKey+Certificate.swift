// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import DeviceCore
import Glibc
import RainCrypto
import RainCryptoOpenSSL

extension NodeKey {
    /// PKCS #10 as mbedtls writes it in the firmware: the common name and nothing else, signed with SHA-256.
    func certificateRequest(for nodeID: [UInt8]) throws(SignatureFailure) -> [UInt8] {
        guard let request = X509_REQ_new() else { throw SignatureFailure() }
        defer { X509_REQ_free(request) }
        let name = X509_REQ_get_subject_name(request)
        let isMade =
            X509_REQ_set_version(request, 0) == 1
            && X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, nodeID, Int32(nodeID.count), -1, 0) == 1
            && key.withPointer { X509_REQ_set_pubkey(request, $0) == 1 && X509_REQ_sign(request, $0, EVP_sha256()) > 0 }
        guard isMade, let output = BIO_new(BIO_s_mem()) else { throw SignatureFailure() }
        defer { BIO_free(output) }
        guard PEM_write_bio_X509_REQ(output, request) == 1 else { throw SignatureFailure() }
        return [UInt8](unsafeUninitializedCapacity: BIO_ctrl_pending(output)) { buffer, count in
            count = max(0, Int(BIO_read(output, buffer.baseAddress, Int32(buffer.count))))
        }
    }

    func accepts(certificate pem: [UInt8], for nodeID: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard let input = BIO_new_mem_buf(pem, Int32(pem.count)) else { return false }
        defer { BIO_free(input) }
        guard let certificate = PEM_read_bio_X509(input, nil, refusePassword, nil) else { return false }
        defer { X509_free(certificate) }
        guard key.withPointer({ X509_check_private_key(certificate, $0) }) == 1 else { return false }
        return commonName(of: X509_get_subject_name(certificate)) == nodeID
    }
}

/// The common name of a subject; nil where it has none, or one that is no node's.
func commonName(of subject: OpaquePointer?) -> [UInt8]? {
    var buffer = [CChar](repeating: 0, count: 256)
    let length = X509_NAME_get_text_by_NID(subject, NID_commonName, &buffer, Int32(buffer.count))
    guard length > 0 else { return nil }
    return buffer.prefix(Int(length)).map { UInt8(bitPattern: $0) }
}
