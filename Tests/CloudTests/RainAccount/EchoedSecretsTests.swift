// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainHTTP
import RainJSON
import RainKitTesting
import RainMaker
import TestSupport
import Testing

/// Every call that carries secrets, at a server that repeats them.
@Suite("A signed-in user's calls, at a server that repeats the request")
struct EchoedSecretsTests {
    private static let tools = ProviderTools(
        http: EchoingClient(), clock: ManualWallClock(), hashes: OpenSSLHashes.self, signatures: OpenSSLCrypto.self
    ) { count in
        var random = OpenSSLRandom()
        return random.bytes(count)
    }

    private func provider(_ id: String, _ settings: ProviderSettings) throws -> ConfiguredProvider {
        try ProviderRegistry.builtIn.provider(id, settings: settings, tools: Self.tools)
    }

    /// A session of that provider, with these tokens.
    private func session(_ provider: any IdentityProvider, _ tokens: Tokens) throws -> AccountSession {
        let key = try CredentialKey("sim")
        let saved = SavedSession(
            provider: provider.name, userID: UserID("1001"), userName: "ada", tokens: tokens, context: provider.context)
        return AccountSession(
            provider: provider, http: EchoingClient(), store: InMemoryCredentialStore([key: saved]), key: key,
            clock: ManualWallClock(), timer: ManualClock())
    }

    private var tokens: Tokens {
        Tokens(access: Secret("planted-access"), refresh: Secret("planted-refresh"), received: ManualWallClock().now)
    }

    private func expectSilence<Result>(
        _ call: () async throws(AccountError) -> Result, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let error = try #require(await accountError(call), sourceLocation: sourceLocation)
        // The server's text is shown; otherwise this would prove nothing.
        #expect(error.serverMessage?.contains("…") == true, "\(error)", sourceLocation: sourceLocation)
        let text = "\(error) \(String(reflecting: error))"
        #expect(!text.contains("planted"), "\(text)", sourceLocation: sourceLocation)
    }

    @Test(
        "the server's answer is JSON, whatever it received", arguments: ["\"", "\"\u{301}", "\\\u{301}", "\u{600}\""])
    func answer(sent: String) async throws {
        var request = HTTPRequest(method: .post, url: "http://127.0.0.1:1/")
        request.body = Array(sent.utf8)
        let answer = try await EchoingClient().send(request)
        let echo = try JSONValue(parsing: answer.body)["message"]?.string
        #expect(echo.map { $0.utf8.starts(with: sent.utf8) } == true)
    }

    @Test("a refused address is shown without its query", arguments: ["?", "?\u{301}", "/\u{301}?"])
    func foreignAddress(separator: String) async throws {
        let deployment = try Deployment(name: "sim", base: "http://127.0.0.1:1")
        let identity = RainMakerIdentity(deployment, http: EchoingClient(), clock: ManualWallClock())
        let session = try session(identity, tokens)
        let request = HTTPRequest(method: .get, url: "https://other.example\(separator)code=planted-code")
        let error = await accountError { () async throws(AccountError) in try await session.send(request) }
        #expect(error?.message.contains("https://other.example does not belong to") == true, "\(error as Any)")
    }

    @Test("RainMaker: both passwords of a change, and the token")
    func rainMaker() async throws {
        let deployment = try Deployment(name: "sim", base: "http://127.0.0.1:1")
        let identity = RainMakerIdentity(deployment, http: EchoingClient(), clock: ManualWallClock())
        let account = RainMakerAccount(deployment, session: try session(identity, tokens), http: EchoingClient())
        try await expectSilence { () throws(AccountError) in
            try await account.changePassword(from: Secret("planted-Old-1"), to: Secret("planted-New-2"))
        }
        try await expectSilence { () throws(AccountError) in try await account.customData() }
    }

    @Test("SPiD: a code for another client, and a third party's token in an assertion")
    func spid() async throws {
        let provider = try provider(
            "spid",
            ProviderSettings(
                base: "https://spid.example", clientID: "app-1", clientSecret: Secret("planted-client"),
                secrets: ["signSecret": Secret("planted-sign")]))
        let account = try SPiDAccount(try session(provider, tokens), provider)
        try await expectSilence { () throws(AccountError) in try await account.me() }
        let token = ThirdPartyToken(
            provider: "facebook", token: Secret("planted-third"), expires: nil, applicationID: "app1")
        for attaches in [true, false] {
            let error = try #require(
                await accountError { () throws(AccountError) in
                    if attaches { try await account.attach(token) } else { _ = try await account.register(token) }
                })
            // The assertion is base64 of all of it.
            #expect(error.serverMessage?.contains("jwt=…") == true, "\(error)")
            #expect(!"\(error)".contains("planted") && !"\(error)".contains("eyJ"), "\(error)")
        }
    }

    @Test("Liferay: the password of each request, the cookies and the page's token")
    func liferay() async throws {
        var cookies = Tokens(
            kind: .cookie, access: Secret("COOKIE_SUPPORT=true; JSESSIONID=planted-session"),
            received: ManualWallClock().now)
        cookies.extras = ["csrf": Secret("planted-csrf")]
        var basic = Tokens(kind: .basic, access: Secret("planted-password"), received: ManualWallClock().now)
        basic.extras = ["user": Secret("ada")]
        for (mode, tokens) in [("cookie", cookies), ("basic", basic)] {
            let provider = try provider("liferay", ProviderSettings(base: "https://portal.example", mode: mode))
            let account = try LiferayAccount(try session(provider, tokens), provider)
            let error = try #require(
                await accountError { () throws(AccountError) in
                    try await account.invoke("/user/update-password", [.init("password1", "planted-new")])
                })
            let text = "\(error) \(String(reflecting: error))"
            #expect(!text.contains("planted") && !text.contains("YWRhOnBsYW50ZWQ"), "\(text)")
        }
    }

    @Test("a sign-in page's code and its verifier")
    func code() async throws {
        let deployment = try Deployment(
            name: "sim", base: "http://127.0.0.1:1", authorization: "http://127.0.0.1:1", clientID: "client-1")
        let identity = RainMakerIdentity(deployment, http: EchoingClient(), clock: ManualWallClock())
        try await expectSilence { () throws(AccountError) in
            try await identity.signIn(
                .authorizationCode(
                    Secret("planted-code"), redirectURI: "http://127.0.0.1:2/callback",
                    codeVerifier: Secret("planted-verifier-" + String(repeating: "x", count: 43))))
        }
    }
}
