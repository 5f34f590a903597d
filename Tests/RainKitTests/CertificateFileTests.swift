// SPDX-License-Identifier: Apache-2.0
import RainKit
import TestSupport
import Testing

@Suite("Files of certificates")
struct CertificateFileTests {
    /// The body of a certificate that `openssl req -x509` made, without its first and last line.
    private static let body = """
        MIIBcDCCARWgAwIBAgIUVv7+soe7zmJBXMmWWY4l6EIjg/UwCgYIKoZIzj0EAwIw
        DDEKMAgGA1UEAwwBYTAgFw0yNjExMjUxMjQ0NThaGA8yMTI2MTEwMTEyNDQ1OFow
        DDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABIh9SrgJpEJu
        KviL7gSpELSENissu34jtr9J7MFbnU9xhnw88ZXqIWvaSFS5ZtkGxET3DF2V2pnb
        TNNqKwcw6N+jUzBRMB0GA1UdDgQWBBTBBh9RmVKPpAO76bphpQXPR7nkmTAfBgNV
        HSMEGDAWgBTBBh9RmVKPpAO76bphpQXPR7nkmTAPBgNVHRMBAf8EBTADAQH/MAoG
        CCqGSM49BAMCA0kAMEYCIQClVDvD97NPqh1ytUk9lKgNl+sAndz32JUQ3aY9K9cw
        uAIhAKMxyoe8AWDT/UFnMc8VqlC35GrgVqfzu6FrQLQXSBa0
        """

    private static func pem(_ body: String, _ kind: String = "CERTIFICATE") -> String {
        "-----BEGIN \(kind)-----\n\(body)\n-----END \(kind)-----\n"
    }

    @Test(
        "a file without a certificate is refused with its cause",
        arguments: [
            ("", "is empty"), ("hello", "no certificate"), (pem("MAA=", "PRIVATE KEY"), "no certificate"),
            (pem("MAA=", "PRIVATE KEY"), "contains a private key (-----BEGIN PRIVATE KEY-----)"),
            (pem("MAA=", "CERTIFICATE REQUEST"), "contains a certificate request"),
            (pem(body) + pem("MA@="), "damaged certificate (number 2)"),
            (pem(String(body.dropLast(8))), "damaged certificate (number 1)"),
            (pem("MAA="), "damaged certificate (number 1)"), (pem("MA"), "damaged certificate (number 1)"),
            (pem(""), "damaged certificate (number 1)"),
            ("-----BEGIN CERTIFICATE-----\n\(body)\n", "in the middle of one"),
        ])
    func refused(text: String, words: String) async throws {
        try await withTemporaryFolder { folder in
            try folder.write(text, to: "ca.pem")
            let problem = CertificateFile.problem(folder.file("ca.pem"))
            #expect(problem?.contains(words) == true, "\(problem ?? "none")")
            #expect(CertificateFile.problem(folder.path)?.contains("folder") == true)
            #expect(CertificateFile.problem(folder.file("none"))?.contains("No such file") == true)
        }
    }

    @Test(
        "a file with certificates is accepted, whatever surrounds them",
        arguments: [
            pem(body), "# An authority\n" + pem(body).replacing("\n", with: "\r\n"), pem(body) + "\n" + pem(body),
            pem(body, "X509 CERTIFICATE"), pem(body, "TRUSTED CERTIFICATE"),
        ])
    func taken(text: String) async throws {
        try await withTemporaryFolder { folder in
            try folder.write(text, to: "ca.pem")
            #expect(CertificateFile.problem(folder.file("ca.pem")) == nil)
        }
    }
}
