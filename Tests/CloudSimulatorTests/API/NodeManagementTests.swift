// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

/// Tags, sharing, groups, automations, commands and images, as the description has them: members, and what is refused.
@Suite("The cloud's calls for nodes in an account")
struct NodeManagementTests {
    private static let friend = "friend@example.com"

    private struct Scene {
        let cloud: TestCloud
        let token: String
        let other: String

        init() throws {
            cloud = try TestCloud(nodes: ["own", "second", "foreign"])
            token = try cloud.signIn().access
            try cloud.map("own", token: token)
            try cloud.map("second", token: token)
            try cloud.api.addUser(name: friend, password: TestCloud.password)
            other = try cloud.signIn(friend).access
        }

        func send(_ method: String, _ target: String, _ body: JSONValue? = nil) -> Response {
            cloud.send(method, "/v1/\(target)", body, token: token)
        }
        func asFriend(_ method: String, _ target: String, _ body: JSONValue? = nil) -> Response {
            cloud.send(method, "/v1/\(target)", body, token: other)
        }
        func details(_ node: String) -> JSONValue? {
            send("GET", "user/nodes?node_details=true&node_id=\(node)").body["node_details"]?.array?.first
        }
    }

    @Test("tags are added once each and taken away, metadata is merged")
    func notes() throws {
        let scene = try Scene()
        #expect(scene.send("PUT", "user/nodes?node_id=own", ["tags": ["a:b", "c:d"]]).status == 200)
        #expect(
            scene.send("PUT", "user/nodes?node_id=own", ["tags": ["a:b"], "metadata": ["x": ["y": 1, "z": 2]]]).status
                == 200)
        _ = scene.send("PUT", "user/nodes?node_id=own", ["metadata": ["x": ["y": .null], "w": 3]])
        #expect(scene.details("own")?["tags"] == ["a:b", "c:d"])
        #expect(scene.details("own")?["metadata"] == ["x": ["z": 2], "w": 3])
        #expect(scene.send("DELETE", "user/nodes?node_id=own", ["tags": ["a:b", "no:ne"]]).status == 200)
        #expect(scene.details("own")?["tags"] == ["c:d"])
        _ = scene.send("PUT", "user/nodes?node_id=own", ["metadata": .null])
        #expect(scene.details("own")?["metadata"] == nil)
    }

    @Test("a request goes by its status, and only the one who is asked may answer")
    func sharing() throws {
        let scene = try Scene()
        let ask = { scene.send("PUT", "user/nodes/sharing", ["nodes": ["own"], "user_name": .string(Self.friend)]) }
        let id = try #require(ask().body["request_id"]?.string)
        #expect(
            scene.send("PUT", "user/nodes/sharing/requests", ["accept": true, "request_id": .string(id)]).status == 400)
        let list = scene.asFriend("GET", "user/nodes/sharing/requests?primary_user=false").body["sharing_requests"]
        #expect(list?.array?.first?["node_ids"] == ["own"])
        #expect(list?.array?.first?["request_timestamp"]?.integer == 1_700_000_000, "seconds")
        #expect(
            scene.asFriend("PUT", "user/nodes/sharing/requests", ["accept": true, "request_id": .string(id)]).status
                == 200)
        #expect(
            scene.asFriend("PUT", "user/nodes/sharing/requests", ["accept": true, "request_id": .string(id)]).status
                == 400)
        #expect(scene.asFriend("GET", "user/nodes").body["nodes"] == ["own"])
        let users = scene.send("GET", "user/nodes/sharing?node_id=own").body["node_sharing"]?.array?.first?["users"]
        #expect(users == ["primary": [.string(TestCloud.user)], "secondary": [.string(Self.friend)]])
        #expect(scene.asFriend("DELETE", "user/nodes/own").errorCode == 107085)
        #expect(scene.send("DELETE", "user/nodes/sharing?nodes=own&user_name=\(Self.friend)").status == 200)
        #expect(scene.asFriend("GET", "user/nodes").body["nodes"] == [])
        // Nobody answers a request after seven days.
        let late = try #require(ask().body["request_id"]?.string)
        scene.cloud.pass(.seconds(7 * 86_400))
        let token = try scene.cloud.signIn(Self.friend).access
        #expect(
            scene.cloud.send(
                "PUT", "/v1/user/nodes/sharing/requests", ["accept": true, "request_id": .string(late)], token: token
            ).status == 400)
    }

    @Test("with two primary users the node stays when one leaves")
    func primaries() throws {
        let scene = try Scene()
        let reply = scene.send(
            "PUT", "user/nodes/sharing", ["nodes": ["own"], "user_name": .string(Self.friend), "primary": true])
        let id = try #require(reply.body["request_id"])
        #expect(scene.asFriend("PUT", "user/nodes/sharing/requests", ["accept": true, "request_id": id]).status == 200)
        #expect(scene.send("PUT", "user/nodes/mapping", ["node_id": "own", "operation": "remove"]).status == 200)
        #expect(scene.asFriend("GET", "user/nodes").body["nodes"] == ["own"])
        let detail = scene.asFriend("GET", "user/nodes?node_details=true").body["node_details"]?.array?.first
        #expect(detail?["role"] == "primary")
    }

    @Test("a group that is shared from within another is a root to who does not see the other")
    func sharedSubgroup() throws {
        let scene = try Scene()
        let group = { (name: String, more: [JSONValue.Member]) throws -> String in
            let made = scene.send("POST", "user/node_group", .object([.init("group_name", .string(name))] + more))
            return try #require(made.body["group_id"]?.string)
        }
        let home = try group("Home", [])
        let kitchen = try group("Kitchen", [.init("parent_group_id", .string(home))])
        let asked = scene.send(
            "PUT", "user/node_group/sharing", ["groups": [.string(kitchen)], "user_name": .string(Self.friend)])
        let id = try #require(asked.body["request_id"])
        let answer = scene.asFriend("PUT", "user/node_group/sharing/requests", ["accept": true, "request_id": id])
        #expect(answer.status == 200)
        let ids = { (reply: Response, list: String) in reply.body[list]?.array?.map { $0["group_id"]?.string } }
        #expect(ids(scene.asFriend("GET", "user/node_group?sub_groups=true"), "groups") == [kitchen])
        #expect(ids(scene.asFriend("GET", "user/node_group/sharing"), "group_sharing") == [kitchen])
        // Its owner has it within the other, and hears of it where those within are asked for.
        #expect(ids(scene.send("GET", "user/node_group"), "groups") == [home])
        #expect(ids(scene.send("GET", "user/node_group/sharing"), "group_sharing") == [home])
        let all = scene.send("GET", "user/node_group/sharing?sub_groups=true").body["group_sharing"]?.array?.first
        let within = all?["sub_groups"]?.array?.first
        #expect(within?["group_id"]?.string == kitchen)
        #expect(within?["users"]?["secondary"] == [.string(Self.friend)])
    }

    @Test(
        "a node that leaves the account is in none of its groups any more",
        arguments: [
            ("PUT", "user/nodes/mapping", ["node_id": "own", "operation": "remove"]), ("DELETE", "user/nodes/own", nil),
        ] as [(String, String, JSONValue?)])
    func leavesGroups(method: String, target: String, body: JSONValue?) throws {
        let scene = try Scene()
        let made = scene.send("POST", "user/node_group", ["group_name": "Home", "nodes": ["own", "second"]])
        let id = try #require(made.body["group_id"]?.string)
        #expect(scene.send(method, target, body).status == 200)
        let group = scene.send("GET", "user/node_group?group_id=\(id)&node_list=true").body["groups"]?.array?.first
        #expect(group?["nodes"] == ["second"], "\(String(describing: group))")
    }

    @Test("a node that was reset and mapped to another user is in none of the first user's groups any more")
    func taken() throws {
        let scene = try Scene()
        let made = scene.send("POST", "user/node_group", ["group_name": "Home", "nodes": ["own", "second"]])
        let id = try #require(made.body["group_id"]?.string)
        try scene.cloud.map("own", token: scene.other, isReset: true)
        let group = scene.send("GET", "user/node_group?group_id=\(id)&node_list=true").body["groups"]?.array?.first
        #expect(group?["nodes"] == ["second"], "\(String(describing: group))")
    }

    @Test("requests come ten at a time")
    func pages() throws {
        let scene = try Scene()
        for _ in 0..<23 {
            _ = scene.send("PUT", "user/nodes/sharing", ["nodes": ["own"], "user_name": .string(Self.friend)])
        }
        var (start, sizes): (String?, [Int]) = (nil, [])
        repeat {
            let query = start.map { "&start_request_id=\($0)" } ?? ""
            let page = scene.send("GET", "user/nodes/sharing/requests?primary_user=true\(query)").body
            sizes.append(page["sharing_requests"]?.array?.count ?? 0)
            start = page["next_request_id"]?.string
        } while start != nil && sizes.count < 10
        #expect(sizes == [10, 10, 3])
    }

    @Test("an image is kept, served under its address, and has a largest size")
    func images() throws {
        let scene = try Scene()
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let kept = scene.send(
            "POST", "user/otaimage", ["image_name": "a.bin", "base64_fwimage": .string(Base64.text(bytes))])
        let url = try #require(kept.body["image_url"]?.string)
        let path = try #require(url.split(separator: "/otaimages/").last)
        let served = scene.cloud.send("GET", "/otaimages/\(path)", nil)
        #expect(served.content == .data(bytes, type: "application/octet-stream"))
        // Base64 of one byte too many, or of up to three.
        let large = String(repeating: Base64.text([1, 1, 1]), count: CloudAPI.maximumImage / 3 + 1)
        let refused = scene.send("POST", "user/otaimage", ["image_name": "a", "base64_fwimage": .string(large)])
        #expect(refused.status == 400)
        #expect(scene.cloud.send("GET", "/otaimages/none", nil).status == 404)
    }

    @Test("commands are answered once, by the node that was asked, and time out")
    func commands() throws {
        let scene = try Scene()
        let sent = scene.send(
            "POST", "user/nodes/cmd", ["node_ids": ["own", "foreign"], "cmd": 7, "data": ["a": 1], "timeout": 5])
        #expect(sent.status == 207)
        #expect(sent.body["responses"]?.array?.map { $0["status"] } == ["success", "failure"])
        let id = try #require(sent.body["request_id"]?.string)
        var answer = CommandMessage()
        (answer.requestID, answer.status, answer.command, answer.data) = (id, 0, 7, Array("{}".utf8))
        let state = {
            scene.send("GET", "user/nodes/cmd?request_id=\(id)").body["requests"]?.array?.first?["status"]
        }
        scene.cloud.api.receive(topic: "$aws/rules/esp_cmd_resp/node/second/from-node", payload: answer.bytes)
        #expect(state() == "requested")
        scene.cloud.api.receive(topic: "$aws/rules/esp_cmd_resp/node/own/from-node", payload: answer.bytes)
        #expect(state() == "success")
        let late = scene.send("POST", "user/nodes/cmd", ["node_ids": ["own"], "cmd": "7", "timeout": 5])
        scene.cloud.pass(.seconds(5))
        let lateID = try #require(late.body["request_id"]?.string)
        let end = scene.send("GET", "user/nodes/cmd?request_id=\(lateID)").body["requests"]?.array?.first?["status"]
        #expect(end == "timed_out")
        #expect(scene.asFriend("GET", "user/nodes/cmd?request_id=\(id)").status == 400)
    }

    @Test(
        "a command's message is read as it was written, and nothing else is",
        arguments: [0, 1, 254, 255, 256, 510, 2000])
    func message(size: Int) throws {
        var message = CommandMessage()
        (message.requestID, message.role, message.command) = ("request", .primary, 0xABCD)
        message.data = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        let bytes = message.bytes
        #expect(CommandMessage(bytes) == message)
        // Each truncation ends within an element, or has less data: never more, and never a crash.
        for length in 0..<bytes.count {
            #expect(CommandMessage(Array(bytes.prefix(length))).map { $0.data.count <= size } ?? true)
        }
    }

    @Test(
        "what is refused, and how",
        arguments: [
            ("PUT", "user/nodes?node_id=own", #"{"tags":["x"]}"#, 400, 105046),
            ("PUT", "user/nodes?node_id=own", #"{}"#, 400, 100006),
            ("PUT", "user/nodes?node_id=own", #"{"metadata":7}"#, 400, 100006),
            ("PUT", "user/nodes?node_id=foreign", #"{"tags":["a:b"]}"#, 400, 100010),
            ("PUT", "user/nodes", #"{"tags":["a:b"]}"#, 400, 100009),
            ("PUT", "user/nodes/sharing", #"{"nodes":["own"]}"#, 400, 101001),
            ("PUT", "user/nodes/sharing", #"{"nodes":["own"],"user_name":"no@example.com"}"#, 404, 101025),
            ("PUT", "user/nodes/sharing", #"{"nodes":["foreign"],"user_name":"friend@example.com"}"#, 400, 100010),
            ("PUT", "user/nodes/sharing", #"{"nodes":["own"],"user_name":"dev@example.com"}"#, 400, 100012),
            (
                "PUT", "user/nodes/sharing", #"{"nodes":["own"],"user_name":"friend@example.com","sub_role":5}"#, 400,
                100006
            ),
            ("DELETE", "user/nodes/sharing?user_name=friend@example.com", #"{}"#, 400, 100009),
            ("DELETE", "user/nodes/sharing?nodes=own&user_name=friend@example.com", #"{}"#, 400, 103055),
            ("PUT", "user/nodes/sharing/requests", #"{"accept":true,"request_id":"none"}"#, 400, 100012),
            ("DELETE", "user/nodes/sharing/requests", #"{}"#, 400, 103016),
            ("POST", "user/node_group", #"{"group_name":"x"}"#, 400, 100012),
            ("POST", "user/node_group", #"{"group_name":"xy","nodes":["foreign"]}"#, 400, 100010),
            ("POST", "user/node_group", #"{"group_name":"xy","parent_group_id":"none"}"#, 404, 100012),
            ("PUT", "user/node_group?group_id=none", #"{"group_name":"xy"}"#, 404, 100012),
            ("DELETE", "user/node_group", #"{}"#, 400, 100012),
            ("POST", "user/node_automation", #"{"name":"x"}"#, 400, 100006),
            (
                "POST", "user/node_automation",
                #"{"name":"x","event_type":"node_params","events":[{}],"actions":[{"node_id":"own","params":{}}]}"#,
                400, 100009
            ),
            (
                "POST", "user/node_automation",
                #"{"name":"x","event_type":"node_params","node_id":"own","events":[{}],"actions":[{"node_id":"foreign","params":{}}]}"#,
                400, 100010
            ),
            ("PUT", "user/node_automation?automation_id=none", #"{"name":"x"}"#, 404, 100012),
            ("POST", "user/nodes/cmd", #"{"node_ids":["own"],"cmd":65536}"#, 400, 131001),
            ("POST", "user/nodes/cmd", #"{"node_ids":["own"],"cmd":7,"timeout":0}"#, 400, 131002),
            ("POST", "user/nodes/cmd", #"{"node_ids":["foreign"],"cmd":7}"#, 400, 100010),
            ("POST", "user/nodes/cmd", #"{"node_ids":[],"cmd":7}"#, 400, 100009),
            ("POST", "user/otaimage", #"{"image_name":"x"}"#, 400, 100006),
            ("POST", "user/otaimage", #"{"image_name":"x","base64_fwimage":"?"}"#, 400, 100006),
        ])
    func refused(method: String, target: String, body: String, status: Int, code: Int) throws {
        let reply = try Scene().send(method, target, try JSONValue(parsing: Array(body.utf8)))
        #expect(reply.status == status && reply.errorCode == Int64(code), "\(reply)")
    }
}
