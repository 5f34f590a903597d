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

@Suite("Sign-in at RainMaker")
struct RainMakerIdentityTests {
    private let credentials = SignInCredentials.password(user: "dev@example.com", password: Secret("planted-password"))

    private func signInReply(_ name: String = "a") -> String {
        let access = accessToken(name)
        let identity = token("id", ["custom:user_id": "user-claimed", "email": "dev@example.com"])
        return #"{"status":"success","description":"Login successful","idtoken":"\#(identity)","#
            + #""accesstoken":"\#(access)","refreshtoken":"planted-refresh"}"#
    }

    @Test("a password gives a stored session with the user's id from the profile")
    func signIn() async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/login2", signInReply())
        bench.http.expect(.get, "/v1/user2", Bench.profile)
        let profile = try await bench.session.signIn(credentials)
        #expect(profile.userID == UserID("user-1"))
        #expect(profile.name == "Dev")
        let saved = try #require(try await bench.stored())
        #expect(saved.userID == UserID("user-1"))
        #expect(saved.tokens.refresh == Secret("planted-refresh"))
        #expect(saved.tokens.expires == bench.clock.now + 3600)

        let requests = bench.http.requests
        #expect(requests[0].json == ["user_name": "dev@example.com", "password": "planted-password"])
        #expect(requests[0].authorization == nil)
        #expect(requests[1].authorization == accessToken("a"), "the bare access token, without Bearer")
        #expect(requests.allSatisfy { $0.deadline == .seconds(10) })
        try bench.http.finish()
    }

    @Test(
        "while the profile is unavailable, the ID token's claim is used",
        arguments: [HTTPError.Code.timeout, .unreachable])
    func claimedProfile(fault: HTTPError.Code) async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/login2", signInReply())
        bench.http.expect(.get, "/v1/user2", failure: fault)
        #expect(try await bench.session.signIn(credentials).userID == UserID("user-claimed"))
    }

    @Test(
        "each refusal has its own cause",
        arguments: [
            (400, #"{"status":"failure","error_code":101009,"description":"d"}"#, AccountError.Code.invalidCredentials),
            (400, #"{"status":"failure","error_code":"101009","description":"d"}"#, .invalidCredentials),
            (200, #"{"status":"failure","error_code":101009,"description":"d"}"#, .invalidCredentials),
            (404, #"{"status":"failure","error_code":101025,"description":"d"}"#, .unknownUser),
            (400, #"{"status":"failure","error_code":101015,"description":"d"}"#, .unverifiedUser),
            (400, #"{"status":"failure","error_code":101058,"description":"d"}"#, .passwordResetRequired),
            (500, #"{"status":"failure","error_code":101019,"description":"d"}"#, .rateLimited),
            (429, #"{"status":"failure","error_code":100070,"description":"d"}"#, .rateLimited),
            (429, #"{"message":"d"}"#, .rateLimited),
            (500, #"{"status":"failure","error_code":101044,"description":"d"}"#, .expired),
            (401, #"{"message":"d"}"#, .serverFault),
            (401, #"{"status":"failure","description":"d"}"#, .signInFailed),
            (403, #"{"status":"failure","error_code":403,"description":"d"}"#, .forbidden),
            (400, #"{"status":"failure","error_code":199999,"description":"d"}"#, .rejected),
            (400, #"{"error":"d"}"#, .rejected), (500, #"{"description":"d"}"#, .serverFault),
            (200, #"{"status":"success","session":"planted-session","description":"d"}"#, .secondStepRequired),
        ])
    func refused(status: Int, body: String, code: AccountError.Code) async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/login2", status: status, body)
        let error = try #require(
            await accountError { () throws(AccountError) in try await bench.session.signIn(credentials) })
        #expect(error.code == code)
        if code != .secondStepRequired {
            #expect(error.serverMessage == "d")
            #expect(error.status == status)
        }
        if body.contains("199999") { #expect(error.serverCode == 199_999) }
        #expect(!"\(error)".contains("planted"))
        #expect(try await bench.stored() == nil)
    }

    @Test(
        "an answer that the service does not send is malformed, or a fault if the server reports one",
        arguments: [
            (200, "<html>Sign in to the hotel's Wi-Fi</html>", AccountError.Code.malformedAnswer),
            (302, "<html>", .malformedAnswer), (502, "<html>Bad gateway</html>", .serverFault),
            (200, "", .malformedAnswer),
            (200, "[]", .malformedAnswer), (200, "{}", .malformedAnswer), (200, "null", .malformedAnswer),
            (200, #"{"status":"success","accesstoken":"a","idtoken":"b"}"#, .malformedAnswer),
            (
                200, #"{"status":"success","accesstoken":"a\r\nX: y","idtoken":"b","refreshtoken":"c"}"#,
                .malformedAnswer
            ),
            (200, #"{"status":"success","accesstoken":7,"idtoken":"b","refreshtoken":"c"}"#, .malformedAnswer),
        ])
    func malformed(status: Int, body: String, code: AccountError.Code) async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/login2", status: status, body)
        let error = await accountError { () throws(AccountError) in try await bench.session.signIn(credentials) }
        #expect(error?.code == code)
        #expect(error?.isTransient == true)
    }

    @Test(
        "each fault on the way has its own cause",
        arguments: [
            (HTTPError.Code.unresolved, AccountError.Code.network), (.unreachable, .network), (.closed, .network),
            (.timeout, .timeout), (.tls, .tls), (.tooLarge, .malformedAnswer), (.malformed, .malformedAnswer),
            (.cancelled, .cancelled),
        ])
    func faults(fault: HTTPError.Code, code: AccountError.Code) async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/login2", failure: fault)
        #expect(
            await accountError { () throws(AccountError) in try await bench.session.signIn(credentials) }?.code == code)
    }

    @Test("a server's message cannot control a terminal and has a limit")
    func serverWords() async throws {
        let bench = try Bench()
        let words = #"bad\u001b[2J\nword\u202e"# + String(repeating: "x", count: 1000)
        bench.http.expect(.post, "/v1/login2", status: 400, #"{"description":"\#(words)"}"#)
        let error = await accountError { () throws(AccountError) in try await bench.session.signIn(credentials) }
        let shown = try #require(error?.serverMessage)
        #expect(shown.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E })
        #expect(shown.count <= 301)
    }

    @Test("signing out tells the cloud which refresh token to revoke", arguments: [(false, "false"), (true, "true")])
    func signOut(everywhere: Bool, flag: String) async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(.post, "/v1/logout2?logout_all=\(flag)", #"{"status":"success","description":"d"}"#)
        guard case .complete = try await bench.session.signOut(everywhere: everywhere) else {
            Issue.record("not complete")
            return
        }
        #expect(bench.http.requests[0].json == ["refreshtoken": "planted-refresh-a"])
        #expect(bench.http.requests[0].authorization == accessToken("a"))
        #expect(try await bench.stored() == nil)
        try bench.http.finish()
    }

    @Test("without the network a sign-out ends the session locally, and reports that the cloud did not get it")
    func signOutOffline() async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(.post, "/v1/logout2?logout_all=false", failure: .unreachable)
        guard case .onlyHere(let error) = try await bench.session.signOut() else {
            Issue.record("complete")
            return
        }
        #expect(error.code == .network)
        #expect(try await bench.stored() == nil)
    }
}
