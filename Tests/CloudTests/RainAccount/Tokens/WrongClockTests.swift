// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainKitTesting
import RainMaker
import TestSupport
import Testing

/// The clock of this machine can be wrong after an empty battery or a wrong network time. It may save a request, but it never ends a
/// session.
@Suite("Sessions on a machine whose clock is wrong")
struct WrongClockTests {
    private static let decade = 10 * 365 * 86_400.0

    // MARK: With a refresh token that has its own expiry

    private struct Refreshing {
        let bench: ProviderBench
        let session: AccountSession
        let store: any CredentialStore = InMemoryCredentialStore()
        let key: CredentialKey

        init() async throws {
            bench = try ProviderBench(#""refreshExpiry":[{"field":"refresh_expires_in","format":"seconds"}]"#)
            key = try CredentialKey("test")
            session = AccountSession(
                provider: bench.provider, http: bench.http, store: store, key: key, clock: bench.clock,
                timer: ManualClock())
            expectTokens("a")
            bench.http.expect(.get, "/me", #"{"sub":"u"}"#)
            _ = try await session.signIn(.password(user: "u", password: Secret("p")))
        }

        func expectTokens(_ name: String) {
            bench.http.expect(
                .post, "/token",
                #"{"access_token":"\#(name)","refresh_token":"r-\#(name)","token_type":"bearer","expires_in":3600,"refresh_expires_in":604800}"#
            )
        }

        var request: HTTPRequest { HTTPRequest(method: .get, url: "http://127.0.0.1:1/things") }
    }

    @Test("a clock that jumps ahead for a moment does not change the session")
    func ahead() async throws {
        let account = try await Refreshing()
        let before = try #require(try await account.store.load(account.key))
        account.bench.clock.advance(seconds: Self.decade)
        // With such a clock no certificate is valid either.
        account.bench.http.expect(.post, "/token", failure: .tls)
        let error = await accountError { () throws(AccountError) in try await account.session.send(account.request) }
        #expect(error?.code == .tls)
        #expect(try await account.store.load(account.key) == before)
        account.bench.clock.advance(seconds: -Self.decade)
        account.bench.http.expect(.get, "/things", "{}")
        #expect(try await account.session.send(account.request).status == 200)
        try account.bench.http.finish()
    }

    @Test("a session that began with a clock far behind is renewed as soon as the clock is right")
    func behindAtSignIn() async throws {
        let account = try await Refreshing()
        account.bench.clock.advance(seconds: Self.decade)
        account.expectTokens("b")
        #expect(try await account.session.accessToken() == Secret("b"))
        try account.bench.http.finish()
    }

    @Test("the provider's answer about the refresh token counts, whatever the local clock shows")
    func refused() async throws {
        let account = try await Refreshing()
        account.bench.clock.advance(seconds: Self.decade)
        account.bench.http.expect(.post, "/token", status: 400, #"{"error":"invalid_grant"}"#)
        let error = await accountError { () throws(AccountError) in try await account.session.send(account.request) }
        #expect(error?.code == .expired)
        #expect(try await account.store.load(account.key) == nil)
        try account.bench.http.finish()
    }

    // MARK: Without a way to renew

    private func bench() throws -> Bench {
        var saved = savedSession("a")
        saved.tokens.refresh = nil
        return try Bench(saved)
    }

    @Test("a clock that jumps ahead does not change a session without a refresh token either")
    func aheadWithoutRefresh() async throws {
        let bench = try bench()
        let before = try await bench.stored()
        bench.clock.advance(seconds: Self.decade)
        for _ in 0..<2 {
            let error = await accountError { () throws(AccountError) in try await bench.session.send(bench.request) }
            #expect(error?.code == .expired)
        }
        #expect(
            await accountError { () throws(AccountError) in try await bench.session.renew() }?.code == .expired)
        #expect(try await bench.stored() == before)
        bench.clock.advance(seconds: -Self.decade)
        bench.http.expect(.get, "/v1/user/nodes", "{}")
        #expect(try await bench.session.send(bench.request).status == 200)
        try bench.http.finish()
    }

    @Test("the service's 401 still ends a session that nothing can renew")
    func rejectedWithoutRefresh() async throws {
        let bench = try bench()
        bench.http.expect(.get, "/v1/user/nodes", status: 401, "{}")
        let error = await accountError { () throws(AccountError) in try await bench.session.send(bench.request) }
        #expect(error?.code == .expired)
        #expect(try await bench.stored() == nil)
        try bench.http.finish()
    }

    @Test("a request to renew a session that cannot be renewed does not end it while it is valid")
    func renewedWithoutRefresh() async throws {
        let bench = try bench()
        #expect(
            await accountError { () throws(AccountError) in try await bench.session.renew() }?.code == .notRenewable)
        #expect(try await bench.session.accessToken() == Secret(accessToken("a")))
        try bench.http.finish()
    }

    // MARK: Set back

    @Test("tokens that arrived while the clock was ahead are renewed when it is right, once for all callers")
    func setBack() async throws {
        let bench = try Bench(savedSession("a"))
        bench.clock.advance(seconds: -7200)
        bench.expectRenewal(to: "b")
        let old = Secret(accessToken("a"))
        async let first = bench.session.accessToken()
        async let second = bench.session.accessToken()
        let given = try await [first, second]
        #expect(given[0] == given[1] && given[0] != old)
        #expect(try await bench.session.accessToken() == given[0])
        try bench.http.finish()
    }

    @Test("if they cannot be renewed, they are used anyway")
    func setBackWithoutRefresh() async throws {
        let bench = try bench()
        bench.clock.advance(seconds: -7200)
        #expect(try await bench.session.accessToken() == Secret(accessToken("a")))
        try bench.http.finish()
    }
}
