// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct RoutingTests {
    @Test("the API lists its versions, and refuses another one with its own error")
    func versions() throws {
        let cloud = try TestCloud()
        #expect(cloud.send("GET", "/apiversions").body["supported_versions"] == ["v1"])
        for path in ["/v2/user", "/v10/login2", "/v0"] {
            let reply = cloud.send("GET", path)
            #expect(reply.status == 400 && reply.errorCode == 100002, "\(path)")
        }
    }

    @Test(
        "what is not there is not found",
        arguments: [
            "/", "/v1", "/v1/", "/v1/nope", "/user", "//v1/user", "/v1//user", "/v1/user/", "/V1/user",
            "/v1/user/nodes/a/b",
        ])
    func notFound(path: String) throws {
        #expect(try TestCloud().send("GET", path) == Response(status: 404, ["message": "Not Found"]))
    }

    @Test("another method on a path that is there is refused by code")
    func methods() throws {
        for (method, path) in [
            ("GET", "/v1/login2"), ("PATCH", "/v1/user2"), ("PATCH", "/apiversions"), ("get", "/mqtt_host"),
        ] {
            let reply = try TestCloud().send(method, path)
            #expect(reply.status == 400 && reply.errorCode == 100003, "\(method) \(path)")
        }
    }

    @Test("the journal names what was asked and answered, and no secret")
    func journal() throws {
        let cloud = try TestCloud(nodes: ["node1"])
        let session = try cloud.signIn()
        _ = cloud.send("POST", "/v1/login2", ["user_name": .string(TestCloud.user), "password": "planted-wrong"])
        _ = cloud.send("POST", "/v1/login2", ["refreshtoken": .string(session.refresh)])
        _ = cloud.send("GET", "/v1/user2?access_token=planted-query", token: session.access)
        try cloud.map("node1", token: session.access)
        let entries = try cloud.journal.entries(where: ["event": "request"])
        #expect(
            entries.map { $0["path"]?.string } == [
                "/v1/login2", "/v1/login2", "/v1/login2", "/v1/user2", "/v1/user2", "/v1/user/nodes/mapping",
            ])
        #expect(entries.map { $0["status"]?.integer } == [200, 400, 200, 200, 200, 200])
        #expect(entries[1]["error_code"] == 101009)
        #expect(entries[3]["user"]?.string == TestCloud.user)
        #expect(
            try cloud.journal.entries(where: ["event": "mapping", "state": "confirmed", "node": "node1"]).count == 1)

        let text = try cloud.folder.read("journal")
        for secret in [TestCloud.password, "planted", session.access, session.id, session.refresh, "s-node1"] {
            #expect(!text.contains(secret))
        }
    }
}
