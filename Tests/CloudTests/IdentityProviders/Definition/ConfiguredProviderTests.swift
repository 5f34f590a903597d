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

@Suite("A provider made from a definition")
struct ConfiguredProviderTests {
    private let password = SignInCredentials.password(user: "ada", password: Secret("pw"))

    @Test("a password is exchanged for tokens, and the fields have the definition's names")
    func signIn() async throws {
        let bench = try ProviderBench(
            #""fields":{"access_token":["accesstoken"]},"keep":["principalID"],"refreshExpiry":[{"field":"rt_in","format":"seconds"}]"#
        )
        bench.http.expect(
            .post, "/token",
            #"{"accesstoken":"a1","expires_in":"1199","refresh_token":"r1","principalID":"p-ada","rt_in":604799}"#)
        let tokens = try await bench.provider.signIn(password)
        #expect(tokens.access == Secret("a1"))
        #expect(tokens.expires == bench.clock.now + 1199)
        #expect(tokens.refreshExpires == bench.clock.now + 604_799)
        #expect(tokens["principalID"] == "p-ada")
        let body = String(decoding: bench.http.requests[0].body, as: UTF8.self)
        #expect(body == "grant_type=password&username=ada&password=pw&client_id=app-1")
        try bench.http.finish()
    }

    @Test(
        "an expiry that is a date counts by the server's clock",
        arguments: ["2014-01-05 11:57:26Z", "2014-01-05T11:57:26Z", "2014-01-05T11:57:26+00:00"])
    func dateExpiry(date: String) async throws {
        let bench = try ProviderBench(#""expiry":[{"field":"expires_at","format":"date"}]"#)
        bench.http.expect(.post, "/token") { _ throws(HTTPError) in
            HTTPResponse(
                status: 200, headers: [HTTPHeader("Date", "Sun, 05 Jan 2014 11:37:27 GMT")],
                body: Array(#"{"access_token":"a","expires_at":"\#(date)"}"#.utf8))
        }
        #expect(try await bench.provider.signIn(password).expires == bench.clock.now + 1199)
    }

    @Test(
        "the server's time in the answer has priority over the answer's date",
        arguments: [
            (#""1388921847""#, 1_388_921_847.0 as Double?), ("1388921847", 1_388_921_847), ("0", nil), ("-1", nil),
            ("1e15", nil), (#""nan""#, nil), (#""noon""#, nil), ("null", nil),
        ])
    func serverTime(stated: String, seconds: Double?) async throws {
        let bench = try ProviderBench(
            #""fields":{"server_time":["time"]},"expiry":[{"field":"expires_at","format":"date"}]"#)
        bench.http.expect(.post, "/token") { _ throws(HTTPError) in
            HTTPResponse(
                status: 200, headers: [HTTPHeader("Date", "Sun, 05 Jan 2014 11:57:25 GMT")],
                body: Array(#"{"access_token":"a","time":\#(stated),"expires_at":"2014-01-05 11:57:26Z"}"#.utf8))
        }
        let now = bench.clock.now
        let tokens = try await bench.provider.signIn(password)
        #expect(tokens.expires == now + (seconds == nil ? 1 : 1199))
        #expect(tokens["server_ahead"].flatMap(Double.init) == seconds.map { $0 - now.seconds })
    }

    @Test(
        "a refusal has the definition's meaning, or else that of the RFCs",
        arguments: [
            (400, #"{"error":"invalid_user_credentials"}"#, "invalid_credentials"),
            (400, #"{"error":"invalid_grant","error_description":"Reused code"}"#, "used_code"),
            (400, #"{"error":"invalid_grant"}"#, "invalid_grant"), (420, "{}", "rate_limited"),
            (401, #"{"error":"invalid_client"}"#, "client_refused"), (503, "<html>", "server_fault"),
            (302, "", "malformed_answer"), (308, "", "moved"), (200, #"{"error":"access_denied"}"#, "access_denied"),
            (400, #"{"code":{"value":"401"}}"#, "forbidden"),
        ])
    func errors(status: Int, body: String, reason: String) async throws {
        let bench = try ProviderBench(
            """
            "errors":[{"error":"invalid_user_credentials","reason":"invalid_credentials"},{"status":420,"reason":"rate_limited"},
            {"error":"invalid_grant","says":"Reused","reason":"used_code"},
            {"error":"401","at":"code.value","reason":"forbidden"}]
            """)
        bench.http.expect(.post, "/token", status: status, body)
        let error = await accountError { () throws(AccountError) in try await bench.provider.signIn(password) }
        #expect(error?.code.description == reason)
    }

    @Test("only the provider's answer about the refresh token ends a session")
    func refusals() async throws {
        let old = Tokens(access: Secret("a"), refresh: Secret("r"), received: UnixTime(seconds: 0))
        for (status, body, ends) in [
            (400, #"{"error":"invalid_grant"}"#, true), (401, #"{"error":"invalid_client"}"#, false),
            (401, "no", false), (500, #"{"error":"invalid_grant"}"#, false), (200, "<html>", false),
        ] {
            let bench = try ProviderBench("")
            bench.http.expect(.post, "/token", status: status, body)
            do {
                _ = try await bench.provider.renew(old)
                Issue.record("renewed")
            } catch {
                switch error {
                case .refused: #expect(ends, "\(status) \(body)")
                case .unavailable: #expect(!ends, "\(status) \(body)")
                }
            }
        }
    }

    @Test("a session of client credentials is renewed by them, and has no user")
    func clientCredentials() async throws {
        let bench = try ProviderBench(
            "", settings: ProviderSettings(clientID: "backend", clientSecret: Secret("s")))
        let answer = #"{"access_token":"a","expires_in":900}"#
        bench.http.expect(.post, "/token", answer)
        bench.http.expect(.post, "/token", answer)
        let tokens = try await bench.provider.signIn(.clientCredentials)
        #expect(tokens.canBeRenewed(at: bench.clock.now) && tokens.refresh == nil)
        #expect(try await bench.provider.user(tokens).userID == UserID("backend"))
        _ = try await bench.provider.renew(tokens)
        try bench.http.finish()
        #expect(bench.http.requests.allSatisfy { $0.authorization == "Basic YmFja2VuZDpz" })
    }

    @Test("a client without its required secret is refused before anything is sent")
    func secretMissing() async throws {
        let bench = try ProviderBench("")
        let error = await accountError { () throws(AccountError) in
            try await bench.provider.signIn(.clientCredentials)
        }
        #expect(error?.code == .missingParameter)
        #expect(bench.http.requests.isEmpty)
    }

    @Test("a missing grant is refused with the definition's reason")
    func absentGrant() async throws {
        let bench = try ProviderBench(#""unsupported":{"assertion":"no third parties here"}"#)
        try bench.provider.demand(.password)
        let error = await accountError { () throws(AccountError) in try bench.provider.demand(.deviceCode) }
        #expect(error?.code == .unsupported)
        #expect(
            bench.provider.definition.capabilities.first { $0.grant == .assertion }?.isAvailable == true)
    }

    @Test("a stored session of another server is not used")
    func otherContext() async throws {
        let bench = try ProviderBench("")
        let key = try CredentialKey("test")
        let saved = SavedSession(
            provider: "test", userID: UserID("1"), userName: "ada",
            tokens: Tokens(access: Secret("a"), received: bench.clock.now),
            context: ["base": "https://elsewhere.example.com"])
        let session = AccountSession(
            provider: bench.provider, http: bench.http, store: InMemoryCredentialStore([key: saved]), key: key,
            clock: bench.clock, timer: ManualClock())
        let error = await accountError { () throws(AccountError) in try await session.accessToken() }
        #expect(error?.code == .wrongContext)
    }

    @Test("the user endpoint's answer is stored and read offline")
    func offline() async throws {
        let bench = try ProviderBench("")
        bench.http.expect(.post, "/token", #"{"access_token":"a","expires_in":3600}"#)
        bench.http.expect(
            .get, "/me", #"{"sub":"1001","preferred_username":"ada","name":"Ada","email":"ada@example.com"}"#)
        let key = try CredentialKey("test")
        let session = AccountSession(
            provider: bench.provider, http: bench.http, store: InMemoryCredentialStore(), key: key, clock: bench.clock,
            timer: ManualClock())
        _ = try await session.signIn(password)
        let stored = try await session.storedUser()
        #expect(stored.userID == UserID("1001") && stored.email == "ada@example.com" && stored.name == "Ada")
        #expect(stored.attributes.contains { $0.name == "sub" })
        try bench.http.finish()
    }
}
