// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Synchronization
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct NodeEndpointTests {
    private static func mapped(_ nodes: [String]) throws -> (TestCloud, String) {
        let cloud = try TestCloud(nodes: nodes)
        let token = try cloud.signIn().access
        for node in nodes { try cloud.map(node, token: token) }
        return (cloud, token)
    }

    @Test("pages of any size give all nodes once, in order", arguments: [1, 2, 3, 4, 5, 10, 1000])
    func paging(size: Int) throws {
        let nodes = ["a", "b", "c", "d"]
        let (cloud, token) = try Self.mapped(nodes)
        var seen: [String] = []
        var start: String?
        repeat {
            let query = "?num_records=\(size)" + (start.map { "&start_id=\($0)" } ?? "")
            let reply = cloud.send("GET", "/v1/user/nodes\(query)", token: token).body
            #expect(reply["total"] == 4)
            seen += try #require(reply["nodes"]?.array).compactMap(\.string)
            start = reply["next_id"]?.string
        } while start != nil && seen.count < 10
        #expect(seen == nodes)
    }

    @Test("without a size a page has 25, and the official client's own paging gets the rest")
    func defaultPage() throws {
        let cloud = try TestCloud()
        let token = try cloud.signIn().access
        let user = cloud.send("GET", "/v1/user2", token: token).body["user_id"]?.string ?? ""
        cloud.api.changeTransientState { state in
            for number in 0..<60 {
                let id = "node\(100 + number)"
                state.nodes[id] = Node(id: id, keyKind: .p256, certificate: "")
                _ = state.mappings.report(nodeID: id, userID: user, secret: "s", isReset: false, at: 0)
                _ = state.mappings.request(id: id, nodeID: id, userID: user, secret: "s", at: 0)
            }
        }
        var counts: [Int] = []
        var query = ""
        while counts.count < 10 {
            let reply = cloud.send("GET", "/v1/user/nodes\(query)", token: token).body
            counts.append(reply["nodes"]?.array?.count ?? -1)
            guard let next = reply["next_id"]?.string else { break }
            query = "?start_id=\(next)"
        }
        #expect(counts == [25, 25, 10])
    }

    @Test("what a node publishes is what its user reads")
    func details() throws {
        let (cloud, token) = try Self.mapped(["n1"])
        let config: JSONValue = ["node_id": "n1", "config_version": "2020-03-20", "info": ["name": "Lamp"]]
        cloud.api.receive(topic: "$aws/rules/esp_node_config/node/n1/config", payload: config.serialized())
        cloud.api.receive(topic: "node/n1/params/local/init", payload: Array(#"{"Lamp":{"Power":true,"Hue":1}}"#.utf8))
        cloud.api.receive(topic: "node/n1/params/local", payload: Array(#"{"Lamp":{"Hue":7},"Fan":{"Speed":2}}"#.utf8))
        cloud.api.setConnected(true, node: "n1")

        #expect(cloud.send("GET", "/v1/user/nodes/config?nodeid=n1", token: token).body == config)
        let params = cloud.send("GET", "/v1/user/nodes/params?node_id=n1", token: token).body
        #expect(params["Lamp"]?["Power"] == true && params["Lamp"]?["Hue"] == 7 && params["Fan"]?["Speed"] == 2)
        let status = cloud.send("GET", "/v1/user/nodes/status?nodeid=n1", token: token).body
        #expect(status["connectivity"]?["connected"] == true)
        #expect(status["connectivity"]?["timestamp"] == 1_700_000_000_000)

        let details = cloud.send("GET", "/v1/user/nodes?node_details=true&params=false", token: token).body
        let detail = try #require(details["node_details"]?.array?.first)
        #expect(detail["id"] == "n1" && detail["primary"] == true && detail["config"] == config)
        #expect(detail["params"] == nil && detail["status"] == status)
        cloud.api.setConnected(false, node: "n1")
        let after = cloud.send("GET", "/v1/user/nodes/status?node_id=n1", token: token).body
        #expect(after["connectivity"]?["connected"] == false)
    }

    @Test(
        "a message that makes no sense changes nothing",
        arguments: ["", "x", "[]", "null", "{\"a\":", "\u{0}", String(repeating: "[", count: 1000)])
    func nonsense(payload: String) throws {
        let (cloud, token) = try Self.mapped(["n1"])
        for topic in ["node/n1/config", "node/n1/params/local", "node/n1/user/mapping"] {
            cloud.api.receive(topic: topic, payload: Array(payload.utf8))
        }
        for topic in [
            "", "/", "node", "node/", "node/n1", "$aws/rules", "$aws/rules/r", "$aws/rules/r/node/nobody/config",
        ] {
            cloud.api.receive(topic: topic, payload: Array("{}".utf8))
        }
        #expect(cloud.send("GET", "/v1/user/nodes/config?node_id=n1", token: token).errorCode == 103002)
        #expect(try cloud.journal.entries(where: ["event": "node", "what": "ignored"]).count == 3)
    }

    @Test("values go to the node as it listens for them, one node or several")
    func setParams() throws {
        let (cloud, token) = try Self.mapped(["n1", "n2"])
        let sent = Published()
        cloud.api.outbox.withLock { $0 = CloudAPI.Outbox { sent.add($0, $1, $2) } }
        #expect(
            cloud.send("PUT", "/v1/user/nodes/params?nodeid=n1", ["Lamp": ["Power": true]], token: token).status == 200)
        let list: JSONValue = [["node_id": "n2", "payload": ["Fan": 1]], ["node_id": "foreign", "payload": [:]]]
        let reply = cloud.send("PUT", "/v1/user/nodes/params", list, token: token)
        #expect(reply.status == 207)
        #expect(reply.body.array?.map { $0["status"]?.string } == ["success", "failure"])
        #expect(sent.all == ["n1 params/remote {\"Lamp\":{\"Power\":true}}", "n2 params/remote {\"Fan\":1}"])
    }

    @Test("at most 25 nodes are in a call", arguments: [(25, 200, 25), (26, 400, 0), (0, 400, 0)])
    func manyNodes(count: Int, status: Int, messages: Int) throws {
        let (cloud, token) = try Self.mapped(["n1", "n2"])
        let sent = Published()
        cloud.api.outbox.withLock { $0 = CloudAPI.Outbox { sent.add($0, $1, $2) } }
        let list = [JSONValue](repeating: ["node_id": "n2", "payload": ["Fan": 1]], count: count)
        let reply = cloud.send("PUT", "/v1/user/nodes/params", .array(list), token: token)
        #expect(reply.status == status && sent.all.count == messages)
        #expect(status != 200 || reply.body.array?.allSatisfy { $0["status"] == "success" } == true)
    }

    private final class Published: Sendable {
        private let list = Mutex<[String]>([])
        var all: [String] { list.withLock { $0 } }
        func add(_ node: String, _ suffix: String, _ payload: [UInt8]) {
            list.withLock { $0.append("\(node) \(suffix) \(String(decoding: payload, as: UTF8.self))") }
        }
    }

    @Test(
        "what is wrong with a question about nodes is said by code",
        arguments: [
            ("GET", "?node_id=foreign", 400, 100010), ("GET", "?node_id=unknown", 404, 100015),
            ("GET", "?num_records=0", 400, 100021), ("GET", "?num_records=x", 400, 100021),
            ("GET", "?node_details=maybe", 400, 100021), ("GET", "/config", 400, 100009),
            ("GET", "/config?node_id=foreign", 400, 100010), ("GET", "/status?node_id=unknown", 400, 100015),
            ("GET", "/params?nodeid=", 400, 100009), ("DELETE", "/foreign", 400, 103055),
        ] as [(String, String, Int, Int64)])
    func refused(method: String, path: String, status: Int, code: Int64) throws {
        let (cloud, token) = try Self.mapped(["n1"])
        try cloud.api.addNode(NodeSpecification("foreign")!)
        let reply = cloud.send(method, "/v1/user/nodes\(path)", token: token)
        #expect(reply.status == status)
        #expect(reply.errorCode == code)
    }

    @Test("a user who leaves a node has it no more", arguments: [true, false])
    func leave(byDelete: Bool) throws {
        let (cloud, token) = try Self.mapped(["n1"])
        let reply =
            byDelete
            ? cloud.send("DELETE", "/v1/user/nodes/n1", token: token)
            : cloud.send(
                "PUT", "/v1/user/nodes/mapping", ["node_id": "n1", "operation": "remove", "secret_key": ""],
                token: token)
        #expect(reply.status == 200 && reply.body["request_id"] == nil)
        #expect(cloud.send("GET", "/v1/user/nodes", token: token).body["nodes"] == [])
    }
}
