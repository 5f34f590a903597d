// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

/// What Espressif's description of the interface says, and a guess would have otherwise: each statement once.
@Suite("The cloud as it is described")
struct DescriptionTests {
    /// Of the signed-in user the node `own`, which has reported nothing; `foreign` is nobody's.
    private struct Scene {
        let cloud: TestCloud
        let token: String

        init() throws {
            cloud = try TestCloud(nodes: ["own", "foreign"])
            token = try cloud.signIn().access
            try cloud.map("own", token: token)
        }

        func send(_ method: String, _ target: String, _ body: JSONValue? = nil) -> Response {
            cloud.send(method, "/v1/\(target)", body, token: token)
        }
    }

    @Test(
        "refusals have their number and their status",
        arguments: [
            ("POST", "login2", #"{"user_name":"nonsense","password":"x"}"#, 400, 101002),
            ("POST", "login2", #"{"user_name":"+49 1","password":"x"}"#, 400, 101037),
            ("POST", "login2", #"{"user_name":"nonsense"}"#, 400, 101002),
            ("GET", "user/nodes/config?node_id=own", nil, 400, 103002),
            ("GET", "user/nodes/params?node_id=own", nil, 400, 102006),
            ("GET", "user/nodes/status?node_id=foreign", nil, 400, 103020),
            ("GET", "user/nodes/config?node_id=absent", nil, 400, 100015),
            ("GET", "user/nodes/params?node_id=absent", nil, 400, 100015),
            ("GET", "user/nodes/status?node_id=absent", nil, 400, 100015),
            ("PUT", "user/nodes/params?node_id=absent", "{}", 400, 100015),
            ("GET", "user/nodes?node_id=absent", nil, 404, 100015),
            ("DELETE", "user/nodes/foreign", nil, 400, 103055), ("DELETE", "user/nodes/absent", nil, 400, 103055),
            ("DELETE", "user2?verification_code=000000", nil, 400, 119015),
            ("POST", "user/guest/conversion/initiate", #"{"user_name":"a@b.cd"}"#, 401, 100004),
            ("PUT", "user2", #"{"operation":"add","tags":["x"]}"#, 400, 101067),
            ("GET", "user/nodes?tags=x", nil, 400, 105046),
        ] as [(String, String, String?, Int, Int64)])
    func refusal(method: String, path: String, body: String?, status: Int, code: Int64) throws {
        let scene = try Scene()
        let reply = scene.cloud.send(method, "/v1/\(path)", text: body ?? "", token: scene.token)
        #expect(reply.status == status && reply.errorCode == code, "\(reply)")
    }

    @Test("who has a node from somebody else cannot delete it")
    func notPrimary() throws {
        let scene = try Scene()
        let other = "other@example.com"
        try scene.cloud.api.addUser(name: other, password: TestCloud.password)
        let token = try scene.cloud.signIn(other).access
        try scene.cloud.map("own", token: token)
        #expect(scene.cloud.send("DELETE", "/v1/user/nodes/own", token: token).errorCode == 107085)
        #expect(scene.send("DELETE", "user/nodes/own").status == 200)
    }

    @Test(
        "what is not served is not found, below a path that takes ids, too",
        arguments: [
            ("GET", "user/nodes/history"), ("GET", "user/nodes/time_series"), ("GET", "user/nodes/proxy"),
        ])
    func unserved(method: String, path: String) throws {
        #expect(try Scene().send(method, path).status == 404)
    }

    @Test("custom data merges, member by member, and the answer is what there is then")
    func customData() throws {
        let scene = try Scene()
        let set = { (body: JSONValue) in scene.send("PUT", "user/custom_data", body) }
        _ = set(["home": ["value": ["rooms": ["a": 1, "b": [1, 2]], "name": "x"], "perms": [["read": ["u"]]]]])
        let reply = set(["home": ["value": ["rooms": ["b": [3], "c": true], "name": .null]], "n": ["value": 7]])
        let expected: JSONValue = [
            "home": ["value": ["rooms": ["a": 1, "b": [3], "c": true]], "perms": [["read": ["u"]]]], "n": ["value": 7],
        ]
        #expect(reply.status == 200 && reply.body == expected, "\(reply)")
        #expect(scene.send("GET", "user/custom_data").body == expected)
        #expect(set(["home": ["value": "flat"]]).body["home"]?["value"] == "flat")
        #expect(set(["home": .null, "n": ["value": .null]]).body == ["n": [:]])
    }

    @Test("more than 399 KB of custom data are refused by number, and change nothing")
    func customDataBound() throws {
        let scene = try Scene()
        let long = JSONValue.string(String(repeating: "x", count: 250 << 10))
        #expect(scene.send("PUT", "user/custom_data", ["a": ["value": long]]).status == 200)
        #expect(scene.send("PUT", "user/custom_data", ["b": ["value": long]]).errorCode == 100036)
        #expect(scene.send("GET", "user/custom_data").body["b"] == nil)
    }

    @Test("of the user's place a node gets tags when it is mapped without any")
    func placeTags() throws {
        let scene = try Scene()
        let place: JSONValue = ["esp.location": ["value": ["espCity": "Pune", "other": "x", "espZip": 1]]]
        #expect(scene.send("PUT", "user/custom_data", place).status == 200)
        try scene.cloud.map("own", token: scene.token)
        let details = scene.send("GET", "user/nodes?node_details=true").body["node_details"]
        #expect(details?.array?.first?["tags"] == ["espCity:Pune"])
    }

    @Test("metadata of a mapping is kept and shown with the node, and must be an object")
    func metadata() throws {
        let scene = try Scene()
        func map(_ metadata: JSONValue) -> Response {
            let body: JSONValue = [
                "node_id": "own", "secret_key": "s", "operation": "add", "tags": ["room:hall"], "metadata": metadata,
            ]
            return scene.send("PUT", "user/nodes/mapping", body)
        }
        #expect(map(["serial": 7, "x": ["y": [1]]]).status == 200)
        #expect(map(7).errorCode == 100006)
        let node = scene.send("GET", "user/nodes?node_id=own&node_details=true").body["node_details"]?.array?.first
        #expect(node?["metadata"] == ["serial": 7, "x": ["y": [1]]])
        #expect(node?["tags"] == ["room:hall"])
    }

    @Test("nodes are filtered by tags, any of which is enough")
    func tags() throws {
        let cloud = try TestCloud(nodes: ["n1", "n2", "n3"])
        let token = try cloud.signIn().access
        for (node, tags) in [("n1", ["room:hall"]), ("n2", ["room:attic", "kind:lamp"]), ("n3", [])] {
            try cloud.map(node, token: token)
            let body: JSONValue = [
                "node_id": .string(node), "secret_key": "s", "operation": "add",
                "tags": .array(tags.map { .string($0) }),
            ]
            #expect(cloud.send("PUT", "/v1/user/nodes/mapping", body, token: token).status == 200)
        }
        for (filter, nodes) in [
            ("room:hall", ["n1"]), ("room:hall%20OR%20kind:lamp", ["n1", "n2"]), ("room:cellar", []),
            ("room:hall+OR+room:cellar", ["n1"]),
        ] as [(String, [String])] {
            let reply = cloud.send("GET", "/v1/user/nodes?tags=\(filter)", token: token).body
            #expect(reply["nodes"] == .array(nodes.map { .string($0) }), "\(filter)")
            #expect(reply["total"] == .integer(Int64(nodes.count)))
        }
    }

    @Test("the host for nodes' credentials is given beside the broker")
    func credentialHost() throws {
        let hosts = try TestCloud().send("GET", "/mqtt_host").body
        #expect(hosts["mqtt_host"]?.string != nil && hosts["mqtt_cred_host"]?.string?.isEmpty == false)
    }

    @Test("a guest's profile has admin_tags, and nobody else's")
    func guest() throws {
        let cloud = try TestCloud()
        let token = cloud.send("POST", "/v1/user/guest").body["accesstoken"]?.string
        #expect(cloud.send("GET", "/v1/user2", token: token).body["admin_tags"]?.array != nil)
        #expect(try Scene().send("GET", "user2").body["admin_tags"] == nil)
    }
}
