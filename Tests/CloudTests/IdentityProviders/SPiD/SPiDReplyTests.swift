// SPDX-License-Identifier: Apache-2.0
import TestSupport
import RainHTTP
import RainJSON
import Testing
import RainCore

@testable import IdentityProviders
@testable import RainAccount

@Suite("SPiD's answers")
struct SPiDReplyTests {
    private let spid: SPiDBench

    init() throws { spid = try SPiDBench() }

    private func error(status: Int, _ body: String) async -> AccountError? {
        let response = HTTPResponse(status: status, headers: [HTTPHeader("Retry-After", "30")], body: Array(body.utf8))
        return await accountError { () throws(AccountError) in try spid.read(response) }
    }

    @Test("the container around a user")
    func container() throws {
        let body =
            #"{"name":"SPP Container","version":"0.2","api":2,"object":"User","type":"element","code":200,"request":{"reset":3460,"limit":0,"remaining":4999},"debug":{},"meta":null,"error":null,"data":{"userId":"1001","email":"ada@example.com","displayName":"Ada"}}"#
        let data = try spid.read(HTTPResponse(status: 200, body: Array(body.utf8)))
        let user = try #require(spid.provider.user(in: data))
        #expect(user.userID == UserID("1001") && user.email == "ada@example.com" && user.name == "Ada")
    }

    @Test("an empty object comes as an empty array")
    func emptyObject() throws {
        let response = HTTPResponse(status: 200, body: Array(#"{"object":"User","error":null,"data":[]}"#.utf8))
        #expect(try spid.read(response) == .object([]))
    }

    @Test(
        "errors, nested as its API has them and flat as its OAuth endpoints do",
        arguments: [
            (401, #"{"error":{"code":401,"type":"expired_token","description":"d"},"data":null}"#, "expired"),
            (400, #"{"error":{"code":"400","type":"x","description":{"email":"missing","phone":"bad"}}}"#, "rejected"),
            (403, #"{"error":{"code":403,"type":"ApiException","description":"d"}}"#, "forbidden"),
            (302, #"{"error":{"code":302,"type":"ApiException","description":"user exists"}}"#, "account_exists"),
            (400, #"{"error":{"code":302,"type":"ApiException","description":"user exists"}}"#, "account_exists"),
            (400, #"{"error":"unknown_user","error_code":400,"type":"OAuthException"}"#, "unknown_user"),
            (400, #"{"error":"unverified_user","error_code":"400"}"#, "unverified_user"),
            (400, #"{"error":"invalid_user_credentials"}"#, "invalid_credentials"),
            (420, #"{"error":{"code":420,"type":"RequestLimit","description":"d"}}"#, "rate_limited"),
            (420, "Enhance your calm", "rate_limited"), (502, "<html>", "server_fault"),
            (200, "<html>", "malformed_answer"), (500, #"{"error":null}"#, "server_fault"),
        ])
    func failures(status: Int, body: String, reason: String) async {
        let error = await error(status: status, body)
        #expect(error?.code.description == reason)
        if reason == "rate_limited" { #expect(error?.retryAfter == .seconds(30)) }
    }

    @Test("a client of another merchant is named as the one for which the code was requested")
    func otherMerchant() async {
        let error = await error(
            status: 403,
            #"{"error":{"code":403,"type":"ApiException","description":"The client does not belong to this merchant"}}"#
        )
        #expect(error?.code == .clientRefused)
        #expect(
            error?.message.contains("does not know this client, or the client belongs to another merchant") == true,
            "\(error as Any)")
    }

    @Test("a description that is an object becomes one line")
    func objectDescription() async {
        let error = await error(
            status: 400, #"{"error":{"code":400,"type":"x","description":{"email":"missing","phone":"bad\u001b["}}}"#)
        #expect(error?.serverMessage == "email: missing; phone: bad [")
    }

    @Test(
        "the user of a token: digits in either form, and no user for a client's own token",
        arguments: [
            (JSONValue.string("198962"), "198962" as String?), (1001, "1001"), (false, nil), ("0", nil), (0, nil),
            (nil, nil), ("", nil), ("../1", nil),
        ])
    func userIDs(json: JSONValue, id: String?) { #expect(SPiDUser.userID(json)?.rawValue == id) }

    @Test("every name of the drafts has a meaning, and a new name has none")
    func names() {
        let names = [
            "redirect_uri_mismatch", "unauthorized_client", "access_denied", "invalid_request",
            "unsupported_response_type", "invalid_scope", "invalid_grant", "invalid_client", "invalid_client_id",
            "invalid_client_credentials", "invalid_token", "expired_token", "insufficient_scope",
            "unsupported_grant_type", "invalid_user_credentials", "unverified_user", "unknown_user", "server_error",
            "temporarily_unavailable",
        ]
        for name in names {
            #expect(SPiDErrorName(rawValue: name).meaning(host: "h")?.sentence.isEmpty == false, "\(name)")
        }
        #expect(SPiDErrorName(rawValue: "brand_new").meaning(host: "h") == nil)
    }

    @Test(
        "an exchange code that could change the path is refused", arguments: ["", "a/b", "a?b", "a%2Fb", "a b"])
    func codes(code: String) { #expect(SPiDExchange.code(in: ["code": .string(code)]) == nil) }
}
