// SPDX-License-Identifier: Apache-2.0
import TestSupport
import RainAccount
import RainCore
import RainHTTP
import RainKitTesting
import RainMaker
import Testing

/// A deployment may use any web framework. If it has no message of its own, it answers in that framework's envelope.
@Suite("Refusals in another framework's envelope")
struct ForeignEnvelopeTests {
    private static func error(status: Int, _ body: String) async throws -> AccountError {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/user2", status: status, body)
        if status == 404 { bench.http.expect(.post, "/v1/user", status: status, body) }
        let error = await accountError { () throws(AccountError) in
            try await bench.account.confirmSignUp("dev@example.com", code: Secret("123456"))
        }
        try bench.http.finish()
        return try #require(error)
    }

    @Test(
        "are shown as the cloud's message, and no gateway is blamed",
        arguments: [
            // FastAPI (pydantic), its HTTPException, and a list without places.
            (
                422, #"{"detail":[{"type":"missing","loc":["body","user_name"],"msg":"Field required","input":{}}]}"#,
                "body.user_name: Field required"
            ),
            (404, #"{"detail":"Not Found"}"#, "Not Found"), (400, #"{"detail":"Bad code"}"#, "Bad code"),
            (
                422, #"{"detail":[{"loc":["body",0,"x"],"msg":"a"},{"msg":"b"},"c",{"msg":"d"}]}"#,
                "body.0.x: a; b; c"
            ),
            // Problem details (RFC 9457), Rails, class-validator of NestJS.
            (403, #"{"type":"about:blank","title":"Forbidden","status":403,"detail":"Not yours"}"#, "Not yours"),
            (422, #"{"errors":["Name is too short"]}"#, "Name is too short"),
            (400, #"{"errors":[{"message":"no such user"}]}"#, "no such user"),
            (422, #"{"statusCode":422,"message":["name must be a string"],"error":"x"}"#, "x"),
            (422, #"{"message":"Unprocessable"}"#, "Unprocessable"),
        ])
    func shown(status: Int, body: String, words: String) async throws {
        let error = try await Self.error(status: status, body)
        #expect(error.serverMessage == words)
        #expect(!error.isFromGateway && error.isRefusal)
        #expect(!error.message.contains("on the way"), "\(error.message)")
    }

    @Test("a 401 without a session is a failed sign-in, and a fault belongs to the server")
    func otherStatus() async throws {
        let refused = try await Self.error(status: 401, #"{"detail":"Incorrect username or password"}"#)
        #expect(refused.code == .signInFailed)
        #expect(!refused.message.contains("session"), "\(refused.message)")
        let fault = try await Self.error(status: 500, #"{"detail":"Internal Server Error"}"#)
        #expect(fault.code == .serverFault && fault.isTransient)
    }

    @Test("messages have a limit, however many there are, and no control characters")
    func bounds() async throws {
        let many = (0..<500).map { #"{"msg":"\#($0)\u001b[31m"}"# }.joined(separator: ",")
        let error = try await Self.error(status: 422, #"{"detail":[\#(many)]}"#)
        #expect(error.serverMessage?.unicodeScalars.allSatisfy { $0.value >= 0x20 } == true)
        #expect((error.serverMessage?.utf8.count ?? 0) < 1000)
    }
}
