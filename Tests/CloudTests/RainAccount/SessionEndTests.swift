// SPDX-License-Identifier: Apache-2.0
import TestSupport
import RainAccount
import RainCore
import RainHTTP
import RainKitTesting
import RainMaker
import Testing

/// Only the provider's refusal of the refresh token ends a session. Nothing else does.
@Suite("Answers that do not end a session")
struct SessionEndTests {
    @Test(
        "a service that refuses a renewed session, also with a fault, is a fault of the service",
        arguments: [
            (401, #"{"message":"Unauthorized"}"#), (500, #"{"status":"failure","error_code":101017}"#),
            (400, #"{"status":"failure","error_code":100047}"#),
        ])
    func service(status: Int, body: String) async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(.get, "/v1/user2", status: status, body)
        bench.expectRenewal(to: "b")
        bench.http.expect(.get, "/v1/user2", status: status, body)
        let error = await accountError { () throws(AccountError) in try await bench.session.user() }
        #expect(error?.code == .serverFault)
        #expect(
            error?.message.contains("although its provider has just renewed the session") == true,
            "\(error?.message ?? "")")
        #expect(error?.status == status)
        #expect(try await bench.stored() != nil)
        try bench.http.finish()
    }

    @Test(
        "a gateway that asks for its own sign-in does not report an ended session, because there is none at the sign-in"
    )
    func gateway() async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/login2", status: 401, #"{"message":"Unauthorized"}"#)
        let error = await accountError { () throws(AccountError) in
            try await bench.session.signIn(.password(user: "dev@example.com", password: Secret("planted-password")))
        }
        #expect(error?.code == .serverFault)
        #expect(error?.message.contains("session") == false, "\(error?.message ?? "")")
        #expect(error?.message.contains("401") == true)
    }

    @Test("a call that reports an ended session with another status than 401 is sent again with new tokens")
    func otherStatus() async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(.get, "/v1/user2", status: 400, #"{"status":"failure","error_code":100047}"#)
        bench.expectRenewal(to: "b")
        bench.http.expect(.get, "/v1/user2", Bench.profile)
        _ = try await bench.account.user()
        try bench.http.finish()
    }

    /// Each answer takes longer than the lifetime of the tokens.
    @Test("tokens of one second end no session, and are not renewed for ever", arguments: [1.0, 2.0])
    func shortLived(life: Double) async throws {
        let bench = try Bench(savedSession("a", life: life))
        let clock = bench.clock
        for number in 0..<3 {
            bench.http.expect(.get, "/v1/user2") { _ in
                clock.advance(seconds: life + 0.5)
                return HTTPResponse(status: 401, body: Array(#"{"message":"Unauthorized"}"#.utf8))
            }
            if number == 2 { break }
            bench.http.expect(.post, "/v1/login2") { _ in
                let access = accessToken("b\(number)", issued: clock.now.seconds, life: life)
                return HTTPResponse(status: 200, body: Array(#"{"idtoken":"i","accesstoken":"\#(access)"}"#.utf8))
            }
        }
        let error = await accountError { () throws(AccountError) in try await bench.account.user() }
        #expect(error?.code == .serverFault)
        #expect(error?.message.contains("valid for only \(Int(life)) s") == true, "\(error?.message ?? "")")
        #expect(try await bench.stored() != nil)
        try bench.http.finish()
    }

    @Test("tokens that expire on the way are renewed once more")
    func endedOnTheWay() async throws {
        let bench = try Bench(savedSession("a", life: 1))
        let clock = bench.clock
        for number in 0..<2 {
            bench.http.expect(.get, "/v1/user/nodes") { _ in
                clock.advance(seconds: 1.5)
                return HTTPResponse(status: 401)
            }
            bench.http.expect(.post, "/v1/login2") { _ in
                let access = accessToken("b\(number)", issued: clock.now.seconds, life: 1)
                return HTTPResponse(status: 200, body: Array(#"{"idtoken":"i","accesstoken":"\#(access)"}"#.utf8))
            }
        }
        bench.http.expect(.get, "/v1/user/nodes", "{}")
        #expect(try await bench.session.send(bench.request).status == 200)
        try bench.http.finish()
    }
}
