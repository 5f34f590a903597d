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

@Suite("A sign-in that fails after the tokens arrived leaves no session at the provider")
struct FailedSignInTests {
    private let credentials = SignInCredentials.password(user: "u", password: Secret("planted-password"))
    private static let logout = "/v1/logout2?logout_all=false"

    private func expectTokens(_ bench: Bench) {
        let access = accessToken("a", issued: bench.clock.now.seconds)
        bench.http.expect(
            .post, "/v1/login2", #"{"accesstoken":"\#(access)","idtoken":"id-a","refreshtoken":"planted-refresh-a"}"#)
    }

    @Test("the user's profile is refused, or is not a profile", arguments: [401, 403, 200])
    func profile(status: Int) async throws {
        let bench = try Bench()
        expectTokens(bench)
        bench.http.expect(.get, "/v1/user2", status: status, #"{"message":"Forbidden"}"#)
        bench.http.expect(.post, Self.logout, #"{"status":"success"}"#)
        let error = await accountError { () throws(AccountError) in try await bench.session.signIn(credentials) }
        let code: AccountError.Code = status == 401 ? .signInFailed : status == 403 ? .forbidden : .malformedAnswer
        #expect(error?.code == code)
        #expect(error?.message.contains("tokens that it has just issued") == (status == 401), "\(error as Any)")
        #expect(bench.http.requests.last?.json == ["refreshtoken": "planted-refresh-a"])
        try bench.http.finish()
    }

    @Test("it is cancelled during the request for the profile: it is signed out at the provider anyway")
    func cancelled() async throws {
        let bench = try Bench()
        expectTokens(bench)
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        bench.http.expect(.get, "/v1/user2") { _ throws(HTTPError) in
            ask.finish()
            // This behaves like libcurl's client: it ends when its task does.
            for await _ in AsyncStream<Void>.makeStream().stream {}
            throw HTTPError(.cancelled, host: "scripted", message: "cancelled")
        }
        bench.http.expect(.post, Self.logout) { _ throws(HTTPError) in
            guard !Task.isCancelled else { throw HTTPError(.cancelled, host: "scripted", message: "cancelled") }
            return HTTPResponse(status: 200, body: Array(#"{"status":"success"}"#.utf8))
        }
        let signIn = Task { [credentials] in
            await accountError { () throws(AccountError) in try await bench.session.signIn(credentials) }
        }
        for await _ in asked {}
        signIn.cancel()
        #expect(await signIn.value?.code == .cancelled)
        #expect(bench.http.requests.last?.json == ["refreshtoken": "planted-refresh-a"])
        try bench.http.finish()
    }

    @Test("a provider that does not answer the sign-out delays the caller only for the time limit")
    func silent() async throws {
        let (bench, clock) = (try Bench(), ManualClock())
        let session = AccountSession(
            provider: RainMakerIdentity(bench.deployment, http: bench.http, clock: bench.clock), http: bench.http,
            store: bench.store, key: bench.key, clock: bench.clock, timer: clock)
        expectTokens(bench)
        bench.http.expect(.get, "/v1/user2", status: 403, #"{"message":"Forbidden"}"#)
        bench.http.expect(.post, Self.logout) { _ throws(HTTPError) in
            for await _ in AsyncStream<Void>.makeStream().stream {}
            throw HTTPError(.cancelled, host: "scripted", message: "cancelled")
        }
        let signIn = Task { [credentials] in
            await accountError { () throws(AccountError) in try await session.signIn(credentials) }
        }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
        #expect(await signIn.value?.code == .forbidden)
        try bench.http.finish()
    }
}
