// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import TestSupport
import Testing

@testable import IdentityProviders
@testable import RainAccount
@testable import RainMaker

private let app = ProviderSettings(
    clientID: "app-1", clientSecret: Secret("app-1-secret"), secrets: ["signSecret": Secret("s1gn")])
private let backend = ProviderSettings(clientID: "backend-1", clientSecret: Secret("backend-1-secret"))
private let backendRedirect = "http://127.0.0.1/backend"
private let ada = SignInCredentials.password(user: "ada@example.com", password: Secret("correct-horse"))

private func redeemed(_ code: Secret) -> SignInCredentials {
    .authorizationCode(code, redirectURI: backendRedirect, codeVerifier: nil)
}

@Suite("SPiD, against its simulator in its own process")
struct SPiDSimulatedTests {
    private func signedIn(_ desk: IdentityDesk) async throws -> (AccountSession, SPiDAccount) {
        let provider = try desk.provider("spid", app)
        let session = desk.session(provider)
        _ = try await session.signIn(ada)
        return (session, try SPiDAccount(session, provider))
    }

    @Test("a password brings tokens, the user, and what SPiD says about the user offline")
    func password() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            let session = desk.session(try desk.provider("spid", app))
            let user = try await session.signIn(
                .password(user: " ada@example.com ", password: Secret("correct-horse")))
            #expect(user.userID == UserID("1001") && user.email == "ada@example.com")
            let status = try await session.status()
            #expect(status.isRenewable && status.provider == "spid")
            #expect(status.expires == desk.clock.now + 3600)
            #expect(try await session.user().userID == UserID("1001"))
            // Nothing is sent for this one.
            let sent = desk.http.requests.count
            #expect(try await session.storedUser().attributes.contains { $0.name == "displayName" })
            #expect(desk.http.requests.count == sent)
        }
    }

    @Test("wrong password, unknown user, unverified user, unknown client, wrong secret: each told apart")
    func refusals() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            let session = desk.session(try desk.provider("spid", app))
            let attempt = { (user: String, password: String) in
                await code { () throws(AccountError) in
                    try await session.signIn(.password(user: user, password: Secret(password)))
                }
            }
            #expect(await attempt("ada@example.com", "wrong") == "invalid_credentials")
            #expect(await attempt("nobody@example.com", "correct-horse") == "unknown_user")
            #expect(await attempt("eve@example.com", "correct-horse") == "unverified_user")
            for settings in [
                ProviderSettings(clientID: "app-1", clientSecret: Secret("wrong")),
                ProviderSettings(clientID: "nobody", clientSecret: Secret("wrong")),
            ] {
                for old in [false, true] {
                    try await desk.control("settings", ["old_error_names": .bool(old)])
                    let other = desk.session(try desk.provider("spid", settings))
                    #expect(await code { () throws(AccountError) in try await other.signIn(ada) } == "client_refused")
                }
            }
            let bare = desk.session(try desk.provider("spid", ProviderSettings(clientID: "app-1")))
            #expect(await code { () throws(AccountError) in try await bare.signIn(ada) } == "missing_parameter")
            #expect(desk.store.load(desk.key) == nil)
        }
    }

    @Test(
        "a code for the backend is good for 30 seconds, and once: the backend is the same user with tokens of its own",
        arguments: [(29.0, nil as String?), (31.0, "code_expired")])
    func exchangeForBackend(seconds: Double, reason: String?) async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            let (session, account) = try await signedIn(desk)
            let handed = try await account.code(for: .code(forClient: "backend-1"))
            try await desk.advance(seconds: seconds)
            let gateway = desk.session(try desk.provider("spid", backend), store: InMemoryCredentialStore())
            let result = await code { () throws(AccountError) in
                let user = try await gateway.signIn(redeemed(handed))
                #expect(user.userID == UserID("1001"))
            }
            #expect(result == reason)
            guard reason == nil else { return }
            let (own, theirs) = (try await session.accessToken(), try await gateway.accessToken())
            #expect(own != theirs)
            #expect(await code { () throws(AccountError) in try await gateway.signIn(redeemed(handed)) } == "used_code")
        }
    }

    @Test("codes are refused for another merchant's client, without a redirect URI, and to a client's own token")
    func exchangeRefusals() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            let (_, account) = try await signedIn(desk)
            let attempt = { (exchange: SPiDExchange) in
                await code { () throws(AccountError) in try await account.code(for: exchange) }
            }
            #expect(await attempt(.code(forClient: "other-1")) == "client_refused")
            // The app itself has no redirect URI that codes could be redeemed with.
            #expect(await attempt(.code(forClient: "app-1")) == "missing_parameter")
            #expect(
                await attempt(.session(forClient: "app-1", redirectURI: "http://127.0.0.1:1/elsewhere"))
                    == "missing_parameter")

            // Another client than the one that the code is for does not get in by it.
            let handed = try await account.code(for: .code(forClient: "backend-1"))
            let wrong = desk.session(try desk.provider("spid", app), store: InMemoryCredentialStore())
            #expect(
                await code { () throws(AccountError) in try await wrong.signIn(redeemed(handed)) } == "client_refused")

            let provider = try desk.provider("spid", app)
            let own = desk.session(provider, store: InMemoryCredentialStore())
            #expect(try await own.signIn(.clientCredentials).userID == UserID("app-1"))
            let nobody = try SPiDAccount(own, provider)
            #expect(
                await code { () throws(AccountError) in
                    try await nobody.code(for: .code(forClient: "backend-1"))
                } == "forbidden")
        }
    }

    @Test(
        "a code for a browser is good for a minute: its address, in either spelling, gives the browser a session",
        arguments: [("/session", 59.0, 302), ("/auth/session", 59.0, 302), ("/session", 61.0, 400)])
    func webSession(path: String, seconds: Double, status: Int) async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            var settings = app
            settings.parameters["sessionPath"] = path
            let provider = try desk.provider("spid", settings)
            let session = desk.session(provider)
            _ = try await session.signIn(ada)
            let account = try SPiDAccount(session, provider)
            let address = try await account.webSession(redirectURI: "http://127.0.0.1:4711/callback")
            #expect(address.revealString().hasPrefix(desk.base + path + "/"))
            try await desk.advance(seconds: seconds)
            let open = HTTPRequest(method: .get, url: address.revealString())
            let response = try await desk.http.send(open)
            #expect(response.status == status)
            guard status == 302 else { return }
            #expect(response.header("Location")?.hasPrefix("http://127.0.0.1:4711/callback") == true)
            #expect(response.header("Set-Cookie")?.contains("identity=") == true)
            #expect(try await desk.http.send(open).status == 400)
        }
    }

    @Test("/me belongs to browsers' sessions; after a sign-in without one, the user is asked for by number")
    func meRule() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            let (session, account) = try await signedIn(desk)
            #expect(await code { () throws(AccountError) in try await account.me() } == "web_session_required")
            #expect(try await session.user().userID == UserID("1001"))
            #expect(desk.http.count("/api/2/user/1001") > 0)
        }
    }

    @Test("renewal rotates the refresh token, and SPiD ends a session whose used one comes again")
    func rotation() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            let provider = try desk.provider("spid", app)
            let session = desk.session(provider)
            _ = try await session.signIn(ada)
            let old = try #require(desk.store.load(desk.key)).tokens
            try await desk.advance(seconds: 3601)
            #expect(try await session.user().userID == UserID("1001"))
            let new = try #require(desk.store.load(desk.key)).tokens
            #expect(new.access != old.access && new.refresh != old.refresh)
            #expect(new["user_id"] == "1001")
            await #expect(throws: RenewalError.self) { try await provider.renew(old) }
            // The copy ended the sign-in for both.
            try await desk.advance(seconds: 3601)
            #expect(await code { () throws(AccountError) in try await session.user() } == "expired")
            #expect(desk.store.load(desk.key) == nil)
        }
    }

    @Test("signing out deletes both tokens at SPiD")
    func signOut() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            let provider = try desk.provider("spid", app)
            let session = desk.session(provider)
            _ = try await session.signIn(ada)
            let tokens = try #require(desk.store.load(desk.key)).tokens
            guard case .complete = try await session.signOut() else {
                Issue.record("not told")
                return
            }
            #expect(desk.store.load(desk.key) == nil)
            #expect(await code { () throws(AccountError) in try await provider.user(tokens) } == "expired")
            await #expect(throws: RenewalError.self) { try await provider.renew(tokens) }
        }
    }

    @Test("a sign-in at Facebook or Google is one at SPiD, in SPiD's own form and in the standard one")
    func thirdParty() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            let facebook = { (token: String) in
                ThirdPartyToken(
                    provider: "facebook", token: Secret(token), expires: desk.clock.now + 600, applicationID: "app1")
            }
            for form in ["spid", "rfc7515"] {
                var settings = app
                settings.parameters["assertionForm"] = form
                let session = desk.session(try desk.provider("spid", settings))
                #expect(try await session.signIn(.thirdParty(facebook("fbtok"))).userID == UserID("1001"), "\(form)")
                let google = ThirdPartyToken(
                    provider: "googleplus", token: Secret("gptok"), expires: nil, applicationID: "no.example.app")
                #expect(try await session.signIn(.thirdParty(google)).userID == UserID("1001"), "\(form)")
            }
            let session = desk.session(try desk.provider("spid", app))
            // Nobody at SPiD has that account yet: the app offers to register.
            #expect(
                await code { () throws(AccountError) in
                    try await session.signIn(.thirdParty(facebook("fb-new")))
                } == "unknown_user")
            let provider = try desk.provider("spid", app)
            let own = desk.session(provider, store: InMemoryCredentialStore())
            _ = try await own.signIn(.clientCredentials)
            let id = try await SPiDAccount(own, provider).register(facebook("fb-new"))
            #expect(try await session.signIn(.thirdParty(facebook("fb-new"))).userID == id)
            #expect(
                await code { () throws(AccountError) in
                    try await SPiDAccount(own, provider).register(facebook("fb-new"))
                } == "account_exists")

            let stranger = ThirdPartyToken(provider: "myspace", token: Secret("x"), expires: nil, applicationID: "app1")
            #expect(
                await code { () throws(AccountError) in
                    try await session.signIn(.thirdParty(stranger))
                } == "unsupported")
            var bare = app
            bare.secrets = [:]
            let unsigned = desk.session(try desk.provider("spid", bare))
            #expect(
                await code { () throws(AccountError) in
                    try await unsigned.signIn(.thirdParty(facebook("fbtok")))
                } == "missing_parameter")
        }
    }

    @Test("a third party's sign-in is added to the account that is signed in")
    func attach() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            let (session, account) = try await signedIn(desk)
            let token = ThirdPartyToken(
                provider: "facebook", token: Secret("fb-new"), expires: desk.clock.now + 600, applicationID: "app1")
            try await account.attach(token)
            #expect(try await session.signIn(.thirdParty(token)).userID == UserID("1001"))
        }
    }

    @Test("signed answers open with the sign secret, and with no other")
    func signedAnswers() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            try await desk.control("settings", ["signed": true])
            let session = desk.session(try desk.provider("spid", app))
            #expect(try await session.signIn(ada).email == "ada@example.com")
            for secrets in [["signSecret": Secret("wrong")], [:]] {
                var settings = app
                settings.secrets = secrets
                let other = desk.session(try desk.provider("spid", settings), store: InMemoryCredentialStore())
                #expect(await code { () throws(AccountError) in try await other.signIn(ada) } == "untrusted_answer")
            }
        }
    }

    @Test("too many requests are 420 at SPiD, with the time to wait if SPiD gives one")
    func tooMany() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            let (session, _) = try await signedIn(desk)
            try await desk.control(
                "faults",
                [
                    "rules": [
                        [
                            "method": "GET", "path": "/api/2/user/1001", "action": "status", "status": 420,
                            "retry_after": 30, "count": 1,
                        ]
                    ]
                ])
            let error = await accountError { () throws(AccountError) in try await session.user() }
            #expect(error?.code == .rateLimited && error?.retryAfter == .seconds(30) && error?.status == 420)
            #expect(try await session.user().userID == UserID("1001"))
        }
    }

    @Test("a clock that is ten minutes wrong, either way, ends no session early or late", arguments: [-600.0, 600.0])
    func skew(seconds: Double) async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            try await desk.advanceServer(seconds: seconds)
            let session = desk.session(try desk.provider("spid", app))
            _ = try await session.signIn(ada)
            let saved = try #require(desk.store.load(desk.key))
            // `server_time` says by how much.
            #expect(abs((saved.serverIsAhead ?? 0) - seconds) <= 2)
            try await desk.advance(seconds: 3530)
            _ = try await session.user()
            #expect(desk.http.count("/oauth/token") == 1)
            try await desk.advance(seconds: 20)
            _ = try await session.user()
            #expect(desk.http.count("/oauth/token") == 2)
        }
    }

    @Test("the token is in the query for services that require that (document B), and is the same session")
    func queryPlacement() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            var registry = ProviderRegistry.builtIn
            let definition =
                #"{"schemaVersion":1,"extends":"spid","id":"spid-query","placement":{"kind":"query","name":"oauth_token"}}"#
            try registry.add(parsing: Array(definition.utf8), origin: "test")
            var settings = app
            settings.base = desk.base
            let session = desk.session(try registry.provider("spid-query", settings: settings, tools: desk.tools))
            _ = try await session.signIn(ada)
            _ = try await session.user()
            let asked = try #require(desk.http.requests.last)
            #expect(asked.url.contains("oauth_token=") && asked.authorization == nil)
        }
    }

    @Test(
        "a browser signs in: back at the app's own scheme or on loopback, with PKCE and a random state",
        arguments: ["spidmobile-app-1://login", "http://127.0.0.1:4711/callback"])
    func browser(redirect: String) async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            let provider = try desk.provider("spid", app)
            let session = desk.session(provider)
            let robot = PageRobot(http: desk.http, redirect: redirect)
            let credentials = try await provider.signInThroughBrowser(by: robot)
            #expect(try await session.signIn(credentials).userID == UserID("1001"))
            let page = try #require(desk.http.requests.first { $0.url.contains("/login?") })
            #expect(page.url.contains("code_challenge_method=S256") && page.url.contains("state="))
            // Here there is a web session, so SPiD knows who "me" is.
            #expect(try await SPiDAccount(session, provider).me().userID == UserID("1001"))
            #expect(try await session.status().isRenewable)
            // The code was good once.
            #expect(await code { () throws(AccountError) in try await session.signIn(credentials) } == "used_code")
        }
    }

    @Test("a user who gives up at SPiD's page comes back with only the state: this is reported at once")
    func abandoned() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            let provider = try desk.provider("spid", app)
            let robot = PageRobot(http: desk.http, intent: .leave)
            // What the agents that people meet do with it is up to the desk that all of them share.
            let attempt = try await provider.signInPage()
            let url = attempt.authorizeURL + "?client_id=app-1&response_type=code&state=s-1&redirect_uri="
            let end = try await robot.walk(from: url + FormEncoding.encodedForQuery(robot.redirect))
            #expect(end == robot.redirect + "?state=s-1")
            var request = AuthorizationRequest(
                endpoint: attempt.authorizeURL, clientID: "app-1", redirectURI: try RedirectURI(robot.redirect))
            request.state = State("s-1")
            let target = RedirectTarget(redirectURI: try RedirectURI(robot.redirect))
            var waiting = AuthorizationAttempt(request)
            waiting.answersWithoutParameters = attempt.answersWithoutParameters
            let answers = RedirectMatcher(waiting, at: target)
            guard case .foreign = answers.consider(url: robot.redirect + "?state=other") else {
                Issue.record("a stranger's state was taken")
                return
            }
            guard case .answer(let response) = answers.consider(url: end), case .refused(let error) = response.outcome
            else {
                Issue.record("not taken")
                return
            }
            #expect(AccountError(signIn: error).code == .abandoned)
        }
    }

    @Test("the implicit grant: an access token in the fragment, and none to renew it with")
    func implicit() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            let provider = try desk.provider("spid", app)
            let session = desk.session(provider)
            let credentials = try await provider.signInThroughBrowser(.implicit, by: PageRobot(http: desk.http))
            #expect(try await session.signIn(credentials).userID == UserID("1001"))
            #expect(try await session.status().isRenewable == false)
            try await desk.advance(seconds: 3601)
            #expect(await code { () throws(AccountError) in try await session.user() } == "expired")
        }
    }

    @Test("a client's own token is independent: no user, its own name, and a new one when it ends")
    func clientToken() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            let provider = try desk.provider("spid", backend)
            let session = desk.session(provider)
            #expect(try await session.signIn(.clientCredentials).userID == UserID("backend-1"))
            let first = try #require(desk.store.load(desk.key)).tokens
            #expect(first["user_id"] == nil && first.refresh == nil)
            try await desk.advance(seconds: 901)
            let user = HTTPRequest(method: .get, url: desk.base + "/api/2/user/1001")
            #expect(try await session.send(user).status == 200)
            #expect(desk.store.load(desk.key)?.tokens.access != first.access)
            let seen = try await provider.introspect(try #require(desk.store.load(desk.key)).tokens)
            #expect(seen.isActive)
            #expect(try await provider.introspect(first).isActive == false)
        }
    }
}
