// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainCryptoOpenSSL
import RainHTTP
import RainJSON
import RainKitTesting
import RainMaker
import TestSupport
import Testing

/// Plays agent and browser in one: returns the answers that a test needs.
private struct ScriptedAgent: AuthorizationUserAgent {
    var target: RedirectTarget
    let asked = Once<AuthorizationRequest>()
    var answer: @Sendable (AuthorizationRequest) -> AuthorizationResponse

    init(_ answer: @escaping @Sendable (AuthorizationRequest) -> AuthorizationResponse) throws {
        target = RedirectTarget(redirectURI: try RedirectURI("http://127.0.0.1:4711/callback"))
        self.answer = answer
    }

    func authorize(
        _ attempt: @Sendable (RedirectTarget) throws(AccountError) -> AuthorizationAttempt
    ) async throws(AccountError) -> AuthorizationResponse {
        let request = try attempt(target).request
        asked.set(request)
        return answer(request)
    }
}

@Suite("Sign-in by authorization code")
struct AuthorizationCodeTests {
    private let deployment: Deployment
    private let http = ScriptedHTTPClient()
    private let clock = ManualWallClock()
    private let store: any CredentialStore = InMemoryCredentialStore()
    private let session: AccountSession

    init() throws {
        deployment = try Deployment(
            name: "sim", base: "http://127.0.0.1:1", authorization: "http://127.0.0.1:2", clientID: "client-1")
        session = try AccountSession.rainMaker(deployment, http: http, store: store, clock: clock, timer: ManualClock())
    }

    private func signIn(_ agent: ScriptedAgent, idp: String? = "github") async throws(AccountError) -> UserInfo {
        try await session.signIn { () async throws(AccountError) in
            var random = ScriptedRandom(Array(0..<96))
            return try await deployment.signInPage(identityProvider: idp).signIn(
                through: agent, random: &random, hashes: OpenSSLHashes.self)
        }
    }

    private func tokenReply(_ identity: JSONValue, expiresIn: JSONValue = 3600, access: String? = nil) -> String {
        let reply: JSONValue = [
            "access_token": .string(access ?? accessToken("a")), "refresh_token": "planted-refresh",
            "id_token": .string(token("id", identity)), "token_type": "Bearer", "expires_in": expiresIn,
        ]
        return String(decoding: reply.serialized(), as: UTF8.self)
    }

    @Test("the request has everything that binds its answer to this client")
    func request() async throws {
        let agent = try ScriptedAgent { _ in AuthorizationResponse(.refused(OAuthError(.accessDenied))) }
        let error = await accountError { () throws(AccountError) in try await signIn(agent) }
        #expect(error?.code == .accessDenied)
        let list = try #require(try agent.asked.value?.parameters())
        let verifier = CodeVerifier(Secret(base64URL(Array(32..<64))))
        #expect(
            list.names == [
                "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge",
                "code_challenge_method",
                "nonce", "identity_provider",
            ])
        #expect(list["response_type"] == "code")
        #expect(list["client_id"] == "client-1")
        #expect(list["redirect_uri"] == "http://127.0.0.1:4711/callback")
        #expect(list["scope"] == "aws.cognito.signin.user.admin email openid phone profile")
        #expect(list["state"] == base64URL(Array(0..<32)))
        #expect(list["code_challenge"] == verifier?.challenge(OpenSSLHashes.self).text)
        #expect(list["code_challenge_method"] == "S256")
        #expect(list["nonce"] == base64URL(Array(64..<96)))
        #expect(list["identity_provider"] == "GitHub")
        #expect(agent.asked.value?.endpoint == "http://127.0.0.1:2/oauth2/authorize")
        try http.finish()
    }

    @Test("a code becomes a stored session, which is renewed like any other")
    func session() async throws {
        let agent = try ScriptedAgent { _ in AuthorizationResponse(.code(Secret("planted code+/"))) }
        let identity: JSONValue = [
            "aud": "client-1", "nonce": .string(base64URL(Array(64..<96))), "custom:user_id": "u",
        ]
        http.expect(.post, "/oauth2/token", tokenReply(identity))
        http.expect(.get, "/v1/user2", Bench.profile)
        let profile = try await signIn(agent)
        #expect(profile.userID == UserID("user-1"))
        let request = http.requests[0]
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == "grant_type=authorization_code&code=planted+code%2B%2F&redirect_uri=http%3A%2F%2F127.0.0.1%3A4711%2Fcallback"
                + "&code_verifier=\(base64URL(Array(32..<64)))&client_id=client-1")
        #expect(request.headers.contains(HTTPHeader("Content-Type", "application/x-www-form-urlencoded")))
        #expect(request.url == "http://127.0.0.1:2/oauth2/token")
        #expect(request.authorization == nil)
        #expect(http.requests[1].authorization == accessToken("a"))

        clock.advance(seconds: 4000)
        http.expect(
            .post, "/v1/login2",
            #"{"status":"success","accesstoken":"\#(accessToken("b", issued: clock.now.seconds))"}"#)
        http.expect(.get, "/v1/user2", Bench.profile)
        _ = try await session.user()
        #expect(http.requests[2].json == ["refreshtoken": "planted-refresh"])
        try http.finish()
    }

    @Test("an access token without an expiry gets that of its answer")
    func lifetime() async throws {
        let agent = try ScriptedAgent { _ in AuthorizationResponse(.code(Secret("c"))) }
        let identity: JSONValue = ["nonce": .string(base64URL(Array(64..<96)))]
        http.expect(.post, "/oauth2/token", tokenReply(identity, expiresIn: "1800", access: "opaque"))
        http.expect(.get, "/v1/user2", Bench.profile)
        _ = try await signIn(agent)
        let saved = try await store.load(CredentialKey("sim"))
        #expect(saved?.tokens.expires == clock.now + 1800)
    }

    @Test(
        "tokens for another client or another sign-in are not accepted",
        arguments: [["aud": "other"], ["aud": ["other", "third"]], ["aud": 7], ["nonce": "other"], ["nonce": nil]]
            as [JSONValue])
    func foreign(claims: JSONValue) async throws {
        let agent = try ScriptedAgent { _ in AuthorizationResponse(.code(Secret("c"))) }
        http.expect(.post, "/oauth2/token", tokenReply(claims))
        let error = await accountError { () throws(AccountError) in try await signIn(agent) }
        #expect(error?.code == .untrustedAnswer)
        #expect(try await store.load(CredentialKey("sim")) == nil)
        try http.finish()
    }

    @Test(
        "each refusal and each fault of the token endpoint has its own cause",
        arguments: [
            (400, #"{"error":"invalid_grant","error_description":"d"}"#, AccountError.Code.invalidGrant),
            (400, #"{"error":"invalid_client"}"#, .clientRefused),
            (401, #"{"error":"invalid_client"}"#, .clientRefused),
            (400, #"{"error":"unauthorized_client"}"#, .clientRefused),
            (400, #"{"error":"invalid_request"}"#, .rejected),
            (400, #"{"error":"unsupported_grant_type"}"#, .invalidConfiguration),
            (400, #"{"error":"access_denied"}"#, .accessDenied),
            (400, #"{"error":"server_error"}"#, .serverFault), (503, #"{"error":"odd"}"#, .serverFault),
            (500, #"{"message":"d"}"#, .serverFault), (502, "<html>", .serverFault), (200, "<html>", .malformedAnswer),
            (200, "{}", .malformedAnswer), (200, #"{"access_token":"a b"}"#, .malformedAnswer),
            (429, "{}", .rateLimited),
            (403, #"{"message":"d"}"#, .rejected), (200, "", .malformedAnswer),
        ])
    func tokenEndpoint(status: Int, body: String, code: AccountError.Code) async throws {
        let agent = try ScriptedAgent { _ in AuthorizationResponse(.code(Secret("planted-code"))) }
        http.expect(.post, "/oauth2/token", status: status, body)
        let error = await accountError { () throws(AccountError) in try await signIn(agent) }
        #expect(error?.code == code)
        #expect(!"\(error as Any)".contains("planted"))
        if body.contains(#""d""#) { #expect(error?.serverMessage == "d") }
        #expect(try await store.load(CredentialKey("sim")) == nil)
    }

    @Test(
        "each refusal of the sign-in page has its own cause",
        arguments: [
            ("access_denied", AccountError.Code.accessDenied), ("server_error", .serverFault),
            ("temporarily_unavailable", .serverFault), ("unauthorized_client", .clientRefused),
            ("invalid_scope", .invalidConfiguration), ("invalid_request", .rejected),
            ("user_cancelled\u{1B}[2J", .rejected),
        ])
    func page(error: String, code: AccountError.Code) async throws {
        let agent = try ScriptedAgent { _ in
            AuthorizationResponse(.refused(OAuthError(.init(rawValue: error), description: "no\u{1B}[2J")))
        }
        let thrown = await accountError { () throws(AccountError) in try await signIn(agent) }
        #expect(thrown?.code == code)
        #expect(!"\(thrown as Any)".unicodeScalars.contains("\u{1B}"))
        #expect(http.requests.isEmpty)
    }

    @Test("an unusable store is reported before the page is shown")
    func storeFirst() async throws {
        let session = try AccountSession.rainMaker(
            deployment, http: http, store: FileCredentialStore(folder: "/proc/nowhere"), clock: clock,
            timer: ManualClock())
        let error = await accountError { () throws(AccountError) in
            try await session.signIn { () async throws(AccountError) in
                Issue.record("shown")
                return .guest
            }
        }
        #expect(error?.code == .cannotStore)
    }

    @Test("identity providers get the cloud's names; unknown names are sent unchanged; without one the page asks")
    func names() throws {
        for (name, expected) in [
            ("GitHub", "GitHub"), ("google", "Google"), ("apple", "SignInWithApple"), ("Corp", "Corp"),
        ] {
            #expect(try deployment.signInPage(identityProvider: name).parameters.map(\.value) == [expected])
        }
        #expect(try deployment.signInPage().parameters.isEmpty)
    }

    @Test("a deployment without a page or a client id is an error")
    func noPage() async throws {
        for deployment in [
            try Deployment(name: "a", base: "http://127.0.0.1:1"),
            try Deployment(name: "a", base: "http://127.0.0.1:1", authorization: "http://127.0.0.1:2"),
        ] {
            let error = await accountError { () throws(AccountError) in try deployment.signInPage() }
            #expect(error?.code == .invalidConfiguration)
        }
    }

    @Test("Espressif's clouds have the pages, paths and relays of the official client")
    func builtIn() throws {
        let global = try Deployment.global.signInPage()
        #expect(global.authorizeURL == "https://3pauth.rainmaker.espressif.com/oauth2/authorize")
        #expect(global.tokenURL == "https://3pauth.rainmaker.espressif.com/oauth2/token")
        #expect(Deployment.global.webSignIn.relay == "https://rainmaker-login-ui.s3.amazonaws.com/welcome.html")
        let china = try Deployment.china.signInPage()
        #expect(china.authorizeURL == "https://api2.rainmaker.espressif.com.cn/authorize")
        #expect(china.tokenURL == "https://api2.rainmaker.espressif.com.cn/token")
        #expect(china.scope.isEmpty)
    }
}
