// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainHTTPCurl
import TestSupport
import Testing

/// The counterpart is `openssl s_server`, with certificates that the `openssl` command makes.
@Suite("Certificates")
struct TLSTests {
    @Test("a server that does not speak TLS, and a file of authorities that is missing, are faults of TLS")
    func noTLS() async throws {
        let server = try LoopbackServer { peer in
            _ = peer.read(16)
            peer.respond("400 Bad Request")
        }
        let request = HTTPRequest(method: .get, url: "https://127.0.0.1:\(server.port)/")
        #expect(await CurlHTTPClient().failure(request)?.code == .tls)
        let without = CurlHTTPClient(CurlConfiguration(certificateAuthorities: "/nonexistent/ca.pem"))
        #expect(await without.failure(request)?.code == .tls)
    }
}
