// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import RainHTTP
import RainJSON
import RainKitTesting
import Synchronization
import TestSupport
import Testing
import RainCore

private func portal(_ mode: String?, _ parameters: [String: String] = [:]) -> ProviderSettings {
    ProviderSettings(mode: mode, parameters: parameters)
}

private func password(_ user: String = "ada@example.com", _ password: String = "correct-horse") -> SignInCredentials {
    .password(user: user, password: Secret(password))
}

@Suite("Liferay, against its simulator in its own process")
struct LiferaySimulatedTests {
    // MARK: basic

    @Test(
        "basic: by e-mail address, screen name or id, as the portal is set up; and not otherwise",
        arguments: ["email", "screenName", "userId"])
    func basic(kind: String) async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            try await desk.control("settings", ["auth_type": .string(kind)])
            let names = ["email": "ada@example.com", "screenName": "ada", "userId": "1001"]
            for (other, name) in names {
                // Nobody says the mode: basic is the usual one. Nobody says the kind: the name's form does.
                for loginBy in [nil, other] {
                    let provider = try desk.provider("liferay", portal(nil, loginBy.map { ["loginBy": $0] } ?? [:]))
                    let session = desk.session(provider, store: InMemoryCredentialStore())
                    let result = await code { () throws(AccountError) in
                        let user = try await session.signIn(password(name))
                        #expect(user.userID == UserID("1001") && user.name == "Ada Example")
                    }
                    #expect(result == (other == kind ? nil : "invalid_credentials"), "\(other) at \(kind)")
                }
            }
            let session = desk.session(try desk.provider("liferay", portal("basic")))
            let attempt = { (user: String, word: String) in
                await code { () throws(AccountError) in try await session.signIn(password(user, word)) }
            }
            #expect(await attempt(names[kind] ?? "", "wrong") == "invalid_credentials")
            #expect(await attempt("nobody", "correct-horse") == "invalid_credentials")
            #expect(await attempt("", "x") == "invalid_user_name")
            #expect(await attempt("ada", "") == "invalid_credentials")
        }
    }

    @Test(
        "the company: 0 means the server context's, another one is distinguished, and saved credentials are bound to it"
    )
    func company() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            let first = desk.session(
                try desk.provider("liferay", portal("basic", ["companyId": "0", "contextCompanyId": "10157"])))
            _ = try await first.signIn(password())
            // The same company by its own number is the same session.
            let same = desk.session(try desk.provider("liferay", portal("basic", ["companyId": "10157"])))
            #expect(try await same.user().userID == UserID("1001"))
            // Stored credentials of one company are not used for another, nor for another server.
            for parameters in [["companyId": "20000"], ["contextCompanyId": "20000"]] {
                let other = desk.session(try desk.provider("liferay", portal("basic", parameters)))
                #expect(await code { () throws(AccountError) in try await other.user() } == "wrong_context")
                #expect(await code { () throws(AccountError) in try await other.storedUser() } == "wrong_context")
            }
            var elsewhere = portal("basic")
            elsewhere.base = "http://127.0.0.1:1"
            let moved = desk.session(try desk.provider("liferay", elsewhere))
            #expect(await code { () throws(AccountError) in try await moved.user() } == "wrong_context")
            // Signing in to a company that the user is not of.
            let wrong = desk.session(
                try desk.provider("liferay", portal("basic", ["companyId": "20000"])), store: InMemoryCredentialStore())
            #expect(await code { () throws(AccountError) in try await wrong.signIn(password()) } == "wrong_context")
            let cookie = desk.session(
                try desk.provider("liferay", portal("cookie", ["companyId": "20000"])), store: InMemoryCredentialStore()
            )
            #expect(await code { () throws(AccountError) in try await cookie.signIn(password()) } == "wrong_context")
        }
    }

    @Test("the portal's versions: other services, other exceptions, numbers and text", arguments: ["6.1", "6.2", "7"])
    func versions(version: String) async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            try await desk.control("settings", ["version": .string(version)])
            let number = ["6.1": "61", "6.2": "62", "7": "71"][version] ?? ""
            let provider = try desk.provider("liferay", portal("cookie", ["serverVersion": number]))
            if version == "6.1" {
                // Before the plug-in there is no service for it; the portal reports that in the oldest format.
                let error = await accountError { () throws(AccountError) in
                    try await desk.session(provider).signIn(password())
                }
                #expect(error == nil || error?.code == .unsupported)
            } else {
                #expect(try await desk.session(provider).signIn(password()).userID == UserID("1001"))
            }
            let basic = try desk.provider("liferay", portal("basic", ["serverVersion": number]))
            let session = desk.session(basic)
            let user = try await session.signIn(password())
            #expect(user.attributes.first { $0.name == "userId" }?.value == 1001)
            let account = try LiferayAccount(session, basic)
            let error = await accountError { () throws(AccountError) in
                try await account.invoke("/user/get-user-by-id", [.init("userId", 999_999)])
            }
            #expect(error?.code == .unknownUser && error?.serverCause == "NoSuchUserException")
            #expect(await code { () throws(AccountError) in try await account.invoke("/no/such") } == "unsupported")
        }
    }

    // MARK: cookie

    @Test("cookie: the portal's form, its redirects and the page's token are a session that opens documents, too")
    func cookie() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            let provider = try desk.provider("liferay", portal("cookie"))
            let session = desk.session(provider)
            #expect(try await session.signIn(password()).userID == UserID("1001"))
            let asked = try #require(desk.http.requests.last)
            #expect(asked.headers.contains { $0.name == "X-CSRF-Token" } && asked.authorization == nil)
            let document = HTTPRequest(method: .get, url: desk.base + "/documents/10184/0/private.txt")
            #expect(String(decoding: try await session.send(document).body, as: UTF8.self) == "for members\n")
            // The password went out once.
            #expect(desk.http.count("/c/portal/login", .post) == 1)
            // A request without the page's token is a stranger's.
            var bare = try #require(desk.store.load(desk.key)).tokens
            bare.extras["csrf"] = nil
            #expect(await code { () throws(AccountError) in try await provider.user(bare) } == "expired")
            guard case .complete = try await session.signOut() else {
                Issue.record("not told")
                return
            }
            #expect(desk.http.count("/c/portal/logout") == 1)
        }
    }

    @Test(
        "cookie: wrong password, unverified user, and a portal whose guests have tokens, too", arguments: [false, true])
    func cookieRefusals(guestTokens: Bool) async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            try await desk.control("settings", ["guest_tokens": .bool(guestTokens)])
            let session = desk.session(try desk.provider("liferay", portal("cookie")))
            let attempt = { (user: String, word: String) in
                await code { () throws(AccountError) in try await session.signIn(password(user, word)) }
            }
            #expect(await attempt("ada@example.com", "wrong") == "invalid_credentials")
            #expect(await attempt("nobody@example.com", "correct-horse") == "invalid_credentials")
            #expect(await attempt("eve@example.com", "correct-horse") == "unverified_user")
            #expect(desk.store.load(desk.key) == nil)
            try await desk.control(
                "faults",
                [
                    "rules": [
                        ["method": "POST", "path": "/c/portal/login", "action": "status", "status": 500, "count": 1]
                    ]
                ])
            #expect(await attempt("ada@example.com", "correct-horse") == "forbidden")
        }
    }

    @Test(
        "a cookie lives for 900 seconds: at 899 it is used, at 901 it is renewed before the request",
        arguments: [(899.0, 1), (901.0, 2)])
    func cookieExpiry(seconds: Double, signIns: Int) async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            let session = desk.session(try desk.provider("liferay", portal("cookie")))
            _ = try await session.signIn(password())
            // The portal keeps its session longer than that: it is our own clock that renews.
            desk.clock.advance(seconds: seconds)
            #expect(try await session.user().userID == UserID("1001"))
            #expect(desk.http.count("/c/portal/login", .post) == signIns)
        }
    }

    @Test("fifty requests with an old cookie share one renewal")
    func oneRenewal() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            let session = desk.session(try desk.provider("liferay", portal("cookie")))
            _ = try await session.signIn(password())
            try await desk.advance(seconds: 901)
            let document = HTTPRequest(method: .get, url: desk.base + "/documents/10184/0/private.txt")
            await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<50 { group.addTask { try? await session.send(document).status } }
                for await status in group { #expect(status == 200) }
            }
            #expect(desk.http.count("/c/portal/login", .post) == 2)
        }
    }

    @Test("renewal switched off: an old cookie is asked with until the portal refuses, and then the session is over")
    func noRenewal() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            let settings = portal("cookie", ["shouldHandleCookieExpiration": "false"])
            let session = desk.session(try desk.provider("liferay", settings))
            _ = try await session.signIn(password())
            #expect(try await session.status().isRenewable == false)
            // No password is kept that nobody will need.
            #expect(desk.store.load(desk.key)?.tokens.refresh == nil)
            try await desk.advance(seconds: 901)
            #expect(await code { () throws(AccountError) in try await session.user() } == "expired")
            #expect(desk.http.count("/c/portal/login", .post) == 1)
            #expect(desk.store.load(desk.key) == nil)
        }
    }

    @Test(
        "a cookie that the portal forgot too early is renewed when the portal reports that, with 200 and an exception")
    func forgotten() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            let provider = try desk.provider("liferay", portal("cookie"))
            let session = desk.session(provider)
            _ = try await session.signIn(password())
            try await desk.control("revoke", ["user": "ada@example.com"])
            let user = try await LiferayAccount(session, provider).invoke("/user/get-current-user")
            #expect(user["screenName"] == "ada")
            try await desk.control("revoke", ["user": "ada@example.com"])
            #expect(try await session.user().userID == UserID("1001"))
            #expect(desk.http.count("/c/portal/login", .post) == 3)
        }
    }

    @Test("a portal that cannot be reached ends no session, and the user is known offline")
    func offline() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            let session = desk.session(try desk.provider("liferay", portal("cookie")))
            _ = try await session.signIn(password())
            let saved = desk.store.load(desk.key)
            try await desk.advance(seconds: 901)
            for status in [503, 502] {
                let rule: JSONValue = [
                    "path": "/c/portal/login", "action": "status", "status": .integer(Int64(status)),
                ]
                try await desk.control("faults", ["rules": [rule]])
                #expect(await code { () throws(AccountError) in try await session.user() } == "server_fault")
                #expect(desk.store.load(desk.key) == saved)
            }
            try await desk.control("faults", ["rules": [["path": "/c/portal/login", "action": "reset"]]])
            #expect(await code { () throws(AccountError) in try await session.user() } == "network")
            #expect(desk.store.load(desk.key) == saved)
            let stored = try await session.storedUser()
            #expect(stored.attributes.first { $0.name == "screenName" }?.value == "ada")
            #expect(stored.attributes.first { $0.name == "companyId" }?.value == 10157)
        }
    }

    // MARK: Challenges

    private struct Guard: ChallengeResolver {
        let answers: [ChallengeAnswer]
        let counts = Counts()
        final class Counts: Sendable {
            let value = Mutex<[Int]>([])
            var all: [Int] { value.withLock { $0 } }
        }
        init(_ answers: [ChallengeAnswer]) { self.answers = answers }
        func resolve(_ challenge: AuthenticationChallenge) async -> ChallengeAnswer {
            counts.value.withLock { $0.append(challenge.previousFailureCount) }
            let index = min(challenge.previousFailureCount, answers.count - 1)
            return answers[index]
        }
    }

    @Test(
        "a server before the portal asks: the right answer lets in, a wrong one is asked for again, and never for ever")
    func challenges() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            try await desk.control("settings", ["challenge": ["user": "proxy", "password": "planted-proxy"]])
            let right = ChallengeAnswer.useCredential(user: "proxy", password: Secret("planted-proxy"))
            let wrong = ChallengeAnswer.useCredential(user: "proxy", password: Secret("wrong"))
            let cases: [([ChallengeAnswer], String?, [Int])] = [
                ([right], nil, [0]), ([wrong, right], nil, [0, 1]),
                // Answered once; then the refusal remains, as in the Screenlet's own example.
                ([wrong, .performDefaultHandling], "invalid_credentials", [0, 1]),
                ([.performDefaultHandling], "invalid_credentials", [0]), ([.cancel], "cancelled", [0]),
                ([wrong], "invalid_credentials", [0, 1, 2]),
            ]
            for (answers, reason, counts) in cases {
                let gatekeeper = Guard(answers)
                let provider = try desk.provider("liferay", portal("cookie"), challenges: gatekeeper)
                let session = desk.session(provider, store: InMemoryCredentialStore())
                let result = await code { () throws(AccountError) in
                    _ = try await session.signIn(password())
                    // What let in goes with each request from then on.
                    _ = try await session.user()
                }
                #expect(result == reason)
                #expect(gatekeeper.counts.all == counts)
            }
            // A renewal passes by what let the sign-in pass: nobody is asked again.
            let gatekeeper = Guard([right])
            let session = desk.session(
                try desk.provider("liferay", portal("cookie"), challenges: gatekeeper), store: InMemoryCredentialStore()
            )
            _ = try await session.signIn(password())
            desk.clock.advance(seconds: 901)
            #expect(try await session.user().userID == UserID("1001"))
            #expect(gatekeeper.counts.all == [0])
            let nobody = desk.session(try desk.provider("liferay", portal("cookie")))
            #expect(
                await code { () throws(AccountError) in try await nobody.signIn(password()) } == "invalid_credentials")
        }
    }

    // MARK: OAuth 2.0

    @Test("oauth2UsernameAndPassword: a password for a token, which is renewed")
    func passwordGrant() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            var settings = portal("oauth2UsernameAndPassword")
            settings.clientID = "screens-2"
            let bare = desk.session(try desk.provider("liferay", settings))
            #expect(await code { () throws(AccountError) in try await bare.signIn(password()) } == "missing_parameter")
            settings.clientSecret = Secret("screens-2-secret")
            settings.scope = ["liferay-json-web-services.everything"]
            let session = desk.session(try desk.provider("liferay", settings))
            let attempt = { (user: String, word: String) in
                await code { () throws(AccountError) in try await session.signIn(password(user, word)) }
            }
            #expect(await attempt("ada@example.com", "wrong") == "invalid_credentials")
            #expect(await attempt("eve@example.com", "correct-horse") == "unverified_user")
            #expect(try await session.signIn(password()).userID == UserID("1001"))
            #expect(desk.http.requests.last?.authorization?.hasPrefix("Bearer ") == true)
            try await desk.advance(seconds: 601)
            #expect(try await session.user().userID == UserID("1001"))
            #expect(try await session.status().kind == .oauth)
            settings.clientSecret = Secret("wrong")
            let other = desk.session(try desk.provider("liferay", settings), store: InMemoryCredentialStore())
            #expect(await code { () throws(AccountError) in try await other.signIn(password()) } == "client_refused")
        }
    }

    @Test("oauth2Redirect: a code with PKCE from the portal's own page, and no secret")
    func redirect() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            var settings = portal("oauth2Redirect")
            settings.clientID = "screens-1"
            settings.scope = ["liferay-json-web-services.everything.read"]
            let provider = try desk.provider("liferay", settings)
            let session = desk.session(provider)
            let robot = PageRobot(http: desk.http)
            let credentials = try await provider.signInThroughBrowser(by: robot)
            #expect(try await session.signIn(credentials).userID == UserID("1001"))
            #expect(desk.http.requests.contains { $0.url.contains("code_challenge_method=S256") })
            // The code is used up.
            #expect(await code { () throws(AccountError) in try await session.signIn(credentials) } != nil)
            #expect(await code { () throws(AccountError) in try await session.signIn(password()) } == "unsupported")
            let denying = PageRobot(http: desk.http, intent: .deny)
            #expect(
                await code { () throws(AccountError) in
                    try await provider.signInThroughBrowser(by: denying)
                } == "access_denied")
        }
    }

    @Test("the Screenlet's four delegate calls are events, each once and in order")
    func events() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            let store = FileCredentialStore(folder: folder.file("sessions"))
            let session = desk.session(try desk.provider("liferay", portal("basic")), store: store)
            let events = session.events()
            _ = try? await session.signIn(password("ada@example.com", "wrong"))
            _ = try await session.signIn(password())
            var names: [String] = []
            for await event in events {
                names.append(event.name)
                if case .signedIn(let status) = event {
                    #expect(status.attributes.first { $0.name == "emailAddress" }?.value == "ada@example.com")
                    break
                }
            }
            #expect(names == ["signInFailed invalid_credentials", "saved", "signedIn"])
            // A later session finds what was stored.
            let later = desk.session(try desk.provider("liferay", portal("basic")), store: store)
            let heard = later.events()
            _ = try await later.user()
            for await event in heard {
                guard case .loaded(let status) = event else {
                    Issue.record("\(event.name)")
                    break
                }
                #expect(status.attributes.first { $0.name == "screenName" }?.value == "ada")
                break
            }
        }
    }

    @Test("signing out of OAuth makes its tokens worthless, and a program without a user signs in with its own name")
    func clientAndRevocation() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            var settings = portal("oauth2UsernameAndPassword")
            settings.clientID = "screens-2"
            settings.clientSecret = Secret("screens-2-secret")
            settings.scope = ["liferay-json-web-services.everything"]
            let provider = try desk.provider("liferay", settings)
            let session = desk.session(provider)
            _ = try await session.signIn(password())
            let tokens = try #require(desk.store.load(desk.key)).tokens
            guard case .complete = try await session.signOut() else {
                Issue.record("not told")
                return
            }
            #expect(await code { () throws(AccountError) in try await provider.user(tokens) } != nil)
            await #expect(throws: RenewalError.self) { try await provider.renew(tokens) }
            let own = desk.session(provider, store: InMemoryCredentialStore())
            #expect(try await own.signIn(.clientCredentials).userID == UserID("screens-2"))
        }
    }
}
