// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct CodeSignInTests {
    private static let user = JSONValue.string(TestCloud.user)

    private static func finish(_ cloud: TestCloud, _ session: JSONValue?, _ code: JSONValue) -> Response {
        cloud.send(
            "POST", "/v1/login2", ["user_name": user, "verification_code": code, "session": session ?? .null])
    }

    @Test("a user name alone is sent a code, which signs in with the session that was answered")
    func code() throws {
        let cloud = try TestCloud()
        let begun = cloud.send("POST", "/v1/login2", ["user_name": Self.user])
        #expect(begun.status == 200 && begun.body["accesstoken"] == nil)
        let session = try #require(begun.body["session"])
        let code = try cloud.code(.signIn)
        #expect(Self.finish(cloud, session, TestCloud.wrong(code)).errorCode == 101012)
        let reply = Self.finish(cloud, session, .string(code))
        #expect(reply.status == 200 && reply.body["refreshtoken"]?.string != nil)
        #expect(cloud.send("GET", "/v1/user2", token: reply.body["accesstoken"]?.string).status == 200)
        #expect(Self.finish(cloud, session, .string(code)).errorCode == 101016, "once")
        #expect(try cloud.journal.entries(where: ["event": "login", "by": "code"]).count == 1)
    }

    @Test("a password asks for a code, too, where a second step is on")
    func secondStep() throws {
        let cloud = try TestCloud()
        let body: JSONValue = ["user_name": Self.user, "password": .string(TestCloud.password)]
        #expect(cloud.control("mfa", ["user": Self.user, "on": true]).status == 200)
        #expect(cloud.send("POST", "/v1/login2", ["user_name": Self.user, "password": "wrong"]).errorCode == 101009)
        let begun = cloud.send("POST", "/v1/login2", body)
        #expect(begun.status == 200 && begun.body["accesstoken"] == nil)
        let reply = Self.finish(cloud, begun.body["session"], .string(try cloud.code(.secondStep)))
        let token = try #require(reply.body["accesstoken"]?.string)
        #expect(cloud.send("GET", "/v1/user2", token: token).body["mfa"] == true)
        #expect(try cloud.journal.entries(where: ["event": "login", "by": "mfa"]).count == 1)
        #expect(cloud.control("mfa", ["user": Self.user, "on": false]).status == 200)
        #expect(cloud.send("POST", "/v1/login2", body).body["accesstoken"] != nil)
    }

    @Test("each sign-in has its own session and code")
    func sessions() throws {
        let cloud = try TestCloud()
        let first = cloud.send("POST", "/v1/login2", ["user_name": Self.user]).body["session"]
        let firstCode = try cloud.code(.signIn)
        let second = cloud.send("POST", "/v1/login2", ["user_name": Self.user]).body["session"]
        let secondCode = try cloud.code(.signIn)
        #expect(first != second)
        if firstCode != secondCode { #expect(Self.finish(cloud, first, .string(secondCode)).errorCode == 101012) }
        #expect(Self.finish(cloud, first, .string(firstCode)).status == 200)
        #expect(Self.finish(cloud, second, .string(secondCode)).status == 200)
    }

    @Test("another user's session does not sign in")
    func foreign() throws {
        let cloud = try TestCloud()
        try cloud.api.addUser(name: "eve@example.com", password: "Passw0rd")
        let session = cloud.send("POST", "/v1/login2", ["user_name": "eve@example.com"]).body["session"]
        let code = try cloud.code(.signIn, to: "eve@example.com")
        #expect(Self.finish(cloud, session, .string(code)).errorCode == 101016)
    }

    @Test("a session ends with its time, and after five wrong codes")
    func ends() throws {
        let cloud = try TestCloud { $0.verificationLifetime = .seconds(180) }
        func begin() throws -> (JSONValue?, String) {
            let session = cloud.send("POST", "/v1/login2", ["user_name": Self.user]).body["session"]
            return (session, try cloud.code(.signIn))
        }
        let (late, lateCode) = try begin()
        cloud.pass(.seconds(180))
        #expect(Self.finish(cloud, late, .string(lateCode)).errorCode == 101016)
        let (tried, code) = try begin()
        for _ in 0..<5 { #expect(Self.finish(cloud, tried, TestCloud.wrong(code)).errorCode == 101012) }
        #expect(Self.finish(cloud, tried, .string(code)).errorCode == 101016)
    }

    @Test("the hosted page asks for the second step, too")
    func hostedPage() throws {
        let cloud = try TestCloud()
        _ = cloud.control("mfa", ["user": Self.user, "on": true])
        let flow = OAuthFlow(cloud: cloud)
        let page = flow.submit(["username": TestCloud.user, "password": TestCloud.password]).page
        let session = try #require(
            page.split(separator: "name=\"session\" value=\"").last?.split(separator: "\"").first)
        let code = try cloud.code(.secondStep)
        let wrong = TestCloud.wrong(code).string ?? ""
        let again = flow.submit(["session": String(session), "code": wrong])
        #expect(again.status == 400 && again.page.contains("id=\"failure\"") && again.page.contains(session))
        let reply = flow.submit(["session": String(session), "code": code])
        #expect(flow.redeem(try #require(reply.redirected["code"])).status == 200)
        #expect(flow.submit(["session": String(session), "code": code]).location == nil)
    }
}
