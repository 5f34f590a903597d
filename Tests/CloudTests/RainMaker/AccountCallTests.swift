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

private let done = #"{"status":"success","description":"d"}"#
private let user = "dev@example.com"
private let password = Secret("Passw0rd-planted")
private let newPassword = Secret("N3w-planted-word")
private let code = Secret("123456")

@Suite("Calls of a user's account")
struct AccountCallTests {
    struct Call: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var method: HTTPRequest.Method
        var target: String
        var body: JSONValue?
        var needsSession = true
        var status = 200
        var run: @Sendable (RainMakerAccount) async throws(AccountError) -> Void
    }

    static let calls: [Call] = [
        Call(
            testDescription: "sign up", method: .post, target: "/v1/user2",
            body: ["user_name": "dev@example.com", "password": "Passw0rd-planted"], needsSession: false, status: 201
        ) { account throws(AccountError) in try await account.signUp(user, password: password) },
        Call(
            testDescription: "sign up by telephone, in German", method: .post, target: "/v1/user2?locale=de",
            body: ["user_name": "+4915550100", "password": "Passw0rd-planted"], needsSession: false, status: 201
        ) { account throws(AccountError) in
            try await account.signUp("+4915550100", password: password, locale: "de")
        },
        Call(
            testDescription: "send the code again", method: .post, target: "/v1/user2?locale=en-us",
            body: ["user_name": "dev@example.com", "password": "Passw0rd-planted"], needsSession: false, status: 201
        ) { account throws(AccountError) in
            try await account.resendSignUpCode(user, password: password, locale: "en-us")
        },
        Call(
            testDescription: "confirm", method: .post, target: "/v1/user2",
            body: ["user_name": "dev@example.com", "verification_code": "123456"], needsSession: false, status: 201
        ) { account throws(AccountError) in try await account.confirmSignUp(user, code: code) },
        Call(
            testDescription: "confirm with tags", method: .post, target: "/v1/user2",
            body: ["user_name": "dev@example.com", "verification_code": "123456", "tags": ["team:lab", "a:b:c"]],
            needsSession: false, status: 201
        ) { account throws(AccountError) in
            try await account.confirmSignUp(user, code: code, tags: ["team:lab", "a:b:c"])
        },
        Call(
            testDescription: "forgot the password", method: .put, target: "/v1/forgotpassword2",
            body: ["user_name": "dev@example.com"], needsSession: false
        ) { account throws(AccountError) in try await account.requestPasswordReset(user) },
        Call(
            testDescription: "forgot the password, in French", method: .put, target: "/v1/forgotpassword2?locale=fr",
            body: ["user_name": "dev@example.com"], needsSession: false
        ) { account throws(AccountError) in try await account.requestPasswordReset(user, locale: "fr") },
        Call(
            testDescription: "reset the password", method: .put, target: "/v1/forgotpassword2",
            body: ["user_name": "dev@example.com", "password": "N3w-planted-word", "verification_code": "123456"],
            needsSession: false
        ) { account throws(AccountError) in try await account.resetPassword(user, to: newPassword, code: code) },
        Call(
            testDescription: "change the password", method: .put, target: "/v1/password2",
            body: ["password": "Passw0rd-planted", "newpassword": "N3w-planted-word"]
        ) { account throws(AccountError) in try await account.changePassword(from: password, to: newPassword) },
        Call(testDescription: "name", method: .put, target: "/v1/user2", body: ["name": "Ada"]) {
            account throws(AccountError) in try await account.update([.name("Ada")])
        },
        Call(
            testDescription: "telephone number", method: .put, target: "/v1/user2", body: ["phone_number": "+15550100"]
        ) { account throws(AccountError) in try await account.update([.phoneNumber("+15550100")]) },
        Call(
            testDescription: "confirm the telephone number", method: .put, target: "/v1/user2",
            body: ["verification_code": "123456"]
        ) { account throws(AccountError) in try await account.update([.phoneCode(code)]) },
        Call(
            testDescription: "add tags", method: .put, target: "/v1/user2",
            body: ["operation": "add", "tags": ["team:lab"]]
        ) { account throws(AccountError) in try await account.update([.addTags(["team:lab"])]) },
        Call(
            testDescription: "remove tags", method: .put, target: "/v1/user2",
            body: ["operation": "remove", "tags": ["team:lab", "x:y"]]
        ) { account throws(AccountError) in try await account.update([.removeTags(["team:lab", "x:y"])]) },
        Call(
            testDescription: "confirm tags", method: .put, target: "/v1/user2",
            body: ["tags_verification_code": "123456"]
        ) { account throws(AccountError) in try await account.update([.tagsCode(code)]) },
        Call(testDescription: "locale", method: .put, target: "/v1/user2", body: ["locale": "no_locale"]) {
            account throws(AccountError) in try await account.update([.locale("no_locale")])
        },
        Call(testDescription: "second step", method: .put, target: "/v1/user2", body: ["mfa": true]) {
            account throws(AccountError) in try await account.update([.secondStep(true)])
        },
        Call(
            testDescription: "keep custom data", method: .put, target: "/v1/user/custom_data",
            body: ["theme": ["value": ["dark": true], "perms": ["r"]]]
        ) { account throws(AccountError) in
            try await account.setCustomData(.init(key: "theme", value: ["dark": true], permissions: ["r"]))
        },
        Call(
            testDescription: "take a value away", method: .put, target: "/v1/user/custom_data",
            body: ["theme": ["value": nil]]
        ) { account throws(AccountError) in try await account.setCustomData(.init(key: "theme", value: nil)) },
        Call(
            testDescription: "take a key away", method: .put, target: "/v1/user/custom_data", body: ["theme": nil]
        ) { account throws(AccountError) in try await account.removeCustomData("theme") },
        Call(
            testDescription: "confirm the deletion", method: .delete, target: "/v1/user2?verification_code=123456"
        ) { account throws(AccountError) in try await account.confirmDeletion(code: code) },
        Call(
            testDescription: "begin to convert a guest", method: .post, target: "/v1/user/guest/conversion/initiate",
            body: ["user_name": "dev@example.com"]
        ) { account throws(AccountError) in try await account.requestGuestConversion(to: user) },
    ]

    @Test("each call matches the interface description", arguments: calls)
    func wire(call: Call) async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(call.method, call.target, status: call.status, done)
        try await call.run(bench.account)
        let request = bench.http.requests[0]
        #expect(request.json == call.body)
        #expect(request.authorization == (call.needsSession ? accessToken("a") : nil))
        #expect(request.deadline == .seconds(10))
        #expect(
            (request.headers.first { $0.name == "Content-Type" }?.value == "application/json") == (call.body != nil))
        try bench.http.finish()
    }

    @Test("a failure, also with status 200, is an error of each call", arguments: calls, [200, 400, 500])
    func failure(call: Call, status: Int) async throws {
        let bench = try Bench(savedSession("a"))
        let body = #"{"status":"failure","error_code":"101012","description":"planted-words"}"#
        bench.http.expect(call.method, call.target, status: status, body)
        let error = await accountError { () throws(AccountError) in try await call.run(bench.account) }
        #expect(error?.code == .wrongCode)
        #expect(error?.serverMessage == "planted-words")
        #expect(try await bench.stored() == savedSession("a"), "the session stays")
        try bench.http.finish()
    }

    @Test("a call that needs a session sends nothing without one", arguments: calls.filter(\.needsSession))
    func notSignedIn(call: Call) async throws {
        let bench = try Bench()
        let error = await accountError { () throws(AccountError) in try await call.run(bench.account) }
        #expect(error?.code == .notSignedIn)
        try bench.http.finish()
    }

    @Test("a call with a rejected token is sent again with a new one", arguments: calls.filter(\.needsSession))
    func rejectedToken(call: Call) async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(call.method, call.target, status: 401, #"{"message":"Unauthorized"}"#)
        bench.expectRenewal(to: "b")
        bench.http.expect(call.method, call.target, status: call.status, done)
        try await call.run(bench.account)
        try bench.http.finish()
    }

    // MARK: The end of the session

    @Test("a changed password ends the local session, as the cloud does")
    func passwordChange() async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(.put, "/v1/password2", done)
        var events = bench.session.events().makeAsyncIterator()
        try await bench.account.changePassword(from: password, to: newPassword)
        #expect(try await bench.stored() == nil)
        while let event = await events.next() {
            if case .signedOut(.here) = event { break }
        }
        try bench.http.finish()
    }

    @Test("another user's session that was stored meanwhile remains")
    func otherSession() async throws {
        let bench = try Bench(savedSession("a"))
        var other = savedSession("other")
        other.userID = UserID("user-2")
        let (key, store, saved) = (bench.key, bench.store, other)
        bench.http.expect(.put, "/v1/password2") { _ in
            try? await store.exclusively(key, within: .seconds(120)) { access throws(AccountError) in
                try await access.save(saved)
            }
            return HTTPResponse(status: 200, body: Array(done.utf8))
        }
        try await bench.account.changePassword(from: password, to: newPassword)
        #expect(try await bench.stored() == other)
    }

    @Test("a deletion needs a code, and then the local session is removed")
    func deletion() async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(.get, "/v1/user2", Bench.profile)
        bench.http.expect(.delete, "/v1/user2?request=true&locale=en", done)
        guard case .codeSent = try await bench.account.requestDeletion(locale: "en") else {
            Issue.record("deleted")
            return
        }
        #expect(try await bench.stored() != nil)
        bench.http.expect(.delete, "/v1/user2?verification_code=123456", done)
        try await bench.account.confirmDeletion(code: code)
        #expect(try await bench.stored() == nil)
        #expect(bench.http.requests.allSatisfy { $0.body.isEmpty })
        try bench.http.finish()
    }

    @Test("a guest is deleted at once")
    func guestDeletion() async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(
            .get, "/v1/user2", #"{"user_id":"user-1","user_name":"guest@1.temp.user","is_guest_user":true}"#)
        bench.http.expect(.delete, "/v1/user2?request=true", done)
        guard case .deleted = try await bench.account.requestDeletion() else {
            Issue.record("not deleted")
            return
        }
        #expect(try await bench.stored() == nil)
        try bench.http.finish()
    }

    @Test("an account whose deletion was refused keeps its session")
    func deletionRefused() async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(
            .delete, "/v1/user2?verification_code=123456", status: 400,
            #"{"status":"failure","error_code":119005,"description":"d"}"#)
        let error = await accountError { () throws(AccountError) in
            try await bench.account.confirmDeletion(code: code)
        }
        #expect(error?.code == .wrongCode)
        #expect(try await bench.stored() == savedSession("a"))
    }
}
