// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import RainJSON
import TestSupport
import Testing

@testable import firmware_sim

@Suite("The node's connection to the cloud")
struct CloudLinkTests {
    /// Set, Apply and user mapping over Security 0, as a client would.
    private func provision(_ address: String, mapping: Bool) async throws {
        let peer = try RawHTTPPeer(address)
        if mapping {
            // user_id "u", secret_key "planted-secret"
            peer.post("cloud_user_assoc", hex("52130a0175120e706c616e7465642d736563726574"))
            guard await peer.nextResponse().body.starts(with: [0x08, 0x01]) else {
                throw ProcessError("no answer to the user mapping")
            }
        }
        peer.post("prov-config", hex("0802620f0a034e6574120870617373776f7264"))
        _ = await peer.nextResponse()
        peer.post("prov-config", hex("0804"))
        _ = await peer.nextResponse()
    }

    @Test("once on Wi-Fi the node connects, reports its config, then the mapping", arguments: ["", ":rsa"])
    func reports(kind: String) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node1" + kind], in: folder)
            let board = try await SimulatedBoard.start(
                [
                    "--http", "127.0.0.1:0", "--security", "0", "--wifi", "Net:password", "--join-delay", "0",
                    "--log-level", "debug",
                ] + cloud.boardOptions(node: "node1"), in: folder)
            #expect(board.nodeID == "node1")
            try await provision(try #require(board.http), mapping: true)
            _ = try await board.journal.entry(
                where: ["event": "publish", "topic": "$aws/rules/esp_user_node_mapping/node/node1/user/mapping"])
            let initial = "$aws/rules/esp_init_params/node/node1/params/local/init"
            _ = try await board.journal.entry(where: ["event": "publish", "topic": .string(initial)])
            let topics = try board.journal.entries(where: ["event": "publish"]).map { $0["topic"]?.string }
            #expect(topics.first == "$aws/rules/esp_node_config/node/node1/config")
            #expect(topics.last == initial)
            #expect(topics.count == 3)
            let mapping = try await cloud.journal.entry(where: ["event": "mapping", "node": "node1"])
            #expect(mapping["user_id"] == "u")
            try await board.process.terminate(within: Timings.limit(.seconds(1)))
            for text in [try readFile(board.journal.path), board.process.standardError] {
                #expect(!text.contains("planted-secret") && !text.contains("password"))
            }
        }
    }

    @Test("without a network there is no cloud; without a broker the node keeps trying and can still be ended")
    func noBroker() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node1"], in: folder)
            let board = try await SimulatedBoard.start(
                [
                    "--http", "127.0.0.1:0", "--security", "0", "--wifi", "Net:password", "--join-delay", "0",
                    "--log-level", "warning",
                ] + cloud.boardOptions(node: "node1"), in: folder)
            try await cloud.process.terminate()
            try await provision(try #require(board.http), mapping: false)
            for _ in 0..<3 { #expect(try await board.process.errorLine()?.contains("trying again") == true) }
            #expect(try board.journal.entries(where: ["event": "publish"]).isEmpty)
            #expect(try await board.process.terminate(within: Timings.limit(.seconds(1))) == .exited(0))
        }
    }
}
