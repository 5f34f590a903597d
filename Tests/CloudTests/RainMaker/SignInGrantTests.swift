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

@Suite("Signing in to RainMaker by code and as a guest")
struct SignInGrantTests {
    private let code = Secret("123456")

    private func signedIn(_ name: String = "a", extra: String = "") -> String {
        let identity = token("id", ["custom:user_id": "user-claimed"])
        return #"{"status":"success","description":"d","idtoken":"\#(identity)","accesstoken":"\#(accessToken(name))","#
            + #""refreshtoken":"planted-refresh-\#(name)"\#(extra)}"#
    }

    @Test("a one-time code signs in without a password")
    func oneTimeCode() async throws {
        let bench = try Bench()
        bench.http.expect(
            .post, "/v1/login2", #"{"status":"success","description":"sent","session":"planted-session"}"#)
        let challenge = try await bench.account.requestOneTimeCode(for: "dev@example.com")
        #expect(challenge == SignInChallenge(userName: "dev@example.com", session: Secret("planted-session")))
        #expect(bench.http.requests[0].json == ["user_name": "dev@example.com"])

        bench.http.expect(.post, "/v1/login2", signedIn())
        bench.http.expect(.get, "/v1/user2", Bench.profile)
        let profile = try await bench.session.signIn(.oneTimeCode(challenge, code: code))
        #expect(profile.userID == UserID("user-1"))
        #expect(
            bench.http.requests[1].json == [
                "user_name": "dev@example.com", "verification_code": "123456", "session": "planted-session",
            ])
        #expect(try await bench.stored()?.tokens.refresh == Secret("planted-refresh-a"))
        try bench.http.finish()
    }

    @Test("after a password that needs a second step, the error has the challenge for the code")
    func secondStep() async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/login2", #"{"status":"success","description":"d","session":"planted-session"}"#)
        let error = await accountError { () throws(AccountError) in
            try await bench.session.signIn(.password(user: "dev@example.com", password: Secret("planted-password")))
        }
        #expect(error?.code == .secondStepRequired)
        let challenge = try #require(error?.challenge)
        bench.http.expect(
            .post, "/v1/login2", status: 400, #"{"status":"failure","error_code":101012,"description":"d"}"#)
        let wrong = await accountError { () throws(AccountError) in
            try await bench.session.signIn(.oneTimeCode(challenge, code: Secret("654321")))
        }
        #expect(wrong?.code == .wrongCode)
        bench.http.expect(.post, "/v1/login2", signedIn())
        bench.http.expect(.get, "/v1/user2", Bench.profile)
        _ = try await bench.session.signIn(.oneTimeCode(challenge, code: code))
        try bench.http.finish()
    }

    @Test(
        "a challenge needs a session",
        arguments: [#"{"status":"success"}"#, #"{"session":""}"#, #"{"session":7}"#, #"{"session":"a b"}"#])
    func noSession(body: String) async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/login2", body)
        let error = await accountError { () throws(AccountError) in try await bench.account.requestOneTimeCode(for: "u")
        }
        #expect(error?.code == .malformedAnswer)
    }

    @Test("a guest signs in without credentials and gets a name from the cloud")
    func guest() async throws {
        let bench = try Bench()
        let name = "guest@77.temp.user"
        bench.http.expect(.post, "/v1/user/guest", status: 201, signedIn(extra: #","user_name":"\#(name)""#))
        bench.http.expect(.get, "/v1/user2", #"{"user_id":"g1","user_name":"\#(name)","is_guest_user":true}"#)
        let profile = try await bench.session.signIn(.guest)
        #expect(profile.userName == name)
        #expect(try await bench.session.userName() == name)
        #expect(bench.http.requests[0].body.isEmpty)
        try bench.http.finish()
    }

    @Test("a deployment without guests is an error")
    func noGuests() async throws {
        let bench = try Bench()
        bench.http.expect(
            .post, "/v1/user/guest", status: 400, #"{"status":"failure","error_code":100003,"description":"d"}"#)
        let error = await accountError { () throws(AccountError) in try await bench.session.signIn(.guest) }
        #expect(error?.code == .unsupported)
        #expect(try await bench.stored() == nil)
    }

    @Test("the code of a sign-in that is used up is refused as such, although the number is that of a failed sign-in")
    func usedUp() async throws {
        let bench = try Bench()
        bench.http.expect(
            .post, "/v1/login2", status: 400, #"{"status":"failure","error_code":101016,"description":"Login failed"}"#)
        let challenge = SignInChallenge(userName: "dev@example.com", session: Secret("planted-session"))
        let error = await accountError { () throws(AccountError) in
            try await bench.session.signIn(.oneTimeCode(challenge, code: code))
        }
        #expect(error?.code == .challengeExpired && error?.account == "dev@example.com", "\(error as Any)")
        #expect(error?.message.contains("no longer waits for a code") == true, "\(error as Any)")
    }

    @Test("a refused sign-up is not the refusal of somebody who is signed in")
    func refusedSignUp() async throws {
        let bench = try Bench()
        bench.http.expect(
            .post, "/v1/user2", status: 403, #"{"status":"failure","error_code":100004,"description":"closed"}"#)
        let error = await accountError { () throws(AccountError) in
            try await bench.account.signUp("new@example.com", password: Secret("Passw0rd-planted"))
        }
        #expect(error?.code == .forbidden && error?.serverMessage == "closed", "\(error as Any)")
        #expect(error?.message.contains("does not let this user name sign up") == true, "\(error as Any)")
    }

    @Test("a user who is not a guest cannot be converted, and is named", arguments: [true, false])
    func notGuest(isGuest: Bool) async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(
            .post, "/v1/user/guest/conversion/initiate", status: 403,
            #"{"status":"failure","error_code":100004,"description":"w"}"#)
        bench.http.expect(
            .get, "/v1/user2", #"{"user_id":"user-1","user_name":"ada@example.com","is_guest_user":\#(isGuest)}"#)
        let error = await accountError { () throws(AccountError) in
            try await bench.account.requestGuestConversion(to: "dev@example.com")
        }
        #expect(error?.code == .forbidden, "\(error as Any)")
        #expect(error?.message.hasPrefix("ada@example.com is not a guest") == !isGuest, "\(error as Any)")
        try bench.http.finish()
    }

    @Test("a guest becomes an account, and the session belongs to that account")
    func conversion() async throws {
        let bench = try Bench(savedSession("guest"))
        bench.http.expect(.post, "/v1/user/guest/conversion/verify", #"{"status":"success","description":"d"}"#)
        bench.http.expect(.post, "/v1/login2", signedIn("new"))
        bench.http.expect(.get, "/v1/user2", Bench.profile)
        _ = try await bench.account.confirmGuestConversion(
            to: "dev@example.com", password: Secret("Passw0rd-planted"), code: code)
        #expect(
            bench.http.requests[0].json == [
                "user_name": "dev@example.com", "verification_code": "123456", "password": "Passw0rd-planted",
            ])
        #expect(bench.http.requests[0].authorization == accessToken("guest"))
        #expect(bench.http.requests[1].json == ["user_name": "dev@example.com", "password": "Passw0rd-planted"])
        #expect(try await bench.stored()?.tokens.refresh == Secret("planted-refresh-new"))
        try bench.http.finish()
    }

    @Test("for a converted guest who cannot be signed in at once, the error says what happened")
    func conversionWithoutSignIn() async throws {
        let bench = try Bench(savedSession("guest"))
        bench.http.expect(.post, "/v1/user/guest/conversion/verify", #"{"status":"success","description":"d"}"#)
        bench.http.expect(.post, "/v1/login2", failure: .timeout)
        let error = await accountError { () throws(AccountError) in
            try await bench.account.confirmGuestConversion(
                to: "dev@example.com", password: Secret("Passw0rd-planted"), code: code)
        }
        #expect(error?.code == .timeout)
        #expect(error?.message.hasPrefix("the guest is now the account dev@example.com") == true)
    }

    @Test("a deployment that supports our version differs from one that does not")
    func versions() async throws {
        let bench = try Bench()
        bench.http.expect(
            .get, "/apiversions",
            #"{"supported_versions":["v1","v2"],"additional_info":[{"version":"v1","build_info":"b7","release_notes":"n"}]}"#
        )
        let versions = try await bench.account.supportedVersions()
        #expect(versions.map(\.name) == ["v1", "v2"])
        #expect(versions[0].build == "b7" && versions[0].releaseNotes == "n" && versions[1].build == nil)
        #expect(bench.http.requests[0].authorization == nil)
        for (body, code) in [
            (#"{"supported_versions":["v2"]}"#, AccountError.Code.unsupported),
            (#"{"supported_versions":[]}"#, .unsupported), ("{}", .malformedAnswer),
        ] {
            bench.http.expect(.get, "/apiversions", body)
            let error = await accountError { () throws(AccountError) in try await bench.account.supportedVersions() }
            #expect(error?.code == code)
        }
        try bench.http.finish()
    }
}
