// SPDX-License-Identifier: Apache-2.0
import TestSupport
import RainHTTP
import RainJSON
import Testing
import RainCore

@testable import IdentityProviders
@testable import RainAccount
@testable import RainMaker

@Suite("Answers of a portal's JSON web services")
struct LiferayReplyTests {
    private func failure(status: Int = 200, _ body: String, count: Int = 1) async -> AccountError? {
        let response = HTTPResponse(status: status, body: Array(body.utf8))
        return await accountError { () throws(AccountError) in
            try LiferayReply.values(response, count: count, from: "portal.example")
        }
    }

    @Test("commands are sent as an array, with one key each")
    func commands() {
        let by = { (name: String, kind: LiferayLogin.Kind) in
            String(
                decoding: LiferayCommand.body([.user(LiferayLogin(name, kind: kind), companyID: 10157)]), as: UTF8.self)
        }
        #expect(
            by("ada@example.com", .email)
                == #"[{"/user/get-user-by-email-address":{"companyId":10157,"emailAddress":"ada@example.com"}}]"#)
        #expect(
            by("ada", .screenName) == #"[{"/user/get-user-by-screen-name":{"companyId":10157,"screenName":"ada"}}]"#)
        #expect(by("1001", .userId) == #"[{"/user/get-user-by-id":{"userId":1001}}]"#)
        #expect(LiferayCommand.currentUser(version: .v70).name == "/user/get-current-user")
        #expect(LiferayCommand.currentUser(version: .v62).name == "/screens-web.screensuser/get-current-user")
        #expect(LiferayVersion.v61.servicesPath == "/api/secure/jsonws")
    }

    @Test(
        "the kind of a name by its form, if none is configured",
        arguments: [("ada@example.com", "email"), ("1001", "userId"), ("ada", "screenName"), ("", "screenName")])
    func guess(name: String, kind: String) {
        #expect(LiferayLogin(name).kind.rawValue == kind)
        #expect(LiferayLogin(name, kind: .email).kind == .email)
    }

    private static let noUser = "com.liferay.portal.NoSuchUserException"

    @Test(
        "one exception in the shapes of three generations",
        arguments: [
            (#"{"exception":"\#(noUser): No User exists with the key {x}"}"#, "v61"),
            (#"{"exception":"\#(noUser)","message":"No User exists with the key {x}"}"#, "v62"),
            (
                #"{"exception":"No User exists with the key {x}","throwable":"\#(noUser): No User exists with the key {x}","error":{"message":"No User exists with the key {x}","type":"\#(noUser)"}}"#,
                "v7"
            ), (#"{"exception":"No User exists with the key {x}","throwable":"\#(noUser): …"}"#, "v7"),
        ])
    func shapes(body: String, shape: String) async throws {
        let exception = try #require(LiferayException(try JSONValue(parsing: Array(body.utf8))))
        #expect(exception.name == "NoSuchUserException" && exception.shape.rawValue == shape)
        #expect(exception.words == "No User exists with the key {x}")
        let error = await failure(body)
        #expect(error?.code == .unknownUser && error?.serverMessage == "No User exists with the key {x}")
        // The same inside the array.
        #expect(await failure("[\(body)]")?.code == .unknownUser)
    }

    @Test(
        "the meanings of exceptions and statuses",
        arguments: [
            (200, #"{"exception":"java.lang.SecurityException: Authenticated access required"}"#, "expired"),
            (200, #"{"exception":"java.lang.SecurityException","message":"Authenticated access required"}"#, "expired"),
            (
                403,
                #"{"exception":"Authenticated access required","throwable":"java.lang.SecurityException: Authenticated access required","error":{"message":"Authenticated access required","type":"java.lang.SecurityException"}}"#,
                "expired"
            ),
            (200, #"{"exception":"com.liferay.portal.security.auth.PrincipalException"}"#, "forbidden"),
            (
                200,
                #"{"exception":"x","throwable":"com.liferay.portal.kernel.security.auth.PrincipalException$MustHavePermission: User 1 must have VIEW"}"#,
                "forbidden"
            ),
            (200, #"{"exception":"com.liferay.portal.UserLockoutException"}"#, "forbidden"),
            (200, #"{"exception":"com.liferay.portal.UserEmailAddressException$MustVerify"}"#, "rejected"),
            (200, #"{"exception":"java.lang.NullPointerException"}"#, "rejected"), (401, "", "invalid_credentials"),
            (302, "", "malformed_answer"), (301, "", "moved"), (404, "{}", "unsupported"),
            (500, "<html>", "server_fault"),
            (200, "<html>", "malformed_answer"), (200, "[1,2]", "malformed_answer"),
        ])
    func meanings(status: Int, body: String, reason: String) async {
        #expect(await failure(status: status, body)?.code.description == reason, "\(body)")
    }

    @Test("ids are numbers or text; an answer without one is not a user, and data about passwords is dropped")
    func users() throws {
        let user = try #require(
            LiferayUser([
                "userId": "1001", "companyId": "10157", "portraitId": 0, "emailAddress": "ada@example.com",
                "screenName": "ada", "firstName": "Ada", "lastName": "Lovelace", "passwordEncrypted": true,
                "reminderQueryAnswer": "planted", "digest": "planted",
            ]))
        #expect(user["userId"] == 1001 && user.companyID == 10157)
        #expect(user.userInfo.userID == UserID("1001") && user.userInfo.name == "Ada Lovelace")
        #expect(!"\(user)".contains("planted"))
        for json: JSONValue in [[:], ["userId": ""], ["userId": 0], ["companyId": 1], [], nil] {
            #expect(LiferayUser(json) == nil)
        }
    }
}
