// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct SignInTests {
    @Test(
        "a password opens a session, under the current name of the endpoint and the old one",
        arguments: ["login2", "login"])
    func signIn(path: String) throws {
        let cloud = try TestCloud()
        let reply = cloud.send(
            "POST", "/v1/\(path)", ["user_name": .string(TestCloud.user), "password": .string(TestCloud.password)])
        #expect(reply.status == 200)
        #expect(reply.body["status"] == "success")
        for name in ["idtoken", "accesstoken", "refreshtoken"] { #expect(reply.body[name]?.string?.isEmpty == false) }
        let token = try #require(reply.body["accesstoken"]?.string)
        for profile in ["user2", "user"] {
            let answer = cloud.send("GET", "/v1/\(profile)", token: token)
            #expect(answer.status == 200)
            #expect(answer.body["user_name"]?.string == TestCloud.user)
            #expect(answer.body["email"]?.string == TestCloud.user)
            #expect(answer.body["user_id"]?.string?.count == 36)
        }
    }

    @Test(
        "what is wrong with a sign-in is said by code",
        arguments: [
            (#"{"user_name":"dev@example.com","password":"wrong"}"#, 101009),
            (#"{"user_name":"DEV@example.com","password":"Passw0rd"}"#, 101009),
            (#"{"user_name":"nobody@example.com","password":"Passw0rd"}"#, 101009),
            (#"{"password":"Passw0rd"}"#, 101001), (#"{"user_name":"","password":"Passw0rd"}"#, 101001),
            (#"{"user_name":null,"password":"Passw0rd"}"#, 101001),
            (#"{"user_name":"dev@example.com","password":""}"#, 101003),
            (#"{"user_name":"nobody@example.com"}"#, 101009),
            (#"{"user_name":"nobody@example.com","password":null}"#, 101009),
            (#"{"user_name":"dev@example.com","verification_code":"123456"}"#, 101039),
            (#"{"user_name":"dev@example.com","verification_code":"123456","session":"x"}"#, 101016),
            (#"{"user_name":1,"password":"Passw0rd"}"#, 100006), (#"{"user_name":["dev"],"password":{}}"#, 100006),
            (#"{"refreshtoken":"x.y"}"#, 101017), (#"{"refreshtoken":""}"#, 101017), (#"{"refreshtoken":7}"#, 100006),
            ("", 100006), ("null", 100006), ("[]", 100006), ("\"text\"", 100006), ("{", 100006),
            ("<html></html>", 100006),
            ("{\"user_name\":\"\u{0}\"", 100006),
        ] as [(String, Int64)])
    func refused(body: String, code: Int64) throws {
        let reply = try TestCloud().send("POST", "/v1/login2", text: body)
        #expect(reply.status == 400)
        #expect(reply.body["status"] == "failure")
        #expect(reply.errorCode == code)
    }

    @Test("null counts as absent: the official client sends it so")
    func nullIsAbsent() throws {
        let cloud = try TestCloud()
        let body =
            #"{"user_name":"dev@example.com","password":"Passw0rd","verification_code":null,"refreshtoken":null}"#
        #expect(cloud.send("POST", "/v1/login2", text: body).status == 200)
    }

    @Test("an access token is refused when it expires, and a refresh gives a new one")
    func expiryAndRefresh() throws {
        let cloud = try TestCloud { $0.accessLifetime = .seconds(10) }
        let session = try cloud.signIn()
        cloud.pass(.seconds(9))
        #expect(cloud.send("GET", "/v1/user2", token: session.access).status == 200)
        cloud.pass(.seconds(1))
        let late = cloud.send("GET", "/v1/user2", token: session.access)
        #expect(late == Response(status: 401, ["message": "Unauthorized"]))

        let reply = cloud.send("POST", "/v1/login2", ["refreshtoken": .string(session.refresh)])
        #expect(reply.status == 200)
        #expect(reply.body["refreshtoken"] == nil, "the real cloud keeps the refresh token")
        let token = try #require(reply.body["accesstoken"]?.string)
        #expect(cloud.send("GET", "/v1/user2", token: token).status == 200)
        #expect(try cloud.journal.entries(where: ["event": "refresh", "outcome": "accepted"]).count == 1)
    }

    private static func refresh(_ cloud: TestCloud, _ token: String) -> Response {
        cloud.send("POST", "/v1/login2", ["refreshtoken": .string(token)])
    }

    @Test("with rotation each refresh token works once, and whoever uses one again ends the session")
    func rotation() throws {
        let cloud = try TestCloud { $0.rotatesRefreshTokens = true }
        let session = try cloud.signIn()
        let other = try cloud.signIn()
        let reply = Self.refresh(cloud, session.refresh)
        let second = try #require(reply.body["refreshtoken"]?.string)
        let access = try #require(reply.body["accesstoken"]?.string)
        #expect(second != session.refresh)
        #expect(Self.refresh(cloud, session.refresh).errorCode == 101017)
        #expect(Self.refresh(cloud, second).errorCode == 101017, "the one that is stolen and the one that is not")
        #expect(cloud.send("GET", "/v1/user2", token: access).status == 401)
        #expect(cloud.send("GET", "/v1/user2", token: other.access).status == 200, "another sign-in is another session")
        let outcomes = try cloud.journal.entries(where: ["event": "refresh"]).map { $0["outcome"] }
        #expect(outcomes == ["rotated", "reused", "unknown"])
    }

    @Test("within the grace the token before works still, and its answer is of the same session")
    func grace() throws {
        let cloud = try TestCloud {
            $0.rotatesRefreshTokens = true
            $0.refreshGrace = .seconds(10)
        }
        let session = try cloud.signIn()
        let lost = try #require(Self.refresh(cloud, session.refresh).body["refreshtoken"]?.string)
        cloud.pass(.seconds(9))
        let kept = try #require(Self.refresh(cloud, session.refresh).body["refreshtoken"]?.string)
        #expect(Set([session.refresh, lost, kept]).count == 3)
        cloud.pass(.seconds(1))
        #expect(Self.refresh(cloud, kept).status == 200)
        #expect(Self.refresh(cloud, session.refresh).errorCode == 101017)
        let outcomes = try cloud.journal.entries(where: ["event": "refresh"]).map { $0["outcome"] }
        #expect(outcomes == ["rotated", "grace", "rotated", "reused"])
    }

    @Test("a refresh token has a lifetime")
    func refreshLifetime() throws {
        let cloud = try TestCloud { $0.refreshLifetime = .seconds(100) }
        let session = try cloud.signIn()
        cloud.pass(.seconds(100))
        #expect(cloud.send("POST", "/v1/login2", ["refreshtoken": .string(session.refresh)]).errorCode == 101017)
    }

    @Test("signing out ends this access token, and the refresh token if it is given")
    func signOut() throws {
        for (query, body, refreshWorks) in [("?logout_all=false", false, true), ("", true, false)] {
            let cloud = try TestCloud()
            let session = try cloud.signIn()
            let other = try cloud.signIn()
            let reply = cloud.send(
                "POST", "/v1/logout2\(query)", body ? ["refreshtoken": .string(session.refresh)] : nil,
                token: session.access)
            #expect(reply.status == 200)
            #expect(cloud.send("GET", "/v1/user2", token: session.access).status == 401)
            #expect(cloud.send("GET", "/v1/user2", token: other.access).status == 200)
            let refresh = cloud.send("POST", "/v1/login2", ["refreshtoken": .string(session.refresh)])
            #expect((refresh.status == 200) == refreshWorks)
        }
    }

    @Test(
        "what is not a yes or no for signing out everywhere is refused, and nobody is signed out",
        arguments: [("?logout_all=maybe", ""), ("", #"{"logout_all":"true"}"#), ("", #"{"logout_all":1}"#)])
    func badLogOutAll(query: String, body: String) throws {
        let cloud = try TestCloud()
        let session = try cloud.signIn()
        #expect(cloud.send("POST", "/v1/logout2\(query)", text: body, token: session.access).errorCode == 101036)
        #expect(cloud.send("GET", "/v1/user2", token: session.access).status == 200)
    }

    @Test("signing out everywhere ends every session", arguments: ["?logout_all=true", ""])
    func signOutEverywhere(query: String) throws {
        let cloud = try TestCloud()
        let session = try cloud.signIn()
        let other = try cloud.signIn()
        let body: JSONValue? = query.isEmpty ? ["logout_all": true] : nil
        #expect(cloud.send("POST", "/v1/logout2\(query)", body, token: session.access).status == 200)
        for one in [session, other] {
            #expect(cloud.send("GET", "/v1/user2", token: one.access).status == 401)
            #expect(cloud.send("POST", "/v1/login2", ["refreshtoken": .string(one.refresh)]).errorCode == 101017)
        }
    }

    @Test("nobody ends another user's session with a stolen refresh token")
    func foreignRefreshToken() throws {
        let cloud = try TestCloud()
        try cloud.api.addUser(name: "eve@example.com", password: "Passw0rd")
        let session = try cloud.signIn()
        let eve = try cloud.signIn("eve@example.com")
        _ = cloud.send("POST", "/v1/logout2", ["refreshtoken": .string(session.refresh)], token: eve.access)
        #expect(cloud.send("POST", "/v1/login2", ["refreshtoken": .string(session.refresh)]).status == 200)
    }

    @Test(
        "every endpoint of an account asks for a token",
        arguments: [
            ("GET", "/v1/user2"), ("PUT", "/v1/user"), ("DELETE", "/v1/user2?request=true"), ("POST", "/v1/logout2"),
            ("PUT", "/v1/password2"), ("GET", "/v1/user/custom_data"), ("PUT", "/v1/user/custom_data"),
            ("GET", "/v1/user/public_profile"), ("PUT", "/v1/user/public_profile"), ("POST", "/v1/user/data-requests"),
            ("POST", "/v1/user/guest/conversion/initiate"), ("POST", "/v1/user/guest/conversion/verify"),
            ("GET", "/v1/user/push_notification/mobile_platform_endpoint"), ("GET", "/v1/user/nodes"),
            ("GET", "/v1/user/nodes/config?node_id=n"), ("GET", "/v1/user/nodes/status?node_id=n"),
            ("GET", "/v1/user/nodes/params?node_id=n"), ("PUT", "/v1/user/nodes/params?node_id=n"),
            ("PUT", "/v1/user/nodes/mapping"), ("GET", "/v1/user/nodes/mapping?request_id=r"),
            ("POST", "/v1/user/nodes/mapping/initiate"), ("POST", "/v1/user/nodes/mapping/verify"),
            ("DELETE", "/v1/user/nodes/n"),
        ])
    func unauthorized(method: String, path: String) throws {
        let cloud = try TestCloud()
        let session = try cloud.signIn()
        for token in [nil, "", "x", "Bearer \(session.access)", session.id, session.refresh] {
            #expect(cloud.send(method, path, [:], token: token) == Response(status: 401, ["message": "Unauthorized"]))
        }
    }
}
