// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import RainMaker
import TestSupport
import Testing

/// The ESP32-C3 book's chapter "Account Login" has `POST /v1/login` and `GET /v1/user`, which some deployments still have.
@Suite("A deployment that has only the first names of its calls")
struct FirstVersionTests {
    private let credentials = SignInCredentials.password(user: "username@domain.com", password: Secret("password"))

    private static let signedIn = """
        {
            "status": "success",
            "description": "Login successful",
            "idtoken": "idtoken",
            "accesstoken": "accesstoken",
            "refreshtoken": "refreshtoken"
        }
        """
    private static let user = """
        {
            "user_id": "string",
            "user_name": "string",
            "super_admin": true,
            "picture_url": "string",
            "name": "string",
            "mfa": true,
            "phone_number": "<+Mobile Number with country code>"
        }
        """

    /// The answers with which servers report that they do not have a call.
    static let absent: [(status: Int, body: String)] = [
        (404, ""), (404, "{}"), (404, "<html>Not Found</html>"), (404, #"{"message":"Not Found"}"#),
        (404, #"{"detail":"Not Found"}"#), (405, #"{"message":"Method Not Allowed"}"#), (501, ""),
        (403, #"{"message":"Missing Authentication Token"}"#),
        (400, #"{"status":"failure","error_code":100003,"description":"Not found"}"#),
    ]

    @Test("sign-in, the user and the profile match the book", arguments: absent)
    func signIn(status: Int, body: String) async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/login2", status: status, body)
        bench.http.expect(.post, "/v1/login", Self.signedIn)
        bench.http.expect(.get, "/v1/user2", status: status, body)
        bench.http.expect(.get, "/v1/user", Self.user)
        #expect(try await bench.session.signIn(credentials).userID == UserID("string"))
        let requests = bench.http.requests
        #expect(requests[1].json == ["user_name": "username@domain.com", "password": "password"])
        #expect(requests[1].authorization == nil && requests[3].authorization == "accesstoken")
        #expect(try await bench.session.accessToken() == Secret("accesstoken"))

        bench.http.expect(.get, "/v1/user2", status: status, body)
        bench.http.expect(.get, "/v1/user", Self.user)
        let profile = try await bench.account.user()
        #expect(profile.userName == "string" && profile.isSuperAdministrator && profile.pictureURL == "string")
        try bench.http.finish()
    }

    @Test(
        "an answer of login2 itself is final",
        arguments: [
            (400, #"{"status":"failure","error_code":101009,"description":"d"}"#, "invalid_credentials"),
            (404, #"{"status":"failure","error_code":101025,"description":"d"}"#, "unknown_user"),
            (403, #"{"status":"failure","error_code":403,"description":"d"}"#, "forbidden"),
            (403, #"{"message":"Forbidden"}"#, "forbidden"), (500, "", "server_fault"), (503, "{}", "server_fault"),
            (429, "{}", "rate_limited"), (401, #"{"status":"failure"}"#, "sign_in_failed"),
        ])
    func final(status: Int, body: String, reason: String) async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/login2", status: status, body)
        let error = await accountError { () throws(AccountError) in try await bench.session.signIn(credentials) }
        #expect(error?.code.description == reason, "\(error as Any)")
        try bench.http.finish()
    }

    @Test(
        "the answer of login counts",
        arguments: [
            (401, #"{"status":"failure","description":"Wrong password"}"#, "sign_in_failed"),
            (400, #"{"status":"failure","error_code":101009,"description":"d"}"#, "invalid_credentials"),
            (503, "", "server_fault"),
        ])
    func refused(status: Int, body: String, reason: String) async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/login2", status: 404, "{}")
        bench.http.expect(.post, "/v1/login", status: status, body)
        let error = await accountError { () throws(AccountError) in try await bench.session.signIn(credentials) }
        #expect(error?.code.description == reason, "\(error as Any)")
        #expect(!"\(error as Any)".contains("username@domain.com\"") && error?.account == "username@domain.com")
        try bench.http.finish()
    }

    @Test("for a server with neither name, its answer to the current name counts")
    func neither() async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/login2", status: 404, #"{"message":"no login2"}"#)
        bench.http.expect(.post, "/v1/login", status: 404, #"{"message":"no login"}"#)
        let error = await accountError { () throws(AccountError) in try await bench.session.signIn(credentials) }
        #expect(error?.serverMessage == "no login2" && error?.status == 404)
        try bench.http.finish()
    }

    @Test("every renamed call has its first name")
    func renamed() async throws {
        let bench = try Bench(savedSession("a"))
        let done = #"{"status":"success","description":"d"}"#
        func expect(_ method: HTTPRequest.Method, _ name: String, _ body: String, query: String = "") {
            bench.http.expect(method, "/v1/\(name)2\(query)", status: 404, "{}")
            bench.http.expect(method, "/v1/\(name)\(query)", body)
        }
        expect(.post, "user", done)
        try await bench.account.signUp("ada@example.com", password: Secret("Correct-horse-1"))
        expect(.put, "forgotpassword", done)
        try await bench.account.requestPasswordReset("ada@example.com")
        expect(.put, "user", done)
        try await bench.account.update([.name("Ada")])
        bench.clock.advance(seconds: 3700)
        expect(.post, "login", bench.renewal("b"))
        #expect(try await bench.session.accessToken() == Secret(accessToken("b", issued: bench.clock.now.seconds)))
        expect(.post, "logout", done, query: "?logout_all=false")
        guard case .complete = try await bench.session.signOut() else {
            Issue.record("not complete")
            return
        }
        try bench.http.finish()
    }

    @Test("without a call that ends sessions, signing out lists the tokens that are still valid")
    func signOut() async throws {
        let bench = try Bench(savedSession("a"))
        for name in ["logout2", "logout"] {
            bench.http.expect(.post, "/v1/\(name)?logout_all=false", status: 404, "{}")
        }
        guard case .partly(let report) = try await bench.session.signOut() else {
            Issue.record("complete")
            return
        }
        #expect(report.stillValid.map(\.kind) == [.refresh, .access])
        #expect(try await bench.stored() == nil)
        try bench.http.finish()
    }
}
