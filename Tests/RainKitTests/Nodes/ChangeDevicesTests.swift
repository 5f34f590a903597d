// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import RainKitTesting
import RainMaker
import TestSupport
import Testing

@testable import RainKit

@Suite("Switching devices without the names of their parameters")
struct ChangeDevicesTests {
    private static let list = "/v1/user/nodes?node_details=true"
    private static let put = "/v1/user/nodes/params?node_id=n-a"

    /// A strip with two outlets and a thermometer, and a fan without a switch.
    private static let nodes = #"""
        {"nodes":[],"node_details":[
        {"id":"n-a","status":{"connectivity":{"connected":true}},"config":{"info":{"name":"Strip"},"devices":[
        {"name":"Room","primary":"Heat","params":[{"name":"Heat","data_type":"float","properties":["read"]}]},
        {"name":"Left","primary":"On","params":[{"name":"On","type":"esp.param.power","data_type":"bool"}]},
        {"name":"Right","primary":"Level","params":[{"name":"On","type":"esp.param.power","data_type":"bool"},
        {"name":"Level","data_type":"int","bounds":{"min":0,"max":10}}]}]},
        "params":{"Left":{"On":true}}},
        {"id":"n-b","config":{"info":{"name":"Hall/Fan"},"devices":[
        {"name":"Fan","params":[{"name":"Speed","data_type":"int"}]}]}}],"next_id":""}
        """#

    /// Returns the body that is sent for a change, or the error.
    private func body(_ names: [String], _ change: DeviceChange) async throws -> Result<JSONValue?, RainKitError> {
        let client = try SignedInClient()
        client.http.expect(.get, Self.list, Self.nodes)
        client.http.expect(.put, Self.put, SignedInClient.done)
        let kit = client.kit
        do {
            _ = try await kit.change(change, at: names, waiting: nil)
            return .success(client.bodies.last)
        } catch {
            return .failure(RainKitError(wrapping: error))
        }
    }

    @Test(
        "the first device that fits is changed, or the named one",
        arguments: [
            (["strip"], DeviceChange.power(false), #"{"Left":{"On":false}}"#),
            (["Strip/Right"], .power(true), #"{"Right":{"On":true}}"#),
            (["Strip/right", "Strip/Left"], .power(true), #"{"Right":{"On":true},"Left":{"On":true}}"#),
            (["Strip,Strip/Left"], .power(true), #"{"Left":{"On":true}}"#),
            (["Strip"], .toggle, #"{"Left":{"On":false}}"#),
            (["Strip"], .primaryText("off"), #"{"Left":{"On":false}}"#),
            (["Strip/Right"], .primary(7), #"{"Right":{"Level":7}}"#),
        ])
    func change(names: [String], change: DeviceChange, body: String) async throws {
        let sent = try await self.body(names, change).get()
        #expect(sent == (try JSONValue(parsing: Array(body.utf8))))
    }

    @Test(
        "a change that does not fit is refused before anything is sent",
        arguments: [
            (["Hall/Fan"], DeviceChange.power(true), "no_such_parameter", "has no switch"),
            (["Hall/Fan/Fan"], .primary(1), "no_such_parameter", "no primary parameter"),
            (["Strip/Middle"], .power(true), "no_such_component", "Room, Left, Right"),
            (["Strip/Right"], .toggle, "no_such_parameter", "not been reported"),
            (["Strip/Right"], .primary(11), "out_of_bounds", "0 to 10"),
            (["Strip/Room"], .primary(20), "read_only", "Room.Heat"),
        ])
    func refused(names: [String], change: DeviceChange, reason: String, words: String) async throws {
        guard case .failure(let error) = try await body(names, change) else {
            Issue.record("something was sent")
            return
        }
        #expect(error.reason == reason && error.message.contains(words), "\(error.message)")
    }

    @Test("names that several boards have are listed with their ids, and one can be renamed")
    func clash() async throws {
        let client = try SignedInClient()
        client.http.expect(.get, Self.list, Self.nodes.replacing("Hall/Fan", with: "strip"))
        let kit = client.kit
        let error = await kitError { try await kit.setPower(true, of: ["Strip"]) }
        #expect(error?.reason == "several_nodes" && error?.message.contains("n-a or n-b") == true)
        #expect(error?.remedies == [.otherNodeName(node: "n-a")])
    }

    @Test("a text means a node first, then a node and its device")
    func meanings() {
        #expect(DeviceName.meanings(of: "Lamp") == [DeviceName(node: "Lamp")])
        #expect(
            DeviceName.meanings(of: "a/b/c") == [
                DeviceName(node: "a/b/c"), DeviceName(node: "a/b", device: "c"), DeviceName(node: "a", device: "b/c"),
            ])
        #expect(DeviceName.meanings(of: "/b/") == [DeviceName(node: "/b/")])
    }

    @Test("names of nodes are kept for each account, renamed, and forgotten with it")
    func remembered() async throws {
        try await withTemporaryFolder { folder in
            let file = NodeNameFile(state: folder.file("state"))
            #expect(file.nodes(of: "me", at: "sim").isEmpty)
            let lamp = RememberedNode(id: NodeID("n1"), name: "Lamp")
            try file.change([lamp], of: "me", at: "sim")
            try file.change([RememberedNode(id: NodeID("n2"), name: nil)], of: "you", at: "sim")
            #expect(file.nodes(of: "me", at: "sim") == [lamp])
            #expect(file.nodes(of: "me", at: "other").isEmpty)
            try file.change(nil, of: "me", at: "sim")
            #expect(file.nodes(of: "me", at: "sim").isEmpty && file.nodes(of: "you", at: "sim").count == 1)
            let many = (0..<600).map { RememberedNode(id: NodeID("n\($0)"), name: nil) }
            try file.change(many, of: "me", at: "sim")
            #expect(file.nodes(of: "me", at: "sim").count == NodeNameFile.maximumNodes)
        }
    }
}
