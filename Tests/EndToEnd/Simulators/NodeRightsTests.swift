// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// The broker as boards meet it: with Debian's own MQTT clients.
@Suite struct NodeRightsTests {
    private static func mosquitto(
        _ program: String, _ cloud: SimulatedCloud, as node: String?, _ arguments: [String],
        wait: Duration = .waitLimit
    ) async throws -> FinishedProcess {
        try await run("mosquitto_\(program)", try options(cloud, as: node) + arguments, within: wait)
    }

    private static func options(_ cloud: SimulatedCloud, as node: String?) throws -> [String] {
        let place = cloud.mqtt.split(separator: ":").map(String.init)
        var options = ["-h", place[0], "-p", place[1], "--cafile", cloud.ca]
        if let node {
            let board = try cloud.boardOptions(node: node)
            for (ours, theirs) in [("--cert", "--cert"), ("--key", "--key")] {
                options += [theirs, board[board.firstIndex(of: ours)! + 1]]
            }
        }
        return options
    }

    /// A subscriber whose lines come as they are written, not when a buffer is full.
    private static func subscriber(
        _ cloud: SimulatedCloud, as node: String, _ arguments: [String]
    ) async throws -> ChildProcess {
        try await ChildProcess.start(
            "stdbuf", ["-oL", "mosquitto_sub"] + (try options(cloud, as: node)) + arguments)
    }

    @Test(
        "a node's own word reaches the cloud, with a rule before the topic and without",
        arguments: ["", "$aws/rules/esp_node_config/"])
    func ownTopic(prefix: String) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node1", "node2:rsa"], in: folder)
            for node in ["node1", "node2"] {
                let sent = try await Self.mosquitto(
                    "pub", cloud, as: node,
                    ["-q", "1", "-t", "\(prefix)node/\(node)/config", "-m", "{\"node_id\":\"\(node)\"}"])
                #expect(sent.status == .exited(0), "\(sent.standardError)")
                for what in ["connected", "config", "disconnected"] {
                    _ = try await cloud.journal.entry(
                        where: ["event": "node", "node": .string(node), "what": .string(what)])
                }
            }
        }
    }

    @Test("a node cannot speak for another, nor listen to it, nor to all")
    func foreignTopics() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node1", "node2"], in: folder)
            for topic in [
                "node/node2/config", "$aws/rules/esp_node_config/node/node2/config",
                "$aws/rules/x/y/node/node1/config", "other/node/node1/config",
            ] {
                // A publish that the rights deny is still acknowledged, because AWS does not report it either.
                let sent = try await Self.mosquitto(
                    "pub", cloud, as: "node1", ["-q", "1", "-t", topic, "-m", "{\"node_id\":\"node2\"}"])
                #expect(sent.status == .exited(0), "\(sent.standardError)")
            }
            let listener = try await Self.subscriber(
                cloud, as: "node2",
                [
                    "-q", "1", "-F", "%t", "-t", "#", "-t", "$aws/#", "-t", "node/+/config", "-t", "node/node2/#",
                    "-d",
                ])
            try await listener.output(containing: "SUBACK")
            for (node, topic) in [("node1", "node/node1/config"), ("node1", "$aws/rules/r/node/node1/config")] {
                try await run(
                    "mosquitto_pub",
                    try Self.options(cloud, as: node) + ["-q", "1", "-t", topic, "-m", "{\"node_id\":\"node1\"}"])
            }
            // The cloud heard node1, so node2 has had the chance; then it hears what is its own.
            _ = try await cloud.journal.entry(where: ["event": "node", "node": "node1", "what": "config"])
            try await listener.terminate()
            #expect(
                !listener.standardOutput.split(separator: "\n").contains {
                    $0.hasPrefix("node/node1") || $0.hasPrefix("$aws")
                })
            #expect(try cloud.journal.entries(where: ["event": "node", "node": "node2", "what": "config"]).isEmpty)
        }
    }

    @Test("nobody comes in without a certificate of this cloud")
    func strangers() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node1"], in: folder)
            let other = try await SimulatedCloud.start(nodes: ["node1"], in: folder)
            let publish = ["-q", "1", "-t", "node/node1/config", "-m", "{}"]
            let without = try await Self.mosquitto("pub", cloud, as: nil, publish)
            #expect(without.status != .exited(0))
            // The same name from another cloud's CA.
            let place = cloud.mqtt.split(separator: ":").map(String.init)
            let board = try other.boardOptions(node: "node1")
            let credentials = board.suffix(4).map { $0 }
            let foreign = try await run(
                "mosquitto_pub", ["-h", place[0], "-p", place[1], "--cafile", cloud.ca] + credentials + publish)
            #expect(foreign.status != .exited(0))
            // And a board does not trust another cloud's broker.
            let distrust = try await run(
                "mosquitto_pub", ["-h", place[0], "-p", place[1], "--cafile", other.ca] + credentials + publish)
            #expect(distrust.status != .exited(0))
            #expect(try cloud.journal.entries(where: ["event": "node"]).isEmpty)
        }
    }

    @Test("a client id is the certificate's name, whatever the client calls itself")
    func clientID() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node1", "node2"], in: folder)
            try await run(
                "mosquitto_pub",
                try Self.options(cloud, as: "node1") + [
                    "-i", "node2", "-q", "1", "-t", "node/node1/config", "-m", "{}",
                ])
            _ = try await cloud.journal.entry(where: ["node": "node1", "what": "disconnected"])
            #expect(try cloud.journal.entries(where: ["node": "node2"]).isEmpty)
        }
    }

    @Test("a mapping is confirmed when the user's request and the node's message agree")
    func mapping() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node1"], in: folder)
            let client = APIClient(base: cloud.api)
            try await client.signIn(SimulatedCloud.user, SimulatedCloud.password)
            let user = try #require(try await client.send("GET", "/v1/user2").body["user_id"]?.string)
            let put = try await client.send(
                "PUT", "/v1/user/nodes/mapping", ["node_id": "node1", "secret_key": "s3", "operation": "add"])
            let request = try #require(put.body["request_id"]?.string)
            let message = "{\"node_id\":\"node1\",\"user_id\":\"\(user)\",\"secret_key\":\"s3\"}"
            _ = try await Self.mosquitto(
                "pub", cloud, as: "node1",
                ["-q", "1", "-t", "$aws/rules/esp_user_node_mapping/node/node1/user/mapping", "-m", message])
            let confirmed = try await cloud.journal.entry(where: ["event": "mapping", "state": "confirmed"])
            #expect(confirmed["node"] == "node1")
            let status = try await client.send("GET", "/v1/user/nodes/mapping?request_id=\(request)")
            #expect(status.body["request_status"] == "confirmed")

            // And the other direction: what the user sets reaches the node.
            let node = try await Self.subscriber(
                cloud, as: "node1", ["-d", "-q", "1", "-C", "1", "-t", "node/node1/params/remote"])
            try await node.output(containing: "SUBACK")
            _ = try await client.send("PUT", "/v1/user/nodes/params?node_id=node1", ["Lamp": ["Power": true]])
            try await node.output(containing: #"{"Lamp":{"Power":true}}"#)
        }
    }
}
