// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL

/// Certificates of authorities in PEM form, one after another.
package enum CertificateBundle {
    /// Reads them as OpenSSL reads a file of authorities (`X509_load_cert_crl_file`), for which one damaged certificate spoils the file.
    ///
    /// - Returns: how many certificates were read, and whether the next one is damaged or cut short.
    package static func read(_ pem: [UInt8]) -> (count: Int, endsDamaged: Bool) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        return withReadingBIO(pem) { bio in
            var count = 0
            while let certificate = PEM_read_bio_X509_AUX(bio, nil, refusePassword, nil) {
                X509_free(certificate)
                count += 1
            }
            // No further beginning of a certificate is the end of the text.
            return (count, ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
        } ?? (0, true)
    }
}
