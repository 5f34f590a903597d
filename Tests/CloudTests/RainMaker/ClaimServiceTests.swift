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

@Suite("The claim service")
struct ClaimServiceTests {
    private static let board = Array(#"{"mac_addr":"7CDFA1000001","platform":"esp32c3"}"#.utf8)

    private func service(over http: any HTTPClient) throws -> ClaimService {
        let deployment = try Deployment(name: "sim", base: "http://127.0.0.1:1", claim: "http://127.0.0.1:2/base")
        let saved = SavedSession(
            provider: "rainmaker", userID: UserID("user-1"), userName: "dev@example.com",
            tokens: Tokens(access: Secret("planted-access"), received: UnixTime(seconds: 0)))
        let session = try AccountSession.rainMaker(
            deployment, http: http, store: InMemoryCredentialStore([try CredentialKey("sim"): saved]),
            clock: ManualWallClock(), timer: ManualClock())
        return try #require(ClaimService(deployment, session: session))
    }

    @Test("both calls carry the board's messages and the service's replies unchanged, as the user")
    func relay() async throws {
        let http = ScriptedHTTPClient()
        let reply = "{ \"node_id\" : \"n\\u006fde-1\", \"more\": [1] }\n"
        http.expect(.post, "/base/claim/initiate", reply)
        http.expect(.post, "/base/claim/verify", #"{"certificate":"-----BEGIN CERTIFICATE-----\n"}"#)
        let service = try service(over: http)
        let invitation = try await service.initiateClaim(Self.board)
        #expect(invitation == ClaimInvitation(node: NodeID("node-1"), reply: Array(reply.utf8)))
        let request = Array(#"{"csr":"-----BEGIN…","send_mqtt_host":true}"#.utf8)
        #expect(
            try await service.verifyClaim(request) == Array(#"{"certificate":"-----BEGIN CERTIFICATE-----\n"}"#.utf8))
        #expect(http.requests.map(\.body) == [Self.board, request])
        for request in http.requests {
            #expect(request.url.hasPrefix("http://127.0.0.1:2/base/claim/"))
            #expect(request.headers.contains { $0.name == "Authorization" && $0.value == "planted-access" })
            #expect(request.headers.contains { $0.name == "Content-Type" && $0.value == "application/json" })
        }
        try http.finish()
    }

    @Test("the error of a service that repeats the request has no token")
    func echoed() async throws {
        let service = try service(over: EchoingClient())
        let error = try #require(
            await accountError { () throws(AccountError) in try await service.initiateClaim(Self.board) })
        let shown = "\(error) \(String(reflecting: error))"
        #expect(shown.contains("7CDFA1000001") && !shown.contains("planted"), "\(shown)")
    }

    struct Case: Sendable {
        var status = 200
        var body: String
        var code: AccountError.Code
    }

    @Test(
        "an answer that is not an invitation is reported by cause",
        arguments: [
            Case(status: 400, body: #"{"status":"failure","description":"Platform is invalid"}"#, code: .rejected),
            Case(status: 403, body: #"{"message":"Forbidden"}"#, code: .forbidden),
            Case(status: 429, body: #"{"message":"slow down"}"#, code: .rateLimited),
            Case(status: 503, body: "<html>", code: .serverFault), Case(body: "<html>", code: .malformedAnswer),
            Case(body: "{}", code: .malformedAnswer), Case(body: #"{"node_id":""}"#, code: .malformedAnswer),
            Case(body: #"{"node_id":"with space"}"#, code: .malformedAnswer), Case(body: "[]", code: .malformedAnswer),
            Case(body: #"{"node_id":"\#(String(repeating: "n", count: 64))"}"#, code: .malformedAnswer),
            Case(body: #"{"node_id":"n","x":"\#(String(repeating: "x", count: 3072))"}"#, code: .rejected),
        ])
    func answers(example: Case) async throws {
        let http = ScriptedHTTPClient()
        http.expect(.post, "/base/claim/initiate", status: example.status, example.body)
        let service = try service(over: http)
        let error = await accountError { () throws(AccountError) in try await service.initiateClaim(Self.board) }
        #expect(error?.code == example.code)
        if example.status == 400 { #expect(error?.serverMessage == "Platform is invalid") }
    }

    @Test("a certificate request that the service refuses is named")
    func request() async throws {
        let http = ScriptedHTTPClient()
        http.expect(.post, "/base/claim/verify", status: 400, #"{"status":"failure","description":"Wrong csr"}"#)
        let service = try service(over: http)
        let error = await accountError { () throws(AccountError) in try await service.verifyClaim(Self.board) }
        #expect(error?.code == .rejected && error?.serverMessage == "Wrong csr")
        #expect(error?.message.contains("does not accept the board's certificate request (HTTP 400)") == true)
    }

    @Test("a reply without a certificate, or with one that is too large for a board, is not passed on")
    func certificates() async throws {
        for (body, code) in [
            ("{}", AccountError.Code.malformedAnswer), (#"{"certificate":""}"#, .malformedAnswer),
            (#"{"certificate":"\#(String(repeating: "x", count: 3055))"}"#, .rejected),
        ] {
            let http = ScriptedHTTPClient()
            http.expect(.post, "/base/claim/verify", body)
            let service = try service(over: http)
            #expect(
                await accountError { () throws(AccountError) in try await service.verifyClaim(Self.board) }?.code
                    == code)
        }
        let http = ScriptedHTTPClient()
        http.expect(.post, "/base/claim/verify", #"{"certificate":"\#(String(repeating: "x", count: 3053))"}"#)
        #expect(try await service(over: http).verifyClaim(Self.board).count == 3071)
    }

    @Test("a board's message is sent only if it is JSON")
    func nonsense() async throws {
        let service = try service(over: ScriptedHTTPClient())
        for words in [[], [0xFF], Array("{".utf8), [UInt8](repeating: 0x20, count: 4000)] as [[UInt8]] {
            let error = await accountError { () throws(AccountError) in try await service.initiateClaim(words) }
            #expect(error?.code == .invalidInput)
        }
    }

    @Test("a deployment without a claim service has none")
    func absent() throws {
        let deployment = try Deployment(name: "sim", base: "http://127.0.0.1:1")
        let session = try AccountSession.rainMaker(
            deployment, http: ScriptedHTTPClient(), store: InMemoryCredentialStore(), clock: ManualWallClock(),
            timer: ManualClock())
        #expect(ClaimService(deployment, session: session) == nil)
    }

    @Test("the service's answers, fuzzed")
    func fuzzed() async throws {
        try await withOwnProcessInSoak {
            let examples = [
                #"{"node_id":"node-1"}"#, #"{"certificate":"-----BEGIN CERTIFICATE-----\nMIIB\n","mqtt_host":"h"}"#,
                #"{"status":"failure","description":"Platform is invalid"}"#, "<html>",
            ].map { Array($0.utf8) }
            let report = await fuzz("claim replies", from: examples, seed: 42) { input in
                let answer = FixedAnswer(response: HTTPResponse(status: input.count % 7 == 0 ? 400 : 200, body: input))
                let service = try! ClaimServiceTests().service(over: answer)
                if let invitation = try? await service.initiateClaim(ClaimServiceTests.board) {
                    #expect((1...63).contains(invitation.node.rawValue.utf8.count))
                }
                if let reply = try? await service.verifyClaim(ClaimServiceTests.board) {
                    #expect(reply.count <= ClaimService.maximumReplyBytes)
                }
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
