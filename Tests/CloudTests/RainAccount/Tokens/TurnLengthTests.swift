// SPDX-License-Identifier: Apache-2.0
@testable import IdentityProviders
@testable import RainAccount
import RainCore
import RainHTTP
import RainKitTesting
import Synchronization
@testable import TestSupport
import Testing

/// How long one caller may hold the lock of a store, and how long the others wait.
@Suite("A slow provider's turn")
struct TurnLengthTests {
    private static let metadata =
        #"{"issuer":"http://127.0.0.1:1","authorization_endpoint":"http://127.0.0.1:1/a","token_endpoint":"http://127.0.0.1:1/token"}"#

    /// An OpenID provider's session in a store that several callers share. Each requests the provider's description first.
    private func session(
        _ store: any CredentialStore, _ http: ScriptedHTTPClient, _ clock: ManualWallClock,
        timer: any Clock<Duration> = ContinuousClock()
    ) throws -> AccountSession {
        let settings = ProviderSettings(clientID: "app-1", parameters: ["issuer": "http://127.0.0.1:1"])
        let provider = try ProviderRegistry.builtIn.provider(
            "oidc", settings: settings, tools: ProviderBench.tools(http, clock))
        return AccountSession(
            provider: provider, http: http, store: store, key: try CredentialKey("sim"), clock: clock,
            timer: timer)
    }

    private func saved(_ clock: ManualWallClock) throws -> SavedSession {
        var tokens = Tokens(access: Secret("old"), refresh: Secret("r"), received: clock.now)
        tokens.expires = clock.now
        return SavedSession(
            provider: "oidc", userID: UserID("1"), userName: "ada", tokens: tokens,
            context: try session(InMemoryCredentialStore(), ScriptedHTTPClient(), clock).provider.context)
    }

    @Test("a caller that waits for a renewal of several slow answers gets its tokens, and does not give up before")
    func slow() async throws {
        let (clock, wall, http) = (ManualClock(), ManualWallClock(), ScriptedHTTPClient())
        let store = try TimedStore(try saved(wall), clock)
        let (first, second) = (try session(store, http, wall), try session(store, http, wall))
        for (method, target, body) in [
            (HTTPRequest.Method.get, "/.well-known/openid-configuration", Self.metadata),
            (.post, "/token", #"{"access_token":"new","refresh_token":"r2","token_type":"Bearer","expires_in":3600}"#),
        ] {
            http.expect(method, target) { _ throws(HTTPError) in
                try? await clock.sleep(for: .seconds(8))
                return HTTPResponse(status: 200, body: Array(body.utf8))
            }
        }
        let renewal = Task { await accountError { () throws(AccountError) in try await first.accessToken() } }
        await clock.waitForSleepers()
        let waiting = Task { await accountError { () throws(AccountError) in try await second.accessToken() } }
        for _ in 0..<2 {
            // The time of the answer, and the limit of the other caller.
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(8))
        }
        #expect(await renewal.value == nil)
        #expect(await waiting.value == nil)
        #expect(try store.load(CredentialKey("sim"))?.tokens.access == Secret("new"))
        try http.finish()
    }

    @Test(
        "a holder that takes longer than the others wait gives up: a renewal keeps the session, a sign-out ends it here"
    )
    func endless() async throws {
        let (clock, wall, http) = (ManualClock(), ManualWallClock(), ScriptedHTTPClient())
        let (key, saved) = (try CredentialKey("sim"), try saved(wall))
        let store = InMemoryCredentialStore([key: saved])
        let session = try session(store, http, wall, timer: clock)
        for _ in 0..<2 {
            http.expect(.get, "/.well-known/openid-configuration") { _ throws(HTTPError) in
                for await _ in AsyncStream<Void>.makeStream().stream {}
                throw HTTPError(.cancelled, host: "scripted", message: "cancelled")
            }
        }
        let renewal = Task { await accountError { () throws(AccountError) in try await session.renew() } }
        await clock.waitForSleepers()
        clock.advance(by: StoreLockTimes.longest)
        #expect(await renewal.value?.code == .timeout)
        #expect(store.load(key) == saved)
        let signOut = Task { try await session.signOut() }
        await clock.waitForSleepers()
        clock.advance(by: StoreLockTimes.longest)
        guard case .onlyHere(let error) = try await signOut.value else {
            Issue.record("the sign-out did not end only here")
            return
        }
        #expect(error.code == .timeout)
        #expect(store.load(key) == nil)
        #expect(StoreLockTimes.longest < StoreLockTimes.wait)
        try http.finish()
    }
}

/// A store whose callers wait by a test's clock, one at a time.
private final class TimedStore: CredentialStore {
    private struct State {
        var isBusy = false
        var next: AsyncStream<Bool>.Continuation?
    }
    private let store: InMemoryCredentialStore
    private let clock: ManualClock
    private let state = Mutex(State())

    init(_ session: SavedSession, _ clock: ManualClock) throws {
        store = InMemoryCredentialStore([try CredentialKey("sim"): session])
        self.clock = clock
    }

    func load(_ key: CredentialKey) -> SavedSession? { store.load(key) }

    func exclusively<Result: Sendable>(
        _ key: CredentialKey, within limit: Duration,
        _ body: @Sendable (any CredentialAccess) async throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        let (turns, next) = AsyncStream.makeStream(of: Bool.self)
        let waits = state.withLock { state in
            if state.isBusy { state.next = next }
            defer { state.isBusy = true }
            return state.isBusy
        }
        if waits, !(await comes(turns, next, within: limit)) {
            throw AccountError(.timeout, message: "waited for \(limit)")
        }
        defer {
            state.withLock { state in
                if state.next == nil { state.isBusy = false }
                state.next?.yield(true)
                state.next = nil
            }
        }
        return try await store.exclusively(key, within: limit, body)
    }

    private func comes(
        _ turns: AsyncStream<Bool>, _ next: AsyncStream<Bool>.Continuation, within limit: Duration
    ) async -> Bool {
        let clock = clock
        let timer = Task {
            if (try? await clock.sleep(for: limit)) != nil { next.yield(false) }
        }
        defer { timer.cancel() }
        for await comes in turns { return comes }
        return false
    }
}
