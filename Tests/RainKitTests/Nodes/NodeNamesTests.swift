// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON
import RainKitTesting
import Testing

@testable import RainKit
@testable import RainMaker

@Suite("Names, tags, metadata, groups and sharing of nodes")
struct NodeNamesTests {
    private static let group = "/v1/user/node_group?group_id=g1&node_list=true&sub_groups=true"

    @Test("names out of bounds are refused, and nothing is asked", arguments: ["", "  ", "a\nb"])
    func bounds(name: String) async throws {
        let client = try SignedInClient()
        let (kit, node) = (client.kit, try SignedInClient.light())
        #expect(await kitError { try await kit.rename(node, to: name) }?.code == .usage)
        #expect(await kitError { try await kit.rename(node, to: String(repeating: "x", count: 65)) }?.code == .usage)
        #expect(client.http.requests.isEmpty)
    }

    @Test("a node without a name parameter keeps the name of its firmware")
    func withoutName() async throws {
        let client = try SignedInClient()
        let node = try #require(
            Node(["id": "n1", "config": ["devices": [["name": "Light", "params": [["name": "Power"]]]]]]))
        let kit = client.kit
        #expect(await kitError { try await kit.rename(node, to: "Lamp") }?.reason == "no_name_parameter")
        #expect(client.http.requests.isEmpty)
    }

    @Test("a tag or a member that does not exist is not removed, and neither are the others")
    func notes() async throws {
        let client = try SignedInClient()
        let (kit, node) = (client.kit, try #require(Node(["id": "n1", "tags": ["a:b"], "metadata": ["shelf": 3]])))
        #expect(await kitError { try await kit.removeTags(["a:b", "c:d"], from: node) }?.reason == "no_such_tag")
        let members: JSONValue = ["row": 1, "nothere": .null]
        #expect(await kitError { try await kit.changeMetadata(members, of: node) }?.reason == "no_such_key")
        let added = try await kit.addTags(["a:b"], to: node)
        #expect(added.added.isEmpty && added.already == ["a:b"] && client.http.requests.isEmpty)
    }

    @Test("a node that is in the group, and not in the account any more, is taken out by its id")
    func group() async throws {
        let client = try SignedInClient()
        let (kit, group) = (
            client.kit, try #require(NodeGroup(["group_id": "g1", "group_name": "Home", "nodes": ["n1", "gone"]]))
        )
        client.http.expect(
            .get, Self.group, #"{"groups":[{"group_id":"g1","group_name":"Home","nodes":["n1","gone"]}]}"#)
        client.http.expect(.put, "/v1/user/node_group?group_id=g1", SignedInClient.done)
        #expect(try await kit.removeNodes(listed: "gone,n1,gone", from: group) == [NodeID("gone"), NodeID("n1")])
        #expect(client.bodies.last?["nodes"] == ["gone", "n1"])
        try client.http.finish()
    }

    @Test("a user who keeps a group by one around it does not lose it silently")
    func stillShared() async throws {
        let client = try SignedInClient()
        let friend = "friend@example.com"
        client.http.expect(
            .delete, "/v1/user/node_group/sharing?groups=g2&user_name=friend%40example.com", SignedInClient.done)
        client.http.expect(
            .get, "/v1/user/node_group?sub_groups=true",
            #"{"groups":[{"group_id":"g1","group_name":"Home","sub_groups":[{"group_id":"g2","group_name":"Hall"}]}]}"#)
        client.http.expect(
            .get, "/v1/user/node_group/sharing?group_id=g1",
            #"{"group_sharing":[{"group_id":"g1","users":{"primary":["a@x"],"secondary":["\#(friend)"]}}]}"#)
        let kit = client.kit
        let error = await kitError { try await kit.stopSharing(.groups, ["g2"], with: friend) }
        #expect(error?.reason == "still_shared" && error?.code == .other && error?.remedies == [.sharedGroups])
        try client.http.finish()
    }

    @Test("a group cannot be within itself, or within one of its own subgroups")
    func parents() async throws {
        let client = try SignedInClient()
        let group = try #require(
            NodeGroup([
                "group_id": "g1", "group_name": "Home",
                "sub_groups": [
                    ["group_id": "g2", "group_name": "Hall", "sub_groups": [["group_id": "g3", "group_name": "Desk"]]]
                ],
            ]))
        let kit = client.kit
        for parent in ["g1", "g2", "g3"] {
            let error = await kitError { try await kit.changeGroup(group, NodeGroupChange(parent: parent)) }
            #expect(error?.code == .usage && error?.message.contains("\"Home\" cannot be within") == true, "\(parent)")
        }
        #expect(client.http.requests.isEmpty)
    }
}
