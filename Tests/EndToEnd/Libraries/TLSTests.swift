// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainHTTPCurl
import TestSupport
import Testing

/// The counterpart is `openssl s_server`, with certificates that the `openssl` command makes.
@Suite("Certificates")
struct TLSTests {
    @Test("a certificate of the given authority for this address is accepted")
    func accepted() async throws {
        let error = try await exchange(with: ServerCertificate(names: "IP:127.0.0.1"), trusting: true)
        #expect(error == nil)
    }

    @Test("a certificate of an unknown authority is refused")
    func unknownAuthority() async throws {
        let error = try await exchange(with: ServerCertificate(names: "IP:127.0.0.1"), trusting: false)
        #expect(error?.code == .tls)
        #expect(error?.message.contains("certificate") == true)
    }

    @Test("a certificate for another name is refused", arguments: ["DNS:other.example", "IP:127.0.0.2"])
    func wrongName(names: String) async throws {
        #expect(try await exchange(with: ServerCertificate(names: names), trusting: true)?.code == .tls)
    }

    @Test("an expired certificate is refused")
    func expired() async throws {
        let error = try await exchange(with: ServerCertificate(names: "IP:127.0.0.1", days: -1), trusting: true)
        #expect(error?.code == .tls)
    }

    private func exchange(with certificate: ServerCertificate, trusting: Bool) async throws -> HTTPError? {
        try await withTemporaryFolder { folder in
            try await certificate.issue(in: folder)
            let arguments = [
                "s_server", "-accept", "127.0.0.1:0", "-cert", folder.file("server.pem"), "-key",
                folder.file("server.key"), "-www",
            ]
            return try await withChildProcess("openssl", arguments, input: .open) { server in
                var port = ""
                while let line = try await server.line() {
                    guard line.hasPrefix("ACCEPT ") else { continue }
                    port = String(line.split(separator: ":").last ?? "")
                    break
                }
                let client = CurlHTTPClient(
                    CurlConfiguration(certificateAuthorities: trusting ? folder.file("ca.pem") : nil))
                return await client.failure(HTTPRequest(method: .get, url: "https://127.0.0.1:\(port)/"))
            }
        }
    }
}
