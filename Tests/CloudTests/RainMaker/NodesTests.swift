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

@Suite("The user's nodes")
struct NodesTests {
    @Test("all pages are read, and each node's own values are kept")
    func pages() async throws {
        let script = try ScriptedCloud()
        script.http.expect(
            .get, "/v1/user/nodes?node_details=true",
            #"""
            {"nodes":["n1"],"node_details":[{"id":"n1","role":"primary","primary":true,"tags":["a:b"],"metadata":{"x":1},
            "status":{"connectivity":{"connected":true,"timestamp":1700000000500}},"params":{"Light":{"Power":true}},
            "config":{"node_id":"n1","info":{"name":"Lamp","fw_version":"1.2","type":"esp.node.light","model":"m"}}}],
            "next_id":"n 2","total":2}
            """#)
        script.http.expect(
            .get, "/v1/user/nodes?node_details=true&start_id=n%202",
            #"{"nodes":["n2"],"node_details":[{"id":"n2"}],"next_id":"","total":2}"#)
        let nodes = try await script.cloud.nodes()
        #expect(nodes.map(\.id) == [NodeID("n1"), NodeID("n2")])
        let lamp = nodes[0]
        #expect(lamp.name == "Lamp")
        #expect(lamp.firmwareVersion == "1.2")
        #expect(lamp.connectivity == .init(isConnected: true, since: UnixTime(seconds: 1_700_000_000.5)))
        #expect(lamp.tags == ["a:b"])
        #expect(lamp.parameters?["Light"]?["Power"] == true)
        #expect(nodes[1].connectivity == nil)
        try script.http.finish()
    }

    @Test("a list of ids needs no details")
    func ids() async throws {
        let script = try ScriptedCloud()
        script.http.expect(.get, "/v1/user/nodes", #"{"nodes":["n1","n2"],"total":2}"#)
        #expect(try await script.cloud.nodeIDs() == [NodeID("n1"), NodeID("n2")])
    }

    @Test("a list that goes in a circle ends with an error")
    func circle() async throws {
        let script = try ScriptedCloud()
        script.http.expect(.get, "/v1/user/nodes", #"{"nodes":[],"next_id":"a"}"#)
        script.http.expect(.get, "/v1/user/nodes?start_id=a", #"{"nodes":[],"next_id":"a"}"#)
        #expect(
            await accountError { () throws(AccountError) in try await script.cloud.nodeIDs() }?.code == .malformedAnswer
        )
        try script.http.finish()
    }

    @Test("another user's node is refused with a message")
    func foreign() async throws {
        let script = try ScriptedCloud()
        script.http.expect(
            .get, "/v1/user/nodes?node_id=n1&node_details=true", status: 400,
            #"{"status":"failure","error_code":100010,"description":"Node is not owned"}"#)
        let error = await accountError { () throws(AccountError) in try await script.cloud.node(NodeID("n1")) }
        #expect(error?.code == .unknownNode)
        #expect(error?.serverMessage == "Node is not owned")
    }

    @Test(
        "connectivity is read in both of its forms",
        arguments: [
            #"{"connectivity":{"connected":false,"timestamp":"1000"}}"#, #"{"connected":false,"timestamp":1000}"#,
        ])
    func connectivity(body: String) async throws {
        let script = try ScriptedCloud()
        script.http.expect(.get, "/v1/user/nodes/status?node_id=n1", body)
        #expect(
            try await script.cloud.nodeConnectivity(NodeID("n1"))
                == .init(isConnected: false, since: UnixTime(seconds: 1)))
    }

    @Test("the MQTT host is requested without a token")
    func metadata() async throws {
        let script = try ScriptedCloud(signedIn: false)
        script.http.expect(.get, "/mqtt_host", #"{"mqtt_host":"mqtt.example"}"#)
        #expect(try await script.cloud.mqttHost() == "mqtt.example")
        #expect(script.http.requests.allSatisfy { !$0.headers.contains { $0.name == "Authorization" } })
        try script.http.finish()
    }
}
