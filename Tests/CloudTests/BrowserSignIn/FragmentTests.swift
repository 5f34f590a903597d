// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import RainKitTesting
import Testing

@testable import IdentityProviders
@testable import RainAccount
@testable import RainMaker

@Suite("An answer behind the #")
struct FragmentTests {
    private func run(
        _ visit: @escaping @Sendable (_ url: String, _ port: Int) throws -> Void
    ) async throws -> Result<AuthorizationResponse, AccountError> {
        let bench = SignInBench(responseType: .token)
        return try await bench.run(LoopbackUserAgent(show: bench.show)) { url throws in
            try visit(url, try SignInBench.port(of: url))
        }
    }

    private static func post(_ body: String, port: Int, origin: String? = nil) throws -> String {
        let connection = try LoopbackConnection(port: port)
        let more = origin.map { "Origin: \($0)\r\n" } ?? ""
        connection.send(
            "POST /callback HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(more)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
        return connection.readToEnd()
    }

    @Test("the browser gets a page that passes the fragment on, which is the answer")
    func relayed() async throws {
        let outcome = try await run { url, port throws in
            #expect(try SignInBench.parameter("response_type", of: url) == "token")
            let connection = try LoopbackConnection(port: port)
            connection.send("GET /callback HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
            let page = connection.readToEnd()
            #expect(page.contains("<script>\(CallbackPage.fragmentScript)</script>"))
            #expect(page.contains("script-src 'sha256-"))
            let answer = try Self.post(
                "access_token=tk_1&expires_at=2014-01-05%2011:57:26Z&principalID=p-ada&state=right-state", port: port,
                origin: "http://127.0.0.1:\(port)")
            #expect(answer.contains("Almost done"))
        }
        guard case .tokens(let response) = try outcome.get().outcome else {
            Issue.record("no tokens")
            return
        }
        #expect(response.accessToken == Secret("tk_1"))
        #expect(response.more.contains { $0.name == "expires_at" && $0.value == "2014-01-05 11:57:26Z" })
    }

    @Test("the page's policy allows its script: it has the script's hash")
    func policy() {
        let digest = OpenSSLHashes.sha256(Array(CallbackPage.fragmentScript.utf8))
        #expect(Base64.text(digest) == CallbackPage.fragmentScriptHash)
    }

    @Test("a refusal is read from the query and from the fragment", arguments: [true, false])
    func refused(inQuery: Bool) async throws {
        let outcome = try await run { _, port throws in
            let answer = "error=access_denied&http_code=403&state=right-state"
            if inQuery {
                #expect(try LoopbackConnection.get("/callback?\(answer)", port: port) == 200)
            } else {
                #expect(try Self.post(answer, port: port).contains("Not signed in"))
            }
        }
        #expect(try outcome.get().outcome == .refused(OAuthError(.accessDenied)))
    }

    @Test("a page of another site, or another state, is not an answer; the wait continues")
    func strays() async throws {
        let outcome = try await run { _, port throws in
            for (body, origin, status) in [
                ("access_token=x&state=right-state", "https://evil.example", 403),
                ("access_token=x&state=right-state", "null", 403), ("access_token=x&state=wrong", nil, 400),
                ("access_token=x", nil, 400), ("", nil, 400),
            ] as [(String, String?, Int)] {
                #expect(LoopbackConnection.status(try Self.post(body, port: port, origin: origin)) == status)
            }
            #expect(try Self.post("access_token=right&state=right-state", port: port).contains("Almost done"))
        }
        guard case .tokens(let response) = try outcome.get().outcome else {
            Issue.record("no tokens")
            return
        }
        #expect(response.accessToken == Secret("right"))
    }
}

/// Base64 of RFC 4648, section 4, in which policies write hashes.
private enum Base64 {
    static func text(_ bytes: [UInt8]) -> String {
        let padding = ["", "==", "="][bytes.count % 3]
        return base64URL(bytes).replacing("-", with: "+").replacing("_", with: "/") + padding
    }
}
