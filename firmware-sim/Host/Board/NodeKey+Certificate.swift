// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import DeviceCore
import Glibc
import RainCrypto
import RainCryptoOpenSSL

extension NodeKey {
    func certificateRequest(for nodeID: [UInt8]) throws(SignatureFailure) -> [UInt8] {
        try key.certificateRequest(commonName: nodeID)
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
