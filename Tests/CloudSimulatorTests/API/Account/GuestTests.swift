// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct GuestTests {
    private static let name = JSONValue.string("guest-no-more@example.com")

    private struct Guest {
        let cloud: TestCloud
        let session: JSONValue
        var token: String { session["accesstoken"]?.string ?? "" }

        init() throws {
            cloud = try TestCloud()
            let reply = cloud.send("POST", "/v1/user/guest")
            guard reply.status == 201 else { throw SimulatorError(.usage, "no guest: \(reply)") }
            session = reply.body
        }

        func initiate(_ name: JSONValue) -> Response {
            cloud.send("POST", "/v1/user/guest/conversion/initiate", ["user_name": name], token: token)
        }
        func verify(_ body: JSONValue) -> Response {
            cloud.send("POST", "/v1/user/guest/conversion/verify", body, token: token)
        }
    }

    @Test("a guest is signed in at once, and is marked as a guest")
    func signIn() throws {
        let guest = try Guest()
        #expect(guest.session["status"] == "success" && guest.session["refreshtoken"]?.string != nil)
        let name = try #require(guest.session["user_name"]?.string)
        #expect(name.hasPrefix("guest@") && name.hasSuffix(".temp.user"))
        let profile = guest.cloud.send("GET", "/v1/user2", token: guest.token).body
        #expect(profile["is_guest_user"] == true && profile["user_name"]?.string == name)
        #expect(profile["expires_on"]?.integer == guest.cloud.api.now / 1000 + 30 * 86_400)
    }

    @Test("a guest becomes a user with the same id and sessions")
    func conversion() throws {
        let guest = try Guest()
        let id = guest.cloud.send("GET", "/v1/user2", token: guest.token).body["user_id"]
        #expect(guest.initiate(Self.name).status == 200)
        let code = try guest.cloud.code(.guestConversion, to: Self.name.string ?? "")
        let body: JSONValue = ["user_name": Self.name, "verification_code": .string(code), "password": "Passw0rd"]
        #expect(guest.verify(body).status == 200)
        let profile = guest.cloud.send("GET", "/v1/user2", token: guest.token).body
        #expect(profile["user_id"] == id && profile["user_name"] == Self.name && profile["is_guest_user"] == nil)
        _ = try guest.cloud.signIn(Self.name.string ?? "", "Passw0rd")
        #expect(guest.initiate("other@example.com").errorCode == 100004, "a guest no more")
    }

    @Test("what is wrong with a conversion is said by code")
    func refused() throws {
        let guest = try Guest()
        #expect(guest.initiate(.null).errorCode == 101001)
        #expect(guest.initiate("+491701234567").errorCode == 101097)
        #expect(guest.initiate("nonsense").errorCode == 101002)
        #expect(guest.initiate(.string(TestCloud.user)).errorCode == 101006)
        #expect(guest.initiate(Self.name).status == 200)
        let code = JSONValue.string(try guest.cloud.code(.guestConversion, to: Self.name.string ?? ""))
        #expect(guest.verify(["user_name": Self.name, "verification_code": code]).errorCode == 101003)
        #expect(guest.verify(["user_name": Self.name, "password": "Passw0rd"]).errorCode == 101003)
        #expect(
            guest.verify(["user_name": Self.name, "verification_code": code, "password": "weak"]).errorCode == 101004)
        let wrong = TestCloud.wrong(code.string ?? "")
        #expect(
            guest.verify(["user_name": Self.name, "verification_code": wrong, "password": "Passw0rd"]).errorCode
                == 101012)
        #expect(
            guest.verify(["user_name": "a@b.cd", "verification_code": code, "password": "Passw0rd"]).errorCode
                == 101012,
            "a code for another address")
    }

    @Test("a guest has no password, and is deleted at once")
    func restrictions() throws {
        let guest = try Guest()
        let body: JSONValue = ["password": "x", "newpassword": "Passw0rd"]
        #expect(guest.cloud.send("PUT", "/v1/password2", body, token: guest.token).errorCode == 101087)
        let name = guest.session["user_name"] ?? .null
        for (method, path) in [("POST", "login2"), ("PUT", "forgotpassword2")] {
            #expect(guest.cloud.send(method, "/v1/\(path)", ["user_name": name]).errorCode == 101087)
        }
        #expect(guest.cloud.send("DELETE", "/v1/user2?request=true", token: guest.token).status == 200)
        #expect(guest.cloud.send("GET", "/v1/user2", token: guest.token).status == 401)
    }

    @Test("a guest's time is up after 30 days")
    func expiry() throws {
        let guest = try Guest()
        guest.cloud.pass(.seconds(30 * 86_400 - 1))
        let refresh = guest.session["refreshtoken"] ?? .null
        let reply = guest.cloud.send("POST", "/v1/login2", ["refreshtoken": refresh])
        let token = try #require(reply.body["accesstoken"]?.string)
        #expect(guest.cloud.send("GET", "/v1/user2", token: token).status == 200)
        guest.cloud.pass(.seconds(1))
        #expect(guest.cloud.send("GET", "/v1/user2", token: token).status == 401)
    }
}
