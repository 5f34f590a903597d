// SPDX-License-Identifier: Apache-2.0
import RainKit
import TestSupport
import Testing

@Suite("Files of certificates")
struct CertificateFileTests {
    /// `MAA=` is an empty ASN.1 sequence.
    private static func pem(_ base64: String) -> String {
        "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
    }

    @Test(
        "a file without a certificate is refused with its cause",
        arguments: [
            ("", "is empty"), ("hello", "no certificate"), ("-----BEGIN PRIVATE KEY-----\n", "no certificate"),
            (pem("MAA=") + pem("MA@="), "damaged certificate (number 2)"),
            (pem("MAI="), "damaged certificate (number 1)"),
            (pem("MA"), "damaged certificate (number 1)"), (pem("BAA="), "damaged certificate (number 1)"),
            (pem(""), "damaged certificate (number 1)"),
            ("-----BEGIN CERTIFICATE-----\nMAA=\n", "in the middle of a certificate (number 1)"),
        ])
    func refused(text: String, words: String) async throws {
        try await withTemporaryFolder { folder in
            try folder.write(text, to: "ca.pem")
            #expect(CertificateFile.problem(folder.file("ca.pem"))?.contains(words) == true)
            #expect(CertificateFile.problem(folder.path)?.contains("folder") == true)
            #expect(CertificateFile.problem(folder.file("none"))?.contains("No such file") == true)
        }
    }

    @Test("a file with one is taken, whatever is before it")
    func taken() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(
                "# An authority\n-----BEGIN CERTIFICATE-----\nMA A=\r\n-----END CERTIFICATE-----\n", to: "ca.pem")
            #expect(CertificateFile.problem(folder.file("ca.pem")) == nil)
        }
    }
}
