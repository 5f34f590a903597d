// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL

/// Calls `body` with a libcrypto source that reads `bytes`.
func withReadingBIO<Result>(_ bytes: [UInt8], _ body: (OpaquePointer) -> Result?) -> Result? {
    bytes.withUnsafeBytes { buffer in
        guard let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else { return nil }
        defer { BIO_free(bio) }
        return body(bio)
    }
}

/// Returns the bytes that `body` writes; empty if libcrypto is out of memory.
func writePEM(_ body: (OpaquePointer) -> Int32) -> [UInt8] {
    guard let bio = BIO_new(BIO_s_secmem()) else { return [] }
    defer { BIO_free(bio) }
    guard body(bio) == 1 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: BIO_ctrl_pending(bio)) { buffer, count in
        count = max(0, Int(BIO_read(bio, buffer.baseAddress, Int32(clamping: buffer.count))))
    }
}

/// The password callback of every `PEM_read_bio_…`. Without it, libcrypto would ask for a pass phrase on the terminal or on standard input,
/// and the reading thread would wait.
package func refusePassword(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ writing: Int32, _ context: UnsafeMutableRawPointer?
) -> Int32 { -1 }

/// Certificates of certificate authorities in PEM form, one after another.
package enum CertificateBundle {
    /// Reads certificates as OpenSSL reads a file of authorities (`X509_load_cert_crl_file`), where one damaged certificate makes the file
    /// unusable.
    ///
    /// - Returns: how many certificates were read, and whether the next one is damaged or incomplete.
    package static func read(_ pem: [UInt8]) -> (count: Int, endsDamaged: Bool) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        return withReadingBIO(pem) { bio in
            var count = 0
            while let certificate = PEM_read_bio_X509_AUX(bio, nil, refusePassword, nil) {
                X509_free(certificate)
                count += 1
            }
            // This error means that the text has no further certificates.
            return (count, ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
        } ?? (0, true)
    }
}
