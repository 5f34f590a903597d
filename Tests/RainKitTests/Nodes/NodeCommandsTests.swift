// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON
import RainKitTesting
import Testing

@testable import RainKit
@testable import RainMaker

@Suite("Commands to nodes")
struct NodeCommandsTests {
    private static let send = "/v1/user/nodes/cmd"
    private static let records = "/v1/user/nodes/cmd?request_id=r1"
    private static let both = [NodeID("n1"), NodeID("n2")]

    private static func list(_ statuses: (String, String)...) -> String {
        let entries = statuses.map { #"{"node_id":"\#($0.0)","status":"\#($0.1)"}"# }
        return #"{"requests":[\#(entries.joined(separator: ","))]}"#
    }

    @Test("a command is sent to nodes, and those that the cloud refused are listed")
    func sent() async throws {
        let client = try SignedInClient()
        let refused = #"{"request_id":"r1","responses":[{"node_id":"n2","status":"failure","description":"no"}]}"#
        client.http.expect(.post, Self.send, status: 207, refused)
        let request = try await client.kit.sendCommand(4096, .json(["level": 3]), to: Self.both, keptFor: .seconds(60))
        #expect(request.id == RequestID("r1") && request.nodes == Self.both)
        #expect(request.refused.map(\.node) == [NodeID("n2")])
        #expect(
            client.bodies.last == ["node_ids": ["n1", "n2"], "cmd": 4096, "timeout": 60, "data": ["level": 3]])
        try client.http.finish()
    }

    @Test("numbers, nodes and times that the cloud does not accept are refused before anything is sent")
    func bounds() async throws {
        let client = try SignedInClient()
        let kit = client.kit
        let many = (0..<26).map { NodeID("n\($0)") }
        let errors = [
            await kitError { try await kit.sendCommand(0, to: Self.both) },
            await kitError { try await kit.sendCommand(1, to: []) },
            await kitError { try await kit.sendCommand(1, to: many) },
            await kitError { try await kit.sendCommand(1, to: Self.both, keptFor: .milliseconds(500)) },
            await kitError { try await kit.sendCommand(1, to: Self.both, keptFor: .seconds(2_592_001)) },
        ]
        #expect(errors.allSatisfy { $0?.code == .usage })
        #expect(client.http.requests.isEmpty)
    }

    @Test("answers are requested until all are final, even if a list has some nodes before others")
    func waited() async throws {
        let client = try SignedInClient()
        client.http.expect(.get, Self.records, Self.list(("n1", "success")))
        client.http.expect(.get, Self.records, Self.list())
        client.http.expect(.get, Self.records, Self.list(("n1", "success"), ("n2", "failure")))
        let request = NodeCommandRequest(id: RequestID("r1"), nodes: Self.both)
        let answers = await client.kit.answers(to: request, waiting: .seconds(600))
        #expect(answers.isComplete && answers.records.map(\.status) == [.success, .failure])
        try client.http.finish()
    }

    @Test("the wait does not include nodes that were refused")
    func refused() async throws {
        let client = try SignedInClient()
        let refused = Self.both.map { ParameterOutcome(node: $0, failure: "no") }
        let request = NodeCommandRequest(id: RequestID("r1"), nodes: Self.both, refused: refused)
        let answers = await client.kit.answers(to: request, waiting: .seconds(600))
        #expect(answers.isComplete && answers.records.isEmpty && client.http.requests.isEmpty)
    }

    @Test("a refusal ends the wait, and the known answers are kept")
    func refusal() async throws {
        let client = try SignedInClient()
        client.http.expect(.get, Self.records, Self.list(("n1", "requested")))
        client.http.expect(
            .get, Self.records, status: 400, #"{"status":"failure","description":"no","error_code":199999}"#)
        let request = NodeCommandRequest(id: RequestID("r1"), nodes: Self.both)
        let answers = await client.kit.answers(to: request, waiting: .seconds(600))
        #expect(answers.records.map(\.node) == [NodeID("n1")] && answers.unknown != nil && !answers.isComplete)
        try client.http.finish()
    }

    @Test("an unknown request is an error")
    func unknown() async throws {
        let client = try SignedInClient()
        let refusal = #"{"status":"failure","description":"no","error_code":103018}"#
        client.http.expect(.get, Self.records, status: 404, refusal)
        client.http.expect(.get, Self.records, status: 404, refusal)
        let kit = client.kit
        let error = await kitError { try await kit.answers(to: RequestID("r1")) }
        #expect(error?.reason == "no_such_request" && error?.code == .other && error?.remedies == [.knownCommand])
        let answers = await kit.answers(to: NodeCommandRequest(id: RequestID("r1")), waiting: .seconds(600))
        #expect(answers.unknown?.reason == "no_such_request")
        try client.http.finish()
    }
}
