// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKitTesting
import RainMaker
import Testing

@testable import RainKit

@Suite("Finding nodes and groups by name")
struct FindNodesTests {
    private static let list = "/v1/user/nodes?node_details=true"

    private static func page(_ nodes: (id: String, name: String)...) -> String {
        let details = nodes.map { #"{"id":"\#($0.id)","config":{"info":{"name":"\#($0.name)"}}}"# }
        return #"{"nodes":[],"node_details":[\#(details.joined(separator: ","))],"next_id":""}"#
    }

    @Test("a name is looked up in the list, and never sent as an id")
    func name() async throws {
        let client = try SignedInClient()
        client.http.expect(.get, Self.list, Self.page(("n1", "Fan"), ("n2", "Kitchen lamp")))
        #expect(try await client.kit.node(named: "kitchen LAMP").id == NodeID("n2"))
        try client.http.finish()
    }

    @Test("a text with the form of a node id is asked for, and looked up only if the cloud does not know it")
    func identifier() async throws {
        let client = try SignedInClient()
        let id = "7CDFA1000042"
        client.http.expect(
            .get, "/v1/user/nodes?node_id=\(id)&node_details=true", Self.page((id, "Lamp")))
        #expect(try await client.kit.node(named: id).id == NodeID(id))
        client.http.expect(
            .get, "/v1/user/nodes?node_id=\(id)&node_details=true", status: 400,
            #"{"status":"failure","error_code":100015,"description":"no"}"#)
        client.http.expect(.get, Self.list, Self.page(("n1", id)))
        #expect(try await client.kit.node(named: id).id == NodeID("n1"))
        try client.http.finish()
    }

    @Test("several names take one listing, and a node that is named twice is returned once")
    func several() async throws {
        let client = try SignedInClient()
        client.http.expect(.get, Self.list, Self.page(("node-a", "Fan"), ("node-b", "Lamp"), ("node-c", "Heater")))
        let nodes = try await client.kit.nodes(listed: "Lamp, node-a,Fan")
        #expect(nodes.map(\.id) == [NodeID("node-b"), NodeID("node-a")])
        try client.http.finish()
    }

    @Test("an id counts before a name")
    func exact() async throws {
        let client = try SignedInClient()
        client.http.expect(.get, Self.list, Self.page(("node-a", "node-b"), ("node-b", "Lamp")))
        #expect(try await client.kit.node(named: "node-b").id == NodeID("node-b"))
        try client.http.finish()
    }

    @Test("a node that was named by its id is shown with its id, and one that was named by its name without")
    func shown() async throws {
        let client = try SignedInClient()
        let lamp =
            #"{"nodes":[],"node_details":[{"id":"node-b","config":{"devices":[{"name":"L","params":[{"name":"Name","type":"esp.param.name"}]}]},"params":{"L":{"Name":"Lamp"}}}],"next_id":""}"#
        for _ in 1...2 { client.http.expect(.get, Self.list, lamp) }
        #expect(try await client.kit.node(named: "node-b").shownName == "Lamp (node-b)")
        #expect(try await client.kit.node(named: "lamp").shownName == "Lamp")
        try client.http.finish()
    }

    @Test("a name with a comma is found if no list of names is")
    func comma() async throws {
        let client = try SignedInClient()
        for _ in 1...2 { client.http.expect(.get, Self.list, Self.page(("n1", "Lamp, small"))) }
        #expect(try await client.kit.nodes(listed: "Lamp, small").map(\.id) == [NodeID("n1")])
        try client.http.finish()
    }

    @Test("a missing name, an ambiguous one and an empty one are three errors, with remedies")
    func errors() async throws {
        let client = try SignedInClient()
        client.http.expect(.get, Self.list, Self.page(("n1", "Fan")))
        let missing = await kitError { try await client.kit.node(named: "lamp") }
        #expect(missing?.code == .other && missing?.reason == "no_such_node" && missing?.remedies == [.knownNode])
        client.http.expect(.get, Self.list, Self.page(("n1", "Lamp"), ("n2", "Lamp")))
        let ambiguous = await kitError { try await client.kit.node(named: "lamp") }
        #expect(ambiguous?.code == .usage && ambiguous?.reason == "several_nodes")
        #expect(ambiguous?.message.contains("n1 or n2") == true)
        let empty = await kitError { try await client.kit.node(named: " ") }
        #expect(empty?.code == .usage)
        try client.http.finish()
    }
}
