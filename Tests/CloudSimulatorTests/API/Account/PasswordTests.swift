// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct PasswordTests {
    private static let user = JSONValue.string(TestCloud.user)

    @Test("who forgot the password sets another with a code, and sessions go on", arguments: ["2", ""])
    func forgotten(suffix: String) throws {
        let cloud = try TestCloud()
        let session = try cloud.signIn()
        // The official client sends all three keys, two of them null.
        let asked = cloud.send(
            "PUT", "/v1/forgotpassword\(suffix)",
            ["user_name": Self.user, "password": .null, "verification_code": .null])
        #expect(asked.status == 200)
        let code = try cloud.code(.passwordReset)
        let body: JSONValue = ["user_name": Self.user, "password": "Another1", "verification_code": .string(code)]
        #expect(cloud.send("PUT", "/v1/forgotpassword\(suffix)", body).status == 200)
        _ = try cloud.signIn(TestCloud.user, "Another1")
        #expect(throws: SimulatorError.self) { try cloud.signIn() }
        #expect(cloud.send("GET", "/v1/user2", token: session.access).status == 200)
        #expect(cloud.send("PUT", "/v1/forgotpassword2", body).errorCode == 101012, "once")
    }

    @Test(
        "what is wrong with a forgotten password is said by code",
        arguments: [
            ("{}", 400, 101001), (#"{"user_name":"x"}"#, 400, 101002), (#"{"user_name":"+1"}"#, 400, 101037),
            (#"{"user_name":"nobody@example.com"}"#, 404, 101025),
            (#"{"user_name":"dev@example.com","password":"Another1"}"#, 400, 101030),
            (#"{"user_name":"dev@example.com","verification_code":"000000"}"#, 400, 101032),
            (#"{"user_name":"dev@example.com","verification_code":"000000","password":"weak"}"#, 400, 101004),
            (#"{"user_name":"dev@example.com","verification_code":"000000","password":"Another1"}"#, 400, 101012),
            (#"{"user_name":"new@example.com"}"#, 400, 101031), ("null", 400, 100006),
        ] as [(String, Int, Int64)])
    func refused(body: String, status: Int, code: Int64) throws {
        let cloud = try TestCloud()
        _ = cloud.signUp("new@example.com")
        let reply = cloud.send("PUT", "/v1/forgotpassword2", text: body)
        #expect(reply.status == status && reply.errorCode == code)
        #expect(cloud.send("PUT", "/v1/forgotpassword2?locale=x", text: body).status != 200)
    }

    @Test("an expired code and too many wrong codes have their own errors")
    func codes() throws {
        let cloud = try TestCloud { $0.verificationLifetime = .seconds(60) }
        func reset(_ code: JSONValue) -> Response {
            cloud.send(
                "PUT", "/v1/forgotpassword2",
                ["user_name": Self.user, "password": "Another1", "verification_code": code])
        }
        let ask: JSONValue = ["user_name": Self.user]
        _ = cloud.send("PUT", "/v1/forgotpassword2", ask)
        var code = try cloud.code(.passwordReset)
        cloud.pass(.seconds(60))
        #expect(reset(.string(code)).errorCode == 100068)
        _ = cloud.send("PUT", "/v1/forgotpassword2", ask)
        code = try cloud.code(.passwordReset)
        for _ in 0..<5 { #expect(reset(TestCloud.wrong(code)).errorCode == 101012) }
        let spent = reset(.string(code))
        #expect(spent.status == 500 && spent.errorCode == 101019)
        _ = try cloud.signIn()
    }

    @Test("changing the password ends every session", arguments: ["2", ""])
    func changed(suffix: String) throws {
        let cloud = try TestCloud()
        let session = try cloud.signIn()
        let other = try cloud.signIn()
        let body: JSONValue = ["password": .string(TestCloud.password), "newpassword": "Another1"]
        #expect(cloud.send("PUT", "/v1/password\(suffix)", body, token: session.access).status == 200)
        for one in [session, other] {
            #expect(cloud.send("GET", "/v1/user2", token: one.access).status == 401)
            #expect(cloud.send("POST", "/v1/login2", ["refreshtoken": .string(one.refresh)]).errorCode == 101017)
        }
        _ = try cloud.signIn(TestCloud.user, "Another1")
        #expect(throws: SimulatorError.self) { try cloud.signIn() }
    }

    @Test(
        "a change that is refused changes nothing",
        arguments: [
            (#"{"password":"wrong","newpassword":"Another1"}"#, 101007), (#"{"newpassword":"Another1"}"#, 101007),
            (#"{"password":"Passw0rd"}"#, 101018), (#"{"password":"Passw0rd","newpassword":"weak"}"#, 101004),
            ("", 100006),
        ] as [(String, Int64)])
    func notChanged(body: String, code: Int64) throws {
        let cloud = try TestCloud()
        let session = try cloud.signIn()
        #expect(cloud.send("PUT", "/v1/password2", text: body, token: session.access).errorCode == code)
        #expect(cloud.send("GET", "/v1/user2", token: session.access).status == 200)
        _ = try cloud.signIn()
    }

    @Test("a user of an identity provider has no password to change or to forget")
    func federated() throws {
        let cloud = try TestCloud()
        let flow = OAuthFlow(cloud: cloud, query: ["identity_provider": "GitHub"])
        let code = try #require(flow.submit(["username": "ada@example.com"]).redirected["code"])
        let token = flow.redeem(code).body["access_token"]?.string
        let body: JSONValue = ["password": "x", "newpassword": "Another1"]
        #expect(cloud.send("PUT", "/v1/password2", body, token: token).errorCode == 101020)
        #expect(cloud.send("PUT", "/v1/forgotpassword2", ["user_name": "ada@example.com"]).errorCode == 101031)
    }
}
