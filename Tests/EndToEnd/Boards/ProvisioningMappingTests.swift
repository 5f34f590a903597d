// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl provision: mappings that the cloud refuses")
struct ProvisioningMappingTests {
    @Test("a board that reports another user and secret is not the user's: 13, and nothing is kept")
    func otherSecret() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-other"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            // It stays offline, and somebody else reports in its name.
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--node-id", "node-other"], in: folder)
            let child = try await maker.start(
                ["provision"] + Maker.way(to: board) + [
                    "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    folder.file("wifi"), "--json",
                ])
            defer { child.kill() }
            _ = try await cloud.journal.entry(where: ["event": "mapping", "state": "requested", "node": "node-other"])
            try await report(
                ["node_id": "node-other", "user_id": "another-user", "secret_key": "another-secret"], of: "node-other",
                to: cloud)
            #expect(try await child.wait() == .exited(13), "\(child.standardOutput)")
            let error = try JSONValue(parsing: Array(child.standardOutput.utf8))["error"]
            #expect(error?["code"] == "mapping_failed")
            #expect(error?["step"] == "confirm")
            #expect(error?["message"]?.string?.contains("another user or secret") == true, "\(child.standardOutput)")
            #expect(
                error?["message"]?.string?.contains("Provision the board again.") == true, "\(child.standardOutput)")
            #expect(SecretHunt.mode(of: folder.file("state/rainkit/pending-sim.json")) == nil)
        }
    }

    @Test("a board whose signature is another node's is refused: 13")
    func otherSignature() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-signing", "node-stranger"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            var options = try cloud.boardOptions(node: "node-stranger")
            options[1] = "node-signing"
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--mapping", "ch-resp"] + options, in: folder)
            let outcome = try await maker.provision(board, ["--json"])
            outcome.expectFailure(13, "mapping_failed", says: "was claimed for this deployment")
            #expect(outcome.failure?["step"] == "verify")
        }
    }

    /// What a node publishes after it received its user.
    private func report(_ message: JSONValue, of node: String, to cloud: SimulatedCloud) async throws {
        let options = try cloud.boardOptions(node: node)
        let value = { (name: String) in options[options.firstIndex(of: name)! + 1] }
        let address = cloud.mqtt.split(separator: ":").map(String.init)
        let published = try await run(
            "mosquitto_pub",
            [
                "-h", address[0], "-p", address[1], "--cafile", value("--ca"), "--cert", value("--cert"), "--key",
                value("--key"), "-t", "node/\(node)/user/mapping", "-q", "1", "-s",
            ], input: .text(String(decoding: message.serialized(), as: UTF8.self)))
        try #require(published.status == .exited(0), "\(published.standardError)")
    }
}
