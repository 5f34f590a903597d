// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct ProfileTests {
    private struct Caller {
        let cloud: TestCloud
        let token: String

        init(isSuperAdmin: Bool = false) throws {
            cloud = try TestCloud()
            if isSuperAdmin { try cloud.api.promote(name: TestCloud.user) }
            token = try cloud.signIn().access
        }

        var profile: JSONValue { cloud.send("GET", "/v1/user2", token: token).body }
        func update(_ body: JSONValue, path: String = "user2") -> Response {
            cloud.send("PUT", "/v1/\(path)", body, token: token)
        }
    }

    @Test("a name can be given", arguments: ["user2", "user"])
    func name(path: String) throws {
        let caller = try Caller()
        #expect(caller.profile["name"] == nil)
        #expect(caller.update(["name": "Ada"], path: path).status == 200)
        #expect(caller.profile["name"] == "Ada")
        for bad in ["", String(repeating: "x", count: 257)] {
            #expect(caller.update(["name": .string(bad)], path: path).errorCode == 101053)
        }
        #expect(caller.update(["name": .string(String(repeating: "ä", count: 256))], path: path).status == 200)
    }

    @Test("a phone number counts once its code has come back")
    func phone() throws {
        let caller = try Caller()
        #expect(caller.update(["verification_code": "000000"]).errorCode == 101047, "none was asked for")
        #expect(caller.update(["phone_number": "+491701234567"]).status == 200)
        #expect(caller.profile["phone_number"] == nil)
        let code = try caller.cloud.code(.phone, to: "+491701234567")
        #expect(caller.update(["verification_code": TestCloud.wrong(code)]).errorCode == 101052)
        #expect(caller.update(["verification_code": .string(code)]).status == 200)
        #expect(caller.profile["phone_number"] == "+491701234567")
        #expect(caller.update(["verification_code": .string(code)]).errorCode == 101051, "it is confirmed")
        #expect(caller.profile["email"]?.string == TestCloud.user)
        for bad in ["0170", "+49 170", ""] {
            #expect(caller.update(["phone_number": .string(bad)]).errorCode == 101037)
        }
        try caller.cloud.api.addUser(name: "+491700000000", password: "Passw0rd")
        #expect(caller.update(["phone_number": "+491700000000"]).errorCode == 101056)
    }

    @Test("tags are added and removed")
    func tags() throws {
        let caller = try Caller()
        #expect(caller.update(["operation": "add", "tags": ["city:Pune", "role:a:b"]]).status == 200)
        #expect(caller.update(["operation": "add", "tags": ["city:Pune", "x:y"]]).status == 200)
        #expect(caller.profile["tags"] == ["role:a:b", "city:Pune", "x:y"])
        #expect(caller.update(["operation": "remove", "tags": ["city:Pune", "no:such"]]).status == 200)
        #expect(caller.profile["tags"] == ["role:a:b", "x:y"])
        #expect(caller.update(["operation": "swap", "tags": ["a:b"]]).errorCode == 101066)
        #expect(caller.update(["tags": ["a:b"]]).errorCode == 101066)
        for bad in ["novalue", ":v", "k:"] as [JSONValue] {
            #expect(caller.update(["operation": "add", "tags": [bad]]).errorCode == 101067)
        }
        #expect(caller.update(["operation": "remove", "tags": ["role:a:b", "x:y"]]).status == 200)
        #expect(caller.profile["tags"] == nil, "absent when unset")
    }

    @Test("a locale is set, and only one that can be")
    func locale() throws {
        let caller = try Caller()
        #expect(caller.update(["locale": "en-us"]).status == 200)
        #expect(caller.profile["locale"] == "en-us")
        #expect(caller.update(["locale": "klingon"]).errorCode == 112048)
        #expect(caller.update(["locale": "no_locale"]).status == 200)
        #expect(caller.profile["locale"] == "no_locale")
    }

    @Test("only a super-admin with a phone turns the second step on")
    func secondStep() throws {
        let plain = try Caller()
        #expect(plain.update(["mfa": true]).errorCode == 100004)
        #expect(plain.profile["super_admin"] == nil)
        let admin = try Caller(isSuperAdmin: true)
        #expect(admin.profile["super_admin"] == true)
        #expect(admin.update(["mfa": true]).errorCode == 101047)
        _ = admin.update(["phone_number": "+491701234567"])
        let code = try admin.cloud.code(.phone, to: "+491701234567")
        _ = admin.update(["verification_code": .string(code)])
        #expect(admin.update(["mfa": true]).status == 200)
        #expect(admin.profile["mfa"] == true)
        let begun = admin.cloud.send(
            "POST", "/v1/login2", ["user_name": .string(TestCloud.user), "password": .string(TestCloud.password)])
        #expect(begun.body["session"] != nil)
        _ = try admin.cloud.code(.secondStep, to: "+491701234567")
    }

    @Test(
        "a call changes one thing, and something",
        arguments: [
            ("{}", 101045), (#"{"name":null}"#, 101045), (#"{"name":"a","locale":"en"}"#, 100006),
            (#"{"mfa":1}"#, 100006),
            (#"{"operation":"add"}"#, 200), (#"{"tags_verification_code":"1"}"#, 101012), ("", 100006),
        ] as [(String, Int64)])
    func intents(body: String, code: Int64) throws {
        let caller = try Caller()
        let reply = caller.cloud.send("PUT", "/v1/user2", text: body, token: caller.token)
        if code == 200 { #expect(reply.status == 200) } else { #expect(reply.errorCode == code) }
    }

    @Test("custom data keeps what is set, and forgets what is null")
    func customData() throws {
        let caller = try Caller()
        func set(_ body: JSONValue) -> Response {
            caller.cloud.send("PUT", "/v1/user/custom_data", body, token: caller.token)
        }
        var stored: JSONValue { caller.cloud.send("GET", "/v1/user/custom_data", token: caller.token).body }
        #expect(stored == [:])
        #expect(
            set(["a": ["value": [1, 2.5, "x"], "perms": [["read": ["user"]]]], "b": ["value": true]]).status == 200)
        #expect(set(["a": ["value": ["n": 1]], "c": ["value": "z"]]).status == 200)
        #expect(stored["a"]?["value"] == ["n": 1] && stored["a"]?["perms"] == [["read": ["user"]]])
        #expect(set(["a": ["value": .null], "b": .null, "none": .null]).status == 200)
        #expect(stored == ["a": ["perms": [["read": ["user"]]]], "c": ["value": "z"]])
        let whole = caller.cloud.send("GET", "/v1/user2?custom_data=true", token: caller.token).body
        #expect(whole["custom_data"] == stored)
        #expect(caller.profile["custom_data"] == nil)
        for bad in [["a": 1], ["": ["value": 1]], ["a": ["perms": 1]]] as [JSONValue] {
            #expect(set(bad).errorCode == 100006)
        }
        #expect(set([:]).errorCode == 101045)
        let large = JSONValue.string(String(repeating: "x", count: CloudAPI.maximumCustomData))
        #expect(set(["d": ["value": large]]).errorCode == 100036)
        #expect(stored["d"] == nil)
    }

    @Test("a public profile is seen by others")
    func publicProfile() throws {
        let caller = try Caller()
        try caller.cloud.api.addUser(name: "eve@example.com", password: "Passw0rd")
        let eve = try caller.cloud.signIn("eve@example.com").access
        func put(_ body: JSONValue) -> Response {
            caller.cloud.send("PUT", "/v1/user/public_profile", body, token: caller.token)
        }
        func get(_ query: String) -> Response {
            caller.cloud.send("GET", "/v1/user/public_profile\(query)", token: eve)
        }
        #expect(put(["profile": ["nick": "Ada"]]).status == 200)
        #expect(get("?user_name=\(PercentEncoding.encoded(TestCloud.user))").body["profile"] == ["nick": "Ada"])
        #expect(get("").body["profile"] == [:])
        let missing = get("?user_name=nobody")
        #expect(missing.status == 404 && missing.errorCode == 101025)
        #expect(put([:]).errorCode == 101045 && put(["profile": 7]).errorCode == 100006)
        #expect(put(["profile": .null]).status == 200)
        #expect(get("?user_name=\(PercentEncoding.encoded(TestCloud.user))").body["profile"] == [:])
    }

    @Test("phones learn where notifications go, and data can be requested")
    func extras() throws {
        let caller = try Caller()
        let path = "/v1/user/push_notification/mobile_platform_endpoint"
        let body: JSONValue = ["platform": "GCM", "mobile_device_token": "phone-1"]
        let made = caller.cloud.send("POST", path, body, token: caller.token)
        #expect(made.body["platform_endpoint_arn"]?.string?.hasPrefix("arn:aws:sns:") == true)
        #expect(caller.cloud.send("POST", path, ["platform": "X"], token: caller.token).errorCode == 100006)
        #expect(caller.cloud.send("GET", path, token: caller.token).body["platform_endpoints"]?.array?.count == 1)
        #expect(caller.cloud.send("DELETE", path, token: caller.token).errorCode == 100021)
        #expect(caller.cloud.send("DELETE", path + "?mobile_device_token=phone-1", token: caller.token).status == 200)
        #expect(caller.cloud.send("GET", path, token: caller.token).body["platform_endpoints"] == [])

        let asked = caller.cloud.send("POST", "/v1/user/data-requests", token: caller.token).body
        let id = try #require(asked["request_id"]?.string)
        let ready = caller.cloud.send("GET", "/v1/user/data-requests/\(id)", token: caller.token)
        #expect(ready.body["presigned_url"]?.string?.hasPrefix("https://") == true)
        #expect(caller.cloud.send("GET", "/v1/user/data-requests/x", token: caller.token).errorCode == 100012)
    }

    @Test("what a user has set is there after a restart")
    func restart() throws {
        let folder = try TemporaryFolder()
        let first = try TestCloud(folder: folder)
        let token = try first.signIn().access
        for body in [["name": "Ada"], ["locale": "en"], ["operation": "add", "tags": ["a:b"]]] as [JSONValue] {
            #expect(first.send("PUT", "/v1/user2", body, token: token).status == 200)
        }
        _ = first.send("PUT", "/v1/user/custom_data", ["k": ["value": [1, .null, 1.5]]], token: token)
        _ = first.send("PUT", "/v1/user/public_profile", ["profile": ["n": 1]], token: token)
        let second = try TestCloud(folder: folder)
        for path in ["/v1/user2?custom_data=true", "/v1/user/public_profile"] {
            #expect(second.send("GET", path, token: token).body == first.send("GET", path, token: token).body)
        }
    }
}
