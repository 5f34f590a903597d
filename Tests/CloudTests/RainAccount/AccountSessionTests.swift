// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import Logging
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import RainMaker
import Synchronization
import TestSupport
import Testing

@Suite("An account's session")
struct AccountSessionTests {
    private func failure(_ bench: Bench) async -> AccountError? {
        await accountError { () throws(AccountError) in try await bench.session.send(bench.request) }
    }

    @Test("a request is sent with the stored token, and nothing else happens")
    func plain() async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(.get, "/v1/user/nodes", "{}")
        #expect(try await bench.session.send(bench.request).status == 200)
        #expect(bench.http.requests[0].authorization == accessToken("a"))
        #expect(try await bench.session.userID() == UserID("user-1"))
        try bench.http.finish()
    }

    @Test("nobody signed in: nothing is sent")
    func notSignedIn() async throws {
        let bench = try Bench()
        #expect(await failure(bench)?.code == .notSignedIn)
        #expect(
            await accountError { () throws(AccountError) in try await bench.session.userID() }?.code == .notSignedIn)
        #expect(
            await accountError { () throws(AccountError) in try await bench.session.signOut() }?.code == .notSignedIn)
        try bench.http.finish()
    }

    @Test("a session of another provider is not used")
    func otherProvider() async throws {
        var saved = savedSession("a")
        saved.provider = "spid"
        #expect(await failure(try Bench(saved))?.code == .notSignedIn)
    }

    @Test(
        "tokens go only to the provider's own services",
        arguments: [
            "http://127.0.0.1:12/v1/user", "http://127.0.0.1:1.evil.example/", "https://127.0.0.1:1/v1/user",
            "http://127.0.0.1:1@evil.example/", "https://evil.example/http://127.0.0.1:1/",
        ])
    func otherService(url: String) async throws {
        let bench = try Bench(savedSession("a"))
        let request = HTTPRequest(method: .get, url: url)
        let error = await accountError { () throws(AccountError) in try await bench.session.send(request) }
        #expect(error?.code == .invalidConfiguration)
        try bench.http.finish()
    }

    @Test("a token that expires soon is renewed first, and the new one is stored before it is used")
    func proactive() async throws {
        let bench = try Bench(savedSession("a"))
        bench.clock.advance(seconds: 3541)
        bench.expectRenewal(to: "b")
        let (store, key) = (bench.store, bench.key)
        bench.http.expect(.get, "/v1/user/nodes") { request in
            let stored = try? await store.load(key)
            #expect(stored?.tokens.access.revealString() == request.authorization)
            return HTTPResponse(status: 200)
        }
        _ = try await bench.session.send(bench.request)
        #expect(bench.http.requests[0].json == ["refreshtoken": "planted-refresh-a"])
        #expect(bench.http.requests[0].authorization == nil)
        let saved = try #require(try await bench.stored())
        #expect(saved.tokens.refresh == Secret("planted-refresh-a"), "the cloud does not rotate it, so it is kept")
        #expect(saved.tokens.identity == Secret("id-b"))
        try bench.http.finish()
    }

    @Test("a deployment that rotates refresh tokens has its new one stored")
    func rotation() async throws {
        let bench = try Bench(savedSession("a", life: 1))
        bench.clock.advance(seconds: 10)
        let access = accessToken("b")
        bench.http.expect(.post, "/v1/login2", #"{"status":"success","accesstoken":"\#(access)","refreshtoken":"r2"}"#)
        bench.http.expect(.get, "/v1/user/nodes", "{}")
        _ = try await bench.session.send(bench.request)
        #expect(try await bench.stored()?.tokens.refresh == Secret("r2"))
    }

    @Test("answered 401, tokens are renewed once and the request is sent once more", arguments: [200, 401, 500])
    func rejected(second: Int) async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(.get, "/v1/user/nodes", status: 401, #"{"message":"Unauthorized"}"#)
        bench.expectRenewal(to: "b")
        bench.http.expect(.get, "/v1/user/nodes", status: second, "{}")
        #expect(try await bench.session.send(bench.request).status == second)
        #expect(
            bench.http.requests.map(\.authorization) == [
                accessToken("a"), nil, accessToken("b", issued: bench.clock.now.seconds),
            ])
        #expect(try await bench.stored() != nil)
        try bench.http.finish()
    }

    @Test("the profile too is requested once more after a renewal")
    func profileAgain() async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(.get, "/v1/user2", status: 401, #"{"message":"Unauthorized"}"#)
        bench.expectRenewal(to: "b")
        bench.http.expect(.get, "/v1/user2", Bench.profile)
        #expect(try await bench.session.user().userName == "dev@example.com")
        try bench.http.finish()
    }

    @Test(
        "only an authoritative refusal ends the session",
        arguments: [101_017, 101_016, 100_047, 101_025])
    func refusal(code: Int) async throws {
        let bench = try Bench(savedSession("a", life: 1))
        bench.clock.advance(seconds: 10)
        bench.http.expect(
            .post, "/v1/login2", status: 400, #"{"status":"failure","error_code":\#(code),"description":"d"}"#)
        let error = await failure(bench)
        #expect(error?.code == .expired)
        #expect(error?.serverCode == code)
        #expect(try await bench.stored() == nil)
        let later = await failure(bench)
        #expect(later?.code == .notSignedIn && later?.message == error?.message)
        #expect(later?.message.hasPrefix("the session has ended") == true)
        try bench.http.finish()
    }

    @Test(
        "any other error keeps the session",
        arguments: [
            (500, #"{"status":"failure","error_code":101017,"description":"d"}"#), (502, "<html>"), (200, "<html>"),
            (401, #"{"message":"Unauthorized"}"#), (403, "<html>"), (429, #"{"message":"Too Many Requests"}"#),
            (400, #"{"status":"failure","error_code":100006,"description":"d"}"#), (400, #"{"message":"x"}"#),
            (200, "{}"),
        ])
    func noRefusal(status: Int, body: String) async throws {
        let bench = try Bench(savedSession("a", life: 1))
        bench.clock.advance(seconds: 10)
        bench.http.expect(.post, "/v1/login2", status: status, body)
        #expect(await failure(bench) != nil)
        #expect(try await bench.stored() == savedSession("a", life: 1))
        bench.expectRenewal(to: "b")
        bench.http.expect(.get, "/v1/user/nodes", "{}")
        _ = try await bench.session.send(bench.request)
        try bench.http.finish()
    }

    @Test(
        "a network fault keeps the session, and the old token is used until it expires",
        arguments: [HTTPError.Code.unreachable, .timeout, .tls, .closed])
    func networkFault(fault: HTTPError.Code) async throws {
        let bench = try Bench(savedSession("a"))
        bench.clock.advance(seconds: 3550)
        bench.http.expect(.post, "/v1/login2", failure: fault)
        bench.http.expect(.get, "/v1/user/nodes", "{}")
        _ = try await bench.session.send(bench.request)
        #expect(bench.http.requests[1].authorization == accessToken("a"))

        bench.clock.advance(seconds: 50)
        bench.http.expect(.post, "/v1/login2", failure: fault)
        #expect(await failure(bench)?.code != .expired)
        #expect(try await bench.stored() != nil)
        try bench.http.finish()
    }

    @Test("without a refresh token the session ends with the access token")
    func noRefreshToken() async throws {
        var saved = savedSession("a")
        saved.tokens.refresh = nil
        let bench = try Bench(saved)
        bench.clock.advance(seconds: 3700)
        #expect(await failure(bench)?.code == .expired)
        try bench.http.finish()
    }

    @Test("a sign-in is not sent if the store cannot save it")
    func probe() async throws {
        let bench = try Bench(store: FullStore())
        let credentials = SignInCredentials.password(user: "u", password: Secret("planted-password"))
        let error = await accountError { () throws(AccountError) in try await bench.session.signIn(credentials) }
        #expect(error?.code == .cannotStore)
        try bench.http.finish()
    }

    @Test("renewed tokens that the store could not save are not lost")
    func unsaved() async throws {
        let store = FullStore(session: savedSession("a", life: 1), fails: { $0 == .save })
        let bench = try Bench(store: store)
        bench.clock.advance(seconds: 10)
        bench.expectRenewal(to: "b")
        #expect(await failure(bench)?.code == .cannotStore)
        store.failures = { _ in false }
        bench.http.expect(.get, "/v1/user/nodes", "{}")
        _ = try await bench.session.send(bench.request)
        #expect(try await bench.stored()?.tokens.identity == Secret("id-b"))
        try bench.http.finish()
    }

    @Test("no secret reaches a log, whatever happens")
    func logs() async throws {
        let lines = CapturedLog()
        let http = ScriptedHTTPClient()
        let deployment = try Deployment(name: "sim", base: "http://127.0.0.1:1")
        let clock = ManualWallClock()
        var logger = Logger(label: "test") { _ in lines.handler }
        logger.logLevel = .trace
        let session = try AccountSession.rainMaker(
            deployment, http: http, store: InMemoryCredentialStore(), clock: clock, logger: logger, timer: ManualClock()
        )
        let access = accessToken("a")
        http.expect(
            .post, "/v1/login2",
            #"{"accesstoken":"\#(access)","idtoken":"planted-id","refreshtoken":"planted-refresh"}"#)
        http.expect(.get, "/v1/user2", Bench.profile)
        _ = try await session.signIn(.password(user: "dev@example.com", password: Secret("planted-password")))
        http.expect(.get, "/v1/user2", status: 401, #"{"message":"Unauthorized"}"#)
        http.expect(.post, "/v1/login2", status: 400, #"{"error_code":101017,"description":"d"}"#)
        _ = await accountError { () throws(AccountError) in try await session.user() }
        try http.finish()
        #expect(!lines.text.isEmpty)
        #expect(!lines.text.contains("planted"))
        #expect(!lines.text.contains(access.prefix(20)))
        #expect(lines.levels.allSatisfy { $0 <= .debug })
    }
}

/// A store that refuses some steps.
final class FullStore: CredentialStore {
    enum Step { case turn, save }
    private struct State {
        var session: SavedSession?
        var fails: @Sendable (Step) -> Bool
    }
    private let state: Mutex<State>

    init(session: SavedSession? = nil, fails: @escaping @Sendable (Step) -> Bool = { _ in true }) {
        state = Mutex(State(session: session, fails: fails))
    }

    var failures: @Sendable (Step) -> Bool {
        get { state.withLock { $0.fails } }
        set { state.withLock { $0.fails = newValue } }
    }

    func load(_ key: CredentialKey) -> SavedSession? { state.withLock { $0.session } }

    func exclusively<Result: Sendable>(
        _ key: CredentialKey, within limit: Duration,
        _ body: @Sendable (any CredentialAccess) async throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        try fail(.turn)
        return try await body(Access(store: self))
    }

    private func fail(_ step: Step) throws(AccountError) {
        if failures(step) { throw AccountError(.cannotStore, message: "no space left") }
    }

    private struct Access: CredentialAccess {
        let store: FullStore
        func load() -> SavedSession? { store.state.withLock { $0.session } }
        func save(_ session: SavedSession) throws(AccountError) {
            try store.fail(.save)
            store.state.withLock { $0.session = session }
        }
        func remove() { store.state.withLock { $0.session = nil } }
    }
}
