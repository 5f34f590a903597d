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

@Suite("Mapping a node to the user")
struct MappingTests {
    private let node = NodeID("node-aabbccdd")
    private let secret = MappingSecret(Secret("planted-secret"))

    @Test("by secret: node, secret and notes are sent, and a request id is returned")
    func add() async throws {
        let script = try ScriptedCloud()
        script.http.expect(.put, "/v1/user/nodes/mapping", #"{"status":"success","description":"d","request_id":"r1"}"#)
        let notes = MappingNotes(tags: ["room:kitchen"], metadata: #"{"floor":1}"#)
        #expect(try await script.cloud.addMapping(node: node, secret: secret, notes: notes) == RequestID("r1"))
        let expected: JSONValue = [
            "node_id": "node-aabbccdd", "secret_key": "planted-secret", "operation": "add", "tags": ["room:kitchen"],
            "metadata": ["floor": 1],
        ]
        #expect(script.bodies == [expected])
        #expect(script.http.requests[0].headers.contains(HTTPHeader("Authorization", "planted-access")))
        #expect(script.http.requests[0].headers.contains(HTTPHeader("Content-Type", "application/json")))
        try script.http.finish()
    }

    @Test("the error of a server that repeats the request has neither the secret nor the token")
    func echoed() async throws {
        let cloud = try ScriptedCloud.cloud(over: EchoingClient())
        let error = try #require(
            await accountError { () throws(AccountError) in try await cloud.addMapping(node: node, secret: secret) })
        let shown = "\(error) \(String(reflecting: error))"
        #expect(shown.contains("node-aabbccdd") && !shown.contains("planted"), "\(shown)")
    }

    @Test("without notes their members are omitted")
    func addPlain() async throws {
        let script = try ScriptedCloud()
        script.http.expect(.put, "/v1/user/nodes/mapping", #"{"status":"success","request_id":"r1"}"#)
        _ = try await script.cloud.addMapping(node: node, secret: secret)
        #expect(script.bodies[0]?.members?.map(\.name) == ["node_id", "secret_key", "operation"])
    }

    @Test("metadata that is not a JSON object is refused before anything is sent", arguments: ["", "[]", "{", "x"])
    func badMetadata(text: String) async throws {
        let script = try ScriptedCloud()
        let error = await accountError { () throws(AccountError) in
            try await script.cloud.addMapping(node: node, secret: secret, notes: MappingNotes(metadata: text))
        }
        #expect(error?.code == .invalidConfiguration)
        try script.http.finish()
    }

    @Test(
        "each state of a request has its word",
        arguments: [
            ("requested", MappingStatus.requested), ("confirmed", .confirmed), ("timedout", .timedOut),
            ("discarded", .discarded), ("postponed", .other("postponed")),
        ])
    func status(word: String, expected: MappingStatus) async throws {
        let script = try ScriptedCloud()
        script.http.expect(
            .get, "/v1/user/nodes/mapping?request_id=a%26b%3D1",
            #"{"user_node_id":"node-aabbccdd","request_id":"a&b=1","request_status":"\#(word)","request_timestamp":"1"}"#
        )
        #expect(try await script.cloud.mappingStatus(RequestID("a&b=1")) == expected)
        try script.http.finish()
    }

    @Test("a challenge is the bytes of the cloud's text")
    func initiate() async throws {
        let script = try ScriptedCloud()
        script.http.expect(.post, "/v1/user/nodes/mapping/initiate", #"{"request_id":"r1","challenge":"chällenge"}"#)
        let challenge = try await script.cloud.initiateChallenge(lifetime: .seconds(360))
        #expect(challenge.request == RequestID("r1"))
        #expect(challenge.challenge == Array("chällenge".utf8))
        #expect(script.bodies == [["timeout": 360]])
    }

    @Test("a signature is sent in lower-case hexadecimal")
    func verify() async throws {
        let script = try ScriptedCloud()
        script.http.expect(.post, "/v1/user/nodes/mapping/verify", #"{"status":"success","description":"d"}"#)
        try await script.cloud.verifyChallenge(RequestID("r1"), node: node, signature: [0x00, 0x0F, 0xAB, 0xFF])
        #expect(
            script.bodies == [["request_id": "r1", "node_id": "node-aabbccdd", "challenge_response": "000fabff"]])
    }

    @Test("a signature that the cloud has already accepted, but whose answer was lost, is a success")
    func verifiedBefore() async throws {
        let script = try ScriptedCloud()
        script.http.expect(
            .post, "/v1/user/nodes/mapping/verify", status: 400,
            #"{"status":"failure","error_code":"103033","description":"Mapping request is already confirmed"}"#)
        try await script.cloud.verifyChallenge(RequestID("r1"), node: node, signature: [1])
        try script.http.finish()
    }

    @Test("removing names only node and operation")
    func remove() async throws {
        let script = try ScriptedCloud()
        script.http.expect(.put, "/v1/user/nodes/mapping", #"{"status":"success","description":"d"}"#)
        try await script.cloud.removeMapping(node: node)
        #expect(script.bodies == [["node_id": "node-aabbccdd", "operation": "remove"]])
    }

    @Test(
        "a refusal keeps the cloud's number and says what to do",
        arguments: [(103_031, "signature"), (103_013, "not in this account"), (103_034, "was discarded; try again")])
    func refused(code: Int, words: String) async throws {
        let script = try ScriptedCloud()
        script.http.expect(
            .post, "/v1/user/nodes/mapping/verify", status: 400,
            #"{"status":"failure","error_code":"\#(code)","description":"d"}"#)
        let error = await accountError { () throws(AccountError) in
            try await script.cloud.verifyChallenge(RequestID("r"), node: node, signature: [])
        }
        #expect(error?.isRefusal == true)
        #expect(error?.serverCode == code)
        #expect(error?.message.contains(words) == true)
    }

    @Test(
        "an answer without a required member is malformed",
        arguments: ["{}", #"{"request_id":""}"#, #"{"request_id":7,"challenge":"c"}"#, #"{"request_id":"r"}"#])
    func incomplete(body: String) async throws {
        let script = try ScriptedCloud()
        script.http.expect(.post, "/v1/user/nodes/mapping/initiate", body)
        let error = await accountError { () throws(AccountError) in
            try await script.cloud.initiateChallenge(lifetime: .seconds(1))
        }
        #expect(error?.code == .malformedAnswer)
    }

    @Test("nobody signed in: nothing is sent")
    func notSignedIn() async throws {
        let script = try ScriptedCloud(signedIn: false)
        let error = await accountError { () throws(AccountError) in
            try await script.cloud.addMapping(node: node, secret: secret)
        }
        #expect(error?.code == .notSignedIn)
        try script.http.finish()
    }
}
