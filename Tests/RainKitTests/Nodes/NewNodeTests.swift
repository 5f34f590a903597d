// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKitTesting
import Testing

@testable import RainKit
@testable import RainMaker

@Suite("A node that was just added")
struct NewNodeTests {
    @Test(
        "the machine's time zone has a name of the database; UTC and unknown zones count as none",
        arguments: [
            (["TZ": "Europe/Oslo"], nil, "Europe/Oslo"), (["TZ": ":Europe/Oslo"], nil, "Europe/Oslo"),
            ([:], "/usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo"),
            ([:], "../usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo"),
            ([:], "/etc/elsewhere", nil), ([:], nil, nil), (["TZ": "UTC"], "/usr/share/zoneinfo/Asia/Tokyo", nil),
            (["TZ": "Etc/UTC"], nil, nil), (["TZ": "Nowhere/City"], nil, nil), (["TZ": "CET-1CEST"], nil, nil),
            (["TZ": "../../etc/passwd"], nil, nil), (["TZ": ""], "/usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo"),
        ] as [([String: String], String?, String?)])
    func zone(environment: [String: String], link: String?, name: String?) {
        #expect(MachineTimeZone.name(environment: environment, localtime: link) == name)
    }

    private static let time: JSONValue = [
        "name": "Time", "type": "esp.service.time", "params": [["name": "TZ", "type": "esp.param.tz"]],
    ]

    @Test("a board with a time zone, and one without a parameter for it, is sent nothing")
    func unchanged() async throws {
        let client = try SignedInClient()
        let kit = client.kit
        let set = try #require(
            Node(["id": "n1", "config": ["services": [Self.time]], "params": ["Time": ["TZ": "Asia/Tokyo"]]]))
        let without = try #require(Node(["id": "n1", "config": ["devices": [["name": "Light", "params": []]]]]))
        #expect(try await kit.setTimeZoneIfMissing(of: set) == nil)
        #expect(try await kit.setTimeZoneIfMissing(of: without) == nil)
        #expect(client.http.requests.isEmpty)
    }

    @Test("a node is asked for again until it has reported its devices and its name")
    func reported() async throws {
        let client = try SignedInClient()
        let answer = { (node: String) in #"{"nodes":["n1"],"node_details":["# + node + "]}" }
        let path = "/v1/user/nodes?node_id=n1&node_details=true"
        let parts = #""config":{"devices":[{"name":"Light","params":[{"name":"Name","type":"esp.param.name"}]}]}"#
        client.http.expect(.get, path, answer(#"{"id":"n1"}"#))
        client.http.expect(.get, path, answer(#"{"id":"n1",\#(parts)}"#))
        client.http.expect(.get, path, answer(#"{"id":"n1",\#(parts),"params":{"Light":{"Name":"Lamp"}}}"#))
        let node = try await client.kit.reportedNode(NodeID("n1"), within: .seconds(60))
        #expect(node.displayName == "Lamp")
        try client.http.finish()
    }
}
