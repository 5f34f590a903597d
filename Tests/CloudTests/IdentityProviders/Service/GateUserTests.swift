// SPDX-License-Identifier: Apache-2.0
@testable import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import Synchronization
import TestSupport
import Testing

@Suite("A server in front of the provider that asks for a name and password")
struct GateUserTests {
    private struct Guard: ChallengeResolver {
        var answer = ChallengeAnswer.useCredential(user: "gate", password: Secret("planted-gate"))
        let counts = Counts()
        final class Counts: Sendable {
            let value = Mutex<[Int]>([])
            var all: [Int] { value.withLock { $0 } }
        }
        func resolve(_ challenge: AuthenticationChallenge) async -> ChallengeAnswer {
            counts.value.withLock { $0.append(challenge.previousFailureCount) }
            return answer
        }
    }

    private static let basic = "Basic Z2F0ZTpwbGFudGVkLWdhdGU="
    private static let user = #"{"userId":"1001","companyId":"10157","emailAddress":"ada@example.com"}"#
    private static let invoke = "/api/jsonws/invoke"
    private let ada = SignInCredentials.password(user: "ada@example.com", password: Secret("correct-horse"))

    private func provider(
        _ id: String, _ settings: ProviderSettings, _ resolver: (any ChallengeResolver)? = Guard()
    ) throws -> (ConfiguredProvider, ScriptedHTTPClient) {
        let http = ScriptedHTTPClient()
        var (settings, tools) = (settings, ProviderBench.tools(http, ManualWallClock()))
        settings.base = settings.base ?? (id == "oidc" ? nil : "http://127.0.0.1:1")
        tools.challenges = resolver
        return (try ProviderRegistry.builtIn.provider(id, settings: settings, tools: tools), http)
    }

    private func liferay(
        _ mode: String, _ resolver: (any ChallengeResolver)? = Guard()
    ) throws -> (ConfiguredProvider, ScriptedHTTPClient) {
        try provider(
            "liferay",
            ProviderSettings(
                clientID: "screens-2", clientSecret: Secret("s"), mode: mode, parameters: ["companyId": "10157"]),
            resolver)
    }

    /// A server in front that accepts its own name and password, and then answers with `body`.
    private func expectGate(
        _ http: ScriptedHTTPClient, _ method: HTTPRequest.Method, _ target: String, proxy: Bool = false,
        scheme: String = "Basic", realm: String = "front door", opens: Bool = false, _ body: String = ""
    ) {
        http.expect(method, target) { request throws(HTTPError) in
            let name = proxy ? "Proxy-Authorization" : "Authorization"
            guard opens, request.headers.contains(HTTPHeader(name, Self.basic)) else {
                let ask = HTTPHeader(proxy ? "Proxy-Authenticate" : "WWW-Authenticate", "\(scheme) realm=\"\(realm)\"")
                return HTTPResponse(
                    status: proxy ? 407 : 401, headers: [ask], body: Array("<html>Who are you?</html>".utf8))
            }
            return HTTPResponse(status: 200, body: Array(body.utf8))
        }
    }

    private func expectNamed(
        _ error: AccountError?, _ says: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let message = error?.message ?? ""
        #expect(error?.remedies == [.gateCredentials], "\(error as Any)", sourceLocation: sourceLocation)
        #expect(error?.isFromGateway == true && error?.status == nil, sourceLocation: sourceLocation)
        for words in says { #expect(message.contains(words), "\(message)", sourceLocation: sourceLocation) }
        #expect(
            !message.contains("planted") && !message.contains("wrong user name"), "\(message)",
            sourceLocation: sourceLocation)
    }

    @Test(
        "basic: the header is already used for the portal, so the error names the mode that works",
        arguments: ["Basic", "Digest", "Negotiate"])
    func conflict(scheme: String) async throws {
        let (provider, http) = try liferay("basic")
        expectGate(http, .post, Self.invoke, scheme: scheme)
        let error = await accountError { () throws(AccountError) in try await provider.signIn(ada) }
        expectNamed(error, "front door", "127.0.0.1:1", "401", "cookie")
        try http.finish()
    }

    @Test("the portal's own refusal remains a wrong password", arguments: ["Basic realm=\"PortalRealm\"", nil])
    func portal(challenge: String?) async throws {
        let (provider, http) = try liferay("basic")
        http.expect(.post, Self.invoke) { _ throws(HTTPError) in
            HTTPResponse(status: 401, headers: challenge.map { [HTTPHeader("WWW-Authenticate", $0)] } ?? [])
        }
        let error = await accountError { () throws(AccountError) in try await provider.signIn(ada) }
        #expect(
            error?.code == .invalidCredentials && error?.remedies.contains(.gateCredentials) == false, "\(error as Any)"
        )
    }

    @Test("basic through a proxy: its name and password are sent in their own header, with each later request")
    func proxy() async throws {
        let (provider, http) = try liferay("basic")
        expectGate(http, .post, Self.invoke, proxy: true)
        expectGate(http, .post, Self.invoke, proxy: true, opens: true, "[\(Self.user)]")
        let tokens = try await provider.signIn(ada)
        #expect(http.requests.last?.authorization == "Basic YWRhQGV4YW1wbGUuY29tOmNvcnJlY3QtaG9yc2U=")
        try http.finish()
        // Another process has only the tokens.
        var later = HTTPRequest(method: .get, url: "http://127.0.0.1:1/x")
        try liferay("basic", nil).0.authorize(&later, with: tokens)
        #expect(later.headers.contains(HTTPHeader("Proxy-Authorization", Self.basic)))
        var foreign = HTTPRequest(method: .get, url: "http://127.0.0.2:1/x")
        try liferay("basic", nil).0.authorize(&foreign, with: tokens)
        #expect(!foreign.headers.contains { $0.name == "Proxy-Authorization" })
    }

    @Test("if the server in front no longer accepts a name and password, it is asked for again")
    func changed() async throws {
        let guardian = Guard()
        let (provider, http) = try provider(
            "spid", ProviderSettings(clientID: "app-1", clientSecret: Secret("s")), guardian)
        let answer = #"{"access_token":"a","user_id":"1001","expires_in":3600}"#
        for _ in 0..<2 {
            expectGate(http, .post, "/oauth/token")
            expectGate(http, .post, "/oauth/token", opens: true, answer)
            _ = try await provider.signIn(ada)
        }
        #expect(guardian.counts.all == [0, 0])
        try http.finish()
    }

    @Test("if a server in front offers several schemes, the supported one is used")
    func schemes() {
        let response = HTTPResponse(
            status: 401,
            headers: ["Negotiate", "NTLM", "Basic realm=\"front door\""].map { HTTPHeader("WWW-Authenticate", $0) })
        let challenge = AuthenticationChallenge(response, host: "gate.example")
        #expect(challenge?.scheme == "basic" && challenge?.realm == "front door")
        let one = HTTPResponse(status: 401, headers: [HTTPHeader("WWW-Authenticate", "Negotiate, NTLM")])
        #expect(AuthenticationChallenge(one, host: "gate.example")?.scheme == "negotiate")
    }

    @Test("OAuth: for a token request whose header is already used, the error names the mode that works")
    func token() async throws {
        let (provider, http) = try liferay("oauth2UsernameAndPassword")
        expectGate(http, .post, "/o/oauth2/token")
        let error = await accountError { () throws(AccountError) in try await provider.signIn(ada) }
        expectNamed(error, "front door", "cookie")
        try http.finish()
    }

    @Test("a client with its proof in the body passes the server in front, and so does a token in the URL")
    func passes() async throws {
        let (provider, http) = try provider(
            "spid", ProviderSettings(clientID: "app-1", clientSecret: Secret("s")))
        expectGate(http, .post, "/oauth/token")
        expectGate(
            http, .post, "/oauth/token", opens: true, #"{"access_token":"a","user_id":"1001","expires_in":3600}"#)
        let tokens = try await provider.signIn(ada)
        try http.finish()
        // The user's token is in the header that the server in front requires.
        expectGate(http, .get, "/api/2/user/1001")
        let error = await accountError { () throws(AccountError) in try await provider.user(tokens) }
        expectNamed(error, "header")
    }

    @Test("discovery passes once, for all later requests")
    func discovery() async throws {
        let guardian = Guard()
        let (provider, http) = try provider(
            "oidc", ProviderSettings(clientID: "app-1", parameters: ["issuer": "http://127.0.0.1:1/"]), guardian)
        let place = "/.well-known/openid-configuration"
        expectGate(http, .get, place)
        expectGate(
            http, .get, place, opens: true,
            #"{"issuer":"http://127.0.0.1:1/","token_endpoint":"http://127.0.0.1:1/token"}"#)
        expectGate(http, .post, "/token", opens: true, #"{"access_token":"a","token_type":"Bearer"}"#)
        _ = try await provider.signIn(ada)
        #expect(guardian.counts.all == [0])
        try http.finish()
    }

    static let silent: [(ChallengeAnswer?, Int)] = [
        (nil, 1), (.performDefaultHandling, 1), (.useCredential(user: "gate", password: Secret("wrong")), 4),
    ]

    @Test(
        "without an answer, or with a wrong name and password, the error names them, and asking ends",
        arguments: silent)
    func refused(answer: ChallengeAnswer?, requests: Int) async throws {
        let resolver = answer.map { Guard(answer: $0) }
        let (spid, http) = try provider(
            "spid", ProviderSettings(clientID: "app-1", clientSecret: Secret("s")), resolver)
        for _ in 0..<requests { expectGate(http, .post, "/oauth/token") }
        let error = await accountError { () throws(AccountError) in try await spid.signIn(ada) }
        #expect(error?.code == .invalidCredentials)
        expectNamed(error, "name and password", "front door")
        try http.finish()

        let (portal, page) = try liferay("cookie", resolver)
        for _ in 0..<requests { expectGate(page, .get, "/c/portal/login") }
        expectNamed(await accountError { () throws(AccountError) in try await portal.signIn(ada) }, "front door")
        try page.finish()
    }

    @Test("cookies pass the server in front, with the form and with each later request")
    func cookies() async throws {
        let (provider, http) = try liferay("cookie")
        let page = "<script>Liferay.authToken = 'AbC12345';</script>"
        expectGate(http, .get, "/c/portal/login")
        expectGate(http, .get, "/c/portal/login", opens: true, page)
        expectGate(http, .post, "/c/portal/login", opens: true, page)
        expectGate(http, .post, Self.invoke, opens: true, "[\(Self.user)]")
        let tokens = try await provider.signIn(ada)
        expectGate(http, .post, Self.invoke, opens: true, "[\(Self.user)]")
        #expect(try await provider.user(tokens).userID == UserID("1001"))
        try http.finish()
    }

    @Test("a server in front that is added later ends no session")
    func later() async throws {
        let (provider, http) = try liferay("basic", nil)
        http.expect(.post, Self.invoke, "[\(Self.user)]")
        http.expect(.post, Self.invoke, "[\(Self.user)]")
        let key = try CredentialKey("liferay")
        let store = InMemoryCredentialStore()
        let session = AccountSession(
            provider: provider, http: http, store: store, key: key, clock: ManualWallClock(), timer: ManualClock())
        _ = try await session.signIn(ada)
        expectGate(http, .post, Self.invoke)
        expectNamed(await accountError { () throws(AccountError) in try await session.user() }, "front door")
        #expect(store.load(key) != nil)
        try http.finish()
    }

    @Test("a client's secret in quotation marks is named as the cause of the provider's refusal")
    func quotedSecret() async throws {
        let (provider, http) = try provider("spid", ProviderSettings(clientID: "app-1", clientSecret: Secret("'s'")))
        http.expect(.post, "/oauth/token") { _ throws(HTTPError) in
            HTTPResponse(
                status: 401, headers: [HTTPHeader("WWW-Authenticate", "Basic realm=\"spid\"")],
                body: Array(#"{"error":"invalid_client"}"#.utf8))
        }
        let error = await accountError { () throws(AccountError) in try await provider.signIn(ada) }
        let words = "(invalid_client): the given client secret is in quotation marks"
        #expect(error?.code == .clientRefused && error?.message.contains(words) == true, "\(error?.message ?? "")")
        try http.finish()
    }

    @Test("a refusal in JSON belongs to the provider, whatever it asks for")
    func ownRefusal() async throws {
        let (provider, http) = try provider("spid", ProviderSettings(clientID: "app-1", clientSecret: Secret("s")))
        http.expect(.post, "/oauth/token") { _ throws(HTTPError) in
            HTTPResponse(
                status: 401, headers: [HTTPHeader("WWW-Authenticate", "Basic realm=\"spid\"")],
                body: Array(#"{"error":"invalid_client"}"#.utf8))
        }
        #expect(
            await accountError { () throws(AccountError) in try await provider.signIn(ada) }?.code == .clientRefused)
        try http.finish()
    }
}
