// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCryptoOpenSSL
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct PersistenceTests {
    @Test("accounts, sessions, nodes and mappings are there after a restart")
    func restart() throws {
        let folder = try TemporaryFolder()
        let first = try TestCloud(folder: folder, nodes: ["node1"])
        let session = try first.signIn()
        let profile = first.send("GET", "/v1/user2", token: session.access).body
        try first.map("node1", token: session.access)
        first.api.receive(topic: "node/node1/config", payload: Array(#"{"node_id":"node1","info":{"name":"L"}}"#.utf8))
        let certificate = try readFile(first.api.nodeFiles[0].certificate)
        let pending = first.send(
            "PUT", "/v1/user/nodes/mapping", ["node_id": "node2", "secret_key": "s", "operation": "add"],
            token: session.access)

        let second = try TestCloud(folder: folder)
        #expect(second.send("GET", "/v1/user2", token: session.access).body == profile, "the token key is the same")
        #expect(second.send("POST", "/v1/login2", ["refreshtoken": .string(session.refresh)]).status == 200)
        #expect(second.send("GET", "/v1/user/nodes", token: session.access).body["nodes"] == ["node1"])
        let config = second.send("GET", "/v1/user/nodes/config?node_id=node1", token: session.access).body
        #expect(config["info"]?["name"] == "L")
        #expect(try readFile(second.api.nodeFiles[0].certificate) == certificate)
        try second.api.addNode(NodeSpecification("node1")!)
        #expect(try readFile(second.api.nodeFiles[0].certificate) == certificate, "asking for it again changes nothing")

        // What was under way goes on: the other half of a mapping comes after the restart.
        try second.api.addNode(NodeSpecification("node2")!)
        second.report("node2", user: profile["user_id"]?.string ?? "", secret: "s")
        let id = pending.body["request_id"]?.string ?? ""
        let status = second.send("GET", "/v1/user/nodes/mapping?request_id=\(id)", token: session.access).body
        #expect(status["request_status"] == "confirmed")
    }

    @Test("a changed password counts after a restart, a node gets another key when its kind changes")
    func changes() throws {
        let folder = try TemporaryFolder()
        let first = try TestCloud(folder: folder, nodes: ["node1"])
        try first.api.addUser(name: TestCloud.user, password: "Another1")
        #expect(throws: SimulatorError.self) { try first.signIn() }
        _ = try first.signIn(TestCloud.user, "Another1")
        try first.api.addNode(NodeSpecification("node1:rsa")!)
        #expect(try PrivateKey(pem: Array(try readFile(first.api.nodeFiles[0].key).utf8)).isElliptic == false)
    }

    @Test("only the owner can read what is kept, and no password or token is in it in clear")
    func secrecy() throws {
        let folder = try TemporaryFolder()
        let cloud = try TestCloud(folder: folder, nodes: ["node1"])
        let session = try cloud.signIn()
        try cloud.map("node1", token: session.access)
        for name in ["state.json", "ca.key", "token.key", "nodes/node1.key", "nodes/node1.crt"] {
            var status = stat()
            #expect(stat(folder.file("data/\(name)"), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600, "\(name)")
        }
        let text = try folder.read("data/state.json")
        for secret in [TestCloud.password, session.access, session.refresh, "s-node1"] {
            #expect(!text.contains(secret))
        }
    }

    @Test(
        "a state of another format is an error that explains it", arguments: ["", "{", "[]", "{\"users\":7}", "<html>"])
    func foreignState(text: String) throws {
        let folder = try TemporaryFolder()
        _ = try TestCloud(folder: folder)
        try folder.write(text, to: "data/state.json")
        #expect {
            try TestCloud(folder: folder)
        } throws: { error in
            (error as? SimulatorError)?.code == .storage
        }
    }

    @Test(
        "a node's id is a plain word",
        arguments: ["", "a/b", "a+", "#", "..", "a b", "ä", "a:b", "a:rsa:x", String(repeating: "n", count: 65)])
    func nodeIDs(text: String) { #expect(NodeSpecification(text) == nil) }
}
