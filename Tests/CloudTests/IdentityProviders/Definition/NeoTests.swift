// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import RainMaker
import TestSupport
import Testing

@Suite("RainMaker Neo")
struct NeoTests {
    private let http = ScriptedHTTPClient()
    private let clock = ManualWallClock()

    private func provider() throws -> ConfiguredProvider {
        try ProviderRegistry.builtIn.provider(
            "neo", settings: ProviderSettings(base: "http://127.0.0.1:1", clientID: "native-1"),
            tools: ProviderBench.tools(http, clock))
    }

    private static func answer(_ number: Int) -> String {
        #"{"access_token":"a\#(number)","id_token":"i\#(number)","refresh_token":"r\#(number)","expires_in":3600,"token_type":"Bearer"}"#
    }

    @Test(
        "a password, the profile, a renewal with another refresh token, and the sign-out: each call as Neo requires it")
    func life() async throws {
        let session = AccountSession(
            provider: try provider(), http: http, store: InMemoryCredentialStore(), key: try CredentialKey("neo"),
            clock: clock, timer: ManualClock())
        http.expect(.post, "/v1/user/auth/token", Self.answer(1))
        http.expect(.get, "/v1/users/me", #"{"user_id":"u-1","email":"ada@example.com"}"#)
        let user = try await session.signIn(.password(user: "ada@example.com", password: Secret("pw")))
        #expect(user.userID == UserID("u-1") && user.userName == "ada@example.com")
        #expect(http.requests[0].json == ["username": "ada@example.com", "password": "pw"])
        #expect(http.requests[1].authorization == "Bearer a1")
        clock.advance(seconds: 3590)
        http.expect(.post, "/v1/user/auth/token/refresh", Self.answer(2))
        #expect(try await session.accessToken() == Secret("a2"))
        #expect(http.requests[2].json == ["refresh_token": "r1"])
        http.expect(.post, "/v1/user/auth/signout", #"{"message":"ok"}"#)
        guard case .complete = try await session.signOut() else {
            Issue.record("the end was not told")
            return
        }
        #expect(http.requests[3].json == ["refresh_token": "r2"])
        try http.finish()
    }

    @Test(
        "refusals are {message}, and each has its meaning",
        arguments: [
            (401, "Incorrect username or password.", "invalid_credentials"),
            (404, "User does not exist.", "unknown_user"), (404, "Not Found", "invalid_configuration"),
            (400, "User is not confirmed.", "unverified_user"), (429, "Slow down", "rate_limited"),
            (500, "oops", "server_fault"), (400, "whatever", "rejected"),
        ])
    func refusals(status: Int, message: String, reason: String) async throws {
        http.expect(.post, "/v1/user/auth/token", status: status, #"{"message":"\#(message)"}"#)
        let provider = try provider()
        let error = await accountError { () throws(AccountError) in
            try await provider.signIn(.password(user: "a", password: Secret("b")))
        }
        #expect(error?.code.description == reason)
        #expect(error?.serverMessage == message)
    }

    @Test(
        "a reused refresh token ends the session, a gateway's page does not",
        arguments: [
            (401, #"{"message":"Refresh token reused"}"#, true), (401, "<html>", false),
            (502, #"{"message":"x"}"#, false),
        ])
    func reuse(status: Int, body: String, ends: Bool) async throws {
        http.expect(.post, "/v1/user/auth/token/refresh", status: status, body)
        let tokens = Tokens(access: Secret("a"), refresh: Secret("r"), received: clock.now)
        do {
            _ = try await provider().renew(tokens)
            Issue.record("renewed")
        } catch let error as RenewalError {
            if case .refused = error { #expect(ends) } else { #expect(!ends) }
        }
    }
}
