// SPDX-License-Identifier: Apache-2.0
import RainCore
import Testing

@Suite("The content of PEM files")
struct PEMContentTests {
    private static func pem(_ labels: String...) -> String {
        labels.map { "-----BEGIN \($0)-----\nMAA=\n-----END \($0)-----\n" }.joined()
    }

    @Test(
        "a file with another kind of block is described by that block",
        arguments: [
            ("", PEMContent.Kind.certificate, "is empty"),
            ("0\u{82}", .certificate, "is not in PEM form: it has no line that begins with -----BEGIN"),
            (
                pem("CERTIFICATE REQUEST"), .certificate,
                "contains a certificate request (-----BEGIN CERTIFICATE REQUEST-----), but no certificate"
            ),
            (
                pem("EC PARAMETERS", "EC PRIVATE KEY"), .certificate,
                "contains something else (-----BEGIN EC PARAMETERS-----), but no certificate"
            ),
            (
                pem("CERTIFICATE"), .privateKey,
                "contains a certificate (-----BEGIN CERTIFICATE-----), but no private key"
            ),
            (
                pem("PUBLIC KEY"), .privateKey,
                "contains a public key (-----BEGIN PUBLIC KEY-----), but no private key"
            ),
            (pem("CERTIFICATE", "PRIVATE KEY"), .certificate, nil),
            (pem("CERTIFICATE", "RSA PRIVATE KEY"), .privateKey, nil),
            (pem("ENCRYPTED PRIVATE KEY"), .privateKey, nil),
            ("# ca\r\n" + pem("TRUSTED CERTIFICATE").replacing("\n", with: "\r\n"), .certificate, nil),
        ] as [(String, PEMContent.Kind, String?)])
    func problem(text: String, kind: PEMContent.Kind, problem: String?) {
        #expect(PEMContent(Array(text.utf8)).problem(expecting: kind) == problem)
    }
}
