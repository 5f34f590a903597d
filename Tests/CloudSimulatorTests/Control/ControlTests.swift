// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct ControlTests {
    @Test("expiring a user's access tokens makes a refresh needed, and the new token is good at once")
    func expire() throws {
        let cloud = try TestCloud()
        try cloud.api.addUser(name: "other@example.com", password: "Passw0rd")
        let session = try cloud.signIn()
        let other = try cloud.signIn("other@example.com")
        #expect(cloud.control("expire", ["user": .string(TestCloud.user)]).status == 200)
        #expect(cloud.send("GET", "/v1/user2", token: session.access).status == 401)
        #expect(cloud.send("GET", "/v1/user2", token: other.access).status == 200)
        let reply = cloud.send("POST", "/v1/login2", ["refreshtoken": .string(session.refresh)])
        let fresh = try #require(reply.body["accesstoken"]?.string)
        #expect(cloud.send("GET", "/v1/user2", token: fresh).status == 200)
    }

    @Test("revoking a user's sessions ends them, refresh tokens too")
    func revoke() throws {
        let cloud = try TestCloud()
        let session = try cloud.signIn()
        #expect(cloud.control("revoke", ["user": .string(TestCloud.user)]).status == 200)
        #expect(cloud.send("GET", "/v1/user2", token: session.access).status == 401)
        #expect(cloud.send("POST", "/v1/login2", ["refreshtoken": .string(session.refresh)]).errorCode == 101017)
        _ = try cloud.signIn()
    }

    @Test("the cloud's clock can be set")
    func clock() throws {
        let cloud = try TestCloud()
        let session = try cloud.signIn()
        let before = cloud.api.now
        #expect(cloud.control("clock", ["offset": 3600]).status == 200)
        #expect(cloud.api.now == before + 3_600_000)
        #expect(cloud.send("GET", "/v1/user2", token: session.access).status == 401)
        #expect(cloud.control("clock", ["offset": -600]).status == 200)
        #expect(cloud.api.now == before - 600_000, "from the true time, not from the shifted one")
        #expect(cloud.send("GET", "/v1/user2", token: session.access).status == 200)
    }

    @Test(
        "what makes no sense is refused and changes nothing",
        arguments: [
            ("expire", "{}", 101001), ("expire", #"{"user":"nobody"}"#, 101025), ("revoke", #"{"user":1}"#, 100006),
            ("clock", "{}", 100006), ("clock", #"{"offset":-9223372036854775808}"#, 100006),
            ("mfa", #"{"user":"dev@example.com"}"#, 100006), ("faults", "{}", 100006), ("faults", "[]", 100006),
            ("faults", #"{"rules":[{"path":"/x"}]}"#, 100006),
            ("faults", #"{"rules":[{"path":"/x","action":"explode"}]}"#, 100006),
            ("faults", #"{"rules":[{"path":"x","action":"reset"}]}"#, 100006),
            ("faults", #"{"rules":[{"path":"/x","action":"status","status":99}]}"#, 100006),
            ("faults", #"{"rules":[{"path":"/x","action":"reset","count":0}]}"#, 100006),
        ] as [(String, String, Int64)])
    func refused(what: String, body: String, code: Int64) throws {
        let cloud = try TestCloud()
        let session = try cloud.signIn()
        #expect(cloud.send("POST", "/_sim/\(what)", text: body).errorCode == code)
        #expect(cloud.send("GET", "/v1/user2", token: session.access).status == 200)
    }

    @Test("only what is there can be asked for, and only by POST")
    func unknown() throws {
        let cloud = try TestCloud()
        #expect(cloud.control("nonsense", [:]).status == 404)
        #expect(cloud.send("GET", "/_sim/faults").errorCode == 100003)
    }

    @Test("what tests ask for is in the journal, apart from what clients ask")
    func journal() throws {
        let cloud = try TestCloud()
        _ = cloud.control("expire", ["user": .string(TestCloud.user)])
        #expect(try cloud.journal.entries(where: ["event": "request"]).isEmpty)
        let entries = try cloud.journal.entries(where: ["event": "control", "what": "expire"])
        #expect(entries.map { $0["user"]?.string } == [TestCloud.user])
    }
}
