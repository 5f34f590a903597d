// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import RainKitTesting
import TestSupport
import Testing

@testable import IdentityProviders
@testable import RainAccount
@testable import RainMaker

@Suite("OCLC's answers")
struct OCLCAnswerTests {
    private let received = UnixTime(seconds: 1_388_923_046 - 1199)

    /// Returns the tokens from an answer that arrived at `received`.
    private func tokens(_ response: TokenResponse, _ json: JSONValue) async throws -> Tokens {
        let settings = ProviderSettings(clientID: "wskey-1", parameters: ["contextInstitutionId": "128807"])
        let provider = try ProviderRegistry.builtIn.provider(
            "oclc", settings: settings,
            tools: ProviderBench.tools(ScriptedHTTPClient(), ManualWallClock(seconds: received.seconds)))
        return try await provider.tokens(response, json, for: .implicit)
    }

    private func tokens(_ text: String) async throws -> Tokens {
        let json = try JSONValue(parsing: Array(text.utf8))
        return try await tokens(try TokenResponse(json), json)
    }

    @Test("document E's second example: a token of 20 minutes and a refresh token of 7 days, each with its own expiry")
    func documentExample() async throws {
        let redirect = try RedirectURI("oclcApp://user_agent_flow")
        let response = try AuthorizationResponse(
            url:
                "oclcApp://user_agent_flow#access_token=tk_nd4GoLXjFcAabig2AJzOMpzhPkI2LFZtbLD6&context_institution_id=128807&expires_at=2014-01-05%2011:57:26Z&expires_in=1199&principalID=p-ada&principalIDNS=urn%3Aoclc%3Aplatform%3A128807&refresh_token=rt_nucaPASHXXZ3L2F6vNYucr2xudlKfnc8v8si&refresh_token_expires_at=2014-01-12%2011:47:09Z&refresh_token_expires_in=604799&token_type=bearer",
            to: redirect)
        guard case .tokens(let answer) = response.outcome else {
            Issue.record("no tokens")
            return
        }
        let tokens = try await tokens(answer, answer.json)
        #expect(tokens.expires == received + 1199)
        #expect(tokens.refreshExpires == received + 604_799)
        #expect(tokens["principalID"] == "p-ada" && tokens["principalIDNS"] == "urn:oclc:platform:128807")
    }

    @Test(
        "a date is used if there is no lifetime, whether it is escaped again or not",
        arguments: ["2014-01-05 11:57:26Z", "2014-01-05%2011:57:26Z", "2014-01-05T11:57:26Z"])
    func dates(text: String) async throws {
        let tokens = try await tokens(
            #"{"access_token":"tk_a","expires_at":"\#(text)","refresh_token":"rt_a","refresh_token_expires_at":"\#(text)"}"#
        )
        #expect(tokens.expires?.seconds == 1_388_923_046)
        #expect(tokens.refreshExpires?.seconds == 1_388_923_046)
    }

    @Test(
        "different names and types",
        arguments: [
            #""contextInstitutionId":"128807""#, #""context_institution_id":128807"#,
            #""context_institution_id":"","contextInstitutionId":"128807""#, #""context_institution_id":"""#,
        ])
    func variants(member: String) async throws {
        let tokens = try await tokens(
            #"{"access_token":"tk_a","expires_in":"1199","refresh_token_expires_in":"9","principalID":"",\#(member)}"#)
        #expect(tokens.expires == received + 1199)
        // Without a refresh token its expiry means nothing.
        #expect(tokens.refreshExpires == nil)
        #expect(tokens["principalID"] == nil && tokens["principalIDNS"] == nil)
    }

    @Test(
        "another institution's token, a half-named user, and a name that breaks out of a header are refused",
        arguments: [
            (#""contextInstitutionId":"91475""#, "wrong_context"),
            (#""context_institution_id":91475"#, "wrong_context"),
            (#""context_institution_id":"","contextInstitutionId":"91475""#, "wrong_context"),
            (#""principalID":"p-ada""#, "malformed_answer"),
            (#""principalID":"p\"ada","principalIDNS":"urn:oclc:platform:128807""#, "malformed_answer"),
        ])
    func refusals(member: String, reason: String) async throws {
        do {
            _ = try await tokens(#"{"access_token":"tk_a",\#(member)}"#)
            Issue.record("taken")
        } catch let error as AccountError {
            #expect(error.code.description == reason)
        }
    }

    @Test("of an error that quotes the request, neither the header nor the signature is kept")
    func echo() throws {
        let body =
            #"{"code":{"type":"http","value":"401"},"message":"WSKey 'abc' is invalid","details":"Authorization header: http://www.worldcat.org/wskey/v2/hmac/v1 clientId=\"planted-key\", signature=\"planted-signature\""}"#
        let error = OCLCReply.failure(try JSONValue(parsing: Array(body.utf8)), status: 401, from: "oclc.example")
        #expect(error?.code == .clientRefused && error?.serverCode == 401 && error?.status == 401)
        #expect(error?.serverMessage == "WSKey 'abc' is invalid")
        #expect(!"\(String(describing: error)) \(error.debugDescription)".contains("planted"))
    }

    @Test(
        "a refusal of a signed request names what is wrong: the secret, the key, the clock, the institution, the scope",
        arguments: [
            (401, "The signature does not match", "the WSKey's secret is wrong", AccountError.Code.clientRefused),
            (401, "WSKey 'wskey-9' is invalid", "does not know this WSKey", .clientRefused),
            (401, "The timestamp is too old or too new", "this machine's clock is 67 min ahead of", .clientRefused),
            (
                400, "WSKey 'wskey-1' may not ask for the data of this institution", "check contextInstitutionId",
                .clientRefused
            ),
            (400, "The scope NoSuchAPI is not known", "the requested scope", .invalidConfiguration),
            (400, "An institution is missing", "lacks an institution", .missingParameter),
            (403, "The tide\u{1B} is high", ": \"The tide  is high\"", .clientRefused),
            (409, "The tide is high", "(HTTP 409): \"The tide is high\"", .rejected),
        ])
    func legacyRefusals(status: Int, words: String, says: String, code: AccountError.Code) {
        let json: JSONValue = ["code": ["type": "http", "value": .string("\(status)")], "message": .string(words)]
        let error = OCLCReply.failure(json, status: status, from: "oclc.example", clock: -67 * 60 - 5)
        #expect(error?.code == code && error?.message.contains(says) == true, "\(error as Any)")
    }

    @Test(
        "a text that quotes a credential is cut before it",
        arguments: [
            "Authorization header: Basic cGxhbnRlZA==", "no user for Bearer planted", "token tk_planted is too old",
            "refresh RT_planted gone", "signature=\"planted\" does not match",
        ])
    func quoted(words: String) {
        let json: JSONValue = ["error": "invalid_token", "error_description": .string(words)]
        let legacy: JSONValue = ["code": ["type": "http", "value": 403], "message": .string(words)]
        for value in [json, legacy] {
            let error = OCLCReply.failure(value, status: 403, from: "h")
            let shown = "\(error.debugDescription)"
            #expect(!shown.lowercased().contains("planted") && !shown.contains("cGxhbnRlZA"))
            #expect(shown.contains("omitted"))
        }
    }
}
