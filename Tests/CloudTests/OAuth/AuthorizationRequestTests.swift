// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCryptoOpenSSL
import TestSupport
import Testing

@Suite("Authorization requests")
struct AuthorizationRequestTests {
    private func request(_ endpoint: String = "https://auth.example.com/oauth2/authorize") throws
        -> AuthorizationRequest
    {
        AuthorizationRequest(
            endpoint: endpoint, clientID: "client 1", redirectURI: try RedirectURI("http://127.0.0.1:4711/callback"))
    }

    @Test("the URL has every parameter, escaped exactly")
    func url() throws {
        var request = try request()
        request.scope = ["openid", "email", "aws.cognito.signin.user.admin"]
        request.state = State("port:4711")
        request.nonce = "n+1"
        request.codeChallenge = CodeVerifier(Secret("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))?.challenge(
            OpenSSLHashes.self)
        request.more = [("identity_provider", "SignInWithApple"), ("x&y", "é=1")]
        #expect(
            try request.url()
                == "https://auth.example.com/oauth2/authorize?response_type=code&client_id=client%201"
                + "&redirect_uri=http%3A%2F%2F127.0.0.1%3A4711%2Fcallback&scope=openid%20email%20aws.cognito.signin.user.admin"
                + "&state=port%3A4711&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
                + "&nonce=n%2B1&identity_provider=SignInWithApple&x%26y=%C3%A9%3D1")
    }

    @Test("a query of the endpoint's own is kept", arguments: [("?a=b", "?a=b&"), ("?", "?"), ("?a=b&", "?a=b&")])
    func ownQuery(own: String, expected: String) throws {
        let base = "https://auth.example.com/authorize"
        #expect(try request(base + own).url().hasPrefix(base + expected + "response_type=code&client_id="))
    }

    @Test("a parameter that would appear twice is refused")
    func duplicate() throws {
        var request = try request()
        request.more = [("state", "a"), ("state", "b")]
        #expect(formatError { () throws(OAuth2FormatError) in try request.url() } == .duplicate)
        let own = try self.request("https://auth.example.com/authorize?client_id=other")
        #expect(formatError { () throws(OAuth2FormatError) in try own.url() } == .duplicate)
    }

    @Test(
        "an endpoint with a fragment or a space is refused",
        arguments: ["https://a.example/#x", "https://a.example/ x"])
    func badEndpoint(endpoint: String) throws {
        let request = try request(endpoint)
        #expect(formatError { () throws(OAuth2FormatError) in try request.url() } == .malformed)
    }
}

@Suite("Redirect URIs")
struct RedirectURITests {
    @Test(
        "an invalid one is refused",
        arguments: [
            "", "callback", "/callback", "http:", "http:/x", "http://", "http:///x", "http://user@host/",
            "https://host/#f",
            "https://host/a b", "https://host\\evil/", "1x:/a", "http://h/é", "x:",
        ])
    func refused(text: String) {
        #expect(formatError { () throws(OAuth2FormatError) in try RedirectURI(text) } == .malformed)
    }

    @Test(
        "two are the same only if every character is, except for the port of a loopback address",
        arguments: [
            ("https://a.example/cb", "https://a.example/cb", true),
            ("https://a.example/cb/", "https://a.example/cb", false),
            ("https://A.example/cb", "https://a.example/cb", false),
            ("http://127.0.0.1:1234/cb", "http://127.0.0.1/cb", true),
            ("http://127.0.0.1:1234/cb", "http://127.0.0.1:9/cb", true),
            ("http://127.0.0.1:1234/cb", "http://127.0.0.1/c", false),
            ("http://127.0.0.1:1234/cb", "http://[::1]/cb", false), ("http://[::1]:55/cb", "http://[::1]:56/cb", true),
            ("http://localhost:1/cb", "http://localhost:2/cb", false),
            ("http://127.0.0.1.evil.example/cb", "http://127.0.0.1/cb", false),
            ("http://127.0.0.1:1@evil.example/cb", "http://127.0.0.1/cb", false),
            ("https://127.0.0.1:1/", "https://127.0.0.1:2/", false),
            ("http://127.0.0.1:0/cb", "http://127.0.0.1/cb", false),
            ("http://127.0.0.1:65536/cb", "http://127.0.0.1/cb", false),
            ("http://127.0.0.1:1234", "http://127.0.0.1", true),
            ("http://127.0.0.1:1/cb?a=b", "http://127.0.0.1/cb", false),
            ("com.example.app:/cb", "com.example.app:/cb", true),
            ("com.example.app:/cb", "com.example.app:/cb2", false),
        ])
    func matching(text: String, registered: String, same: Bool) throws {
        guard let own = try? RedirectURI(text) else {
            #expect(!same)
            return
        }
        #expect(own.matches(registered: try RedirectURI(registered)) == same)
    }

    @Test(
        "the answer is the text after the redirect URI, and nothing else",
        arguments: [
            ("http://127.0.0.1:1/cb", "http://127.0.0.1:1/cb?code=a", "code=a", ""),
            ("http://127.0.0.1:1/cb", "http://127.0.0.1:1/cb#code=a", "", "code=a"),
            ("http://127.0.0.1:1/cb", "http://127.0.0.1:1/cb?x=y#code=a?b", "x=y", "code=a?b"),
            ("https://h/cb?own=1", "https://h/cb?own=1&code=a", "code=a", ""), ("app:/cb", "app:/cb", "", ""),
        ])
    func answer(redirect: String, url: String, query: String, fragment: String) throws {
        let answer = try #require(try RedirectURI(redirect).answer(in: url))
        #expect(answer.query == query)
        #expect(answer.fragment == fragment)
    }

    @Test(
        "another address is not an answer",
        arguments: [
            "http://127.0.0.1:1/cb/?code=a", "http://127.0.0.1:1/cbx?code=a", "http://127.0.0.1:11/cb?code=a",
            "https://127.0.0.1:1/cb?code=a", "?code=a", "", "http://127.0.0.1:1/cb&code=a",
        ])
    func foreign(url: String) throws {
        #expect(try RedirectURI("http://127.0.0.1:1/cb").answer(in: url) == nil)
    }
}
