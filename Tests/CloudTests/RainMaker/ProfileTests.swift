// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import RainMaker
import TestSupport
import Testing

@Suite("The RainMaker cloud's data about a user")
struct ProfileTests {
    @Test("all possible members are kept")
    func whole() async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(
            .get, "/v1/user2?custom_data=true",
            #"""
            {"user_id":"u1","user_name":"dev@example.com","mfa":true,"super_admin":true,"admin":true,
            "picture_url":"https://example.com/p.png","name":"Ada","phone_number":"+15550100","email":"dev@example.com",
            "quota":{"nodes":5},"user_roles":["owner","tester"],"tags":["team:lab"],"admin_tags":["tier:gold"],
            "locale":"en-us","custom_data":{"theme":{"value":"dark","perms":["r"]},"empty":{"value":null},"odd":7},
            "is_guest_user":true,"expires_on":1800000000}
            """#)
        let profile = try await bench.account.user(customData: true)
        #expect(profile.userID == UserID("u1"))
        #expect(profile.userName == "dev@example.com")
        #expect(profile.common.name == "Ada")
        #expect(profile.common.phoneNumber == "+15550100")
        #expect(profile.common.email == "dev@example.com")
        #expect(profile.common.locale == "en-us")
        #expect(profile.common.usesSecondFactor == true)
        #expect(profile.pictureURL == "https://example.com/p.png")
        #expect(profile.isAdministrator && profile.isSuperAdministrator && profile.isGuest)
        #expect(profile.roles == ["owner", "tester"])
        #expect(profile.tags == ["team:lab"])
        #expect(profile.administratorTags == ["tier:gold"])
        #expect(profile.quota == ["nodes": 5])
        #expect(profile.guestExpires == UnixTime(seconds: 1_800_000_000))
        let data = try #require(profile.customData)
        #expect(data.entries.map(\.key) == ["theme", "empty", "odd"])
        #expect(data["theme"] == .init(key: "theme", value: "dark", permissions: ["r"]))
        #expect(data["empty"]?.value == nil)
        #expect(data["absent"] == nil)
        try bench.http.finish()
    }

    @Test("missing values are nil or empty")
    func sparse() async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(.get, "/v1/user2", #"{"user_id":"u1","user_name":"+15550100","mfa":false,"quota":null}"#)
        let profile = try await bench.account.user()
        #expect(profile.common.name == nil && profile.common.email == nil && profile.quota == nil)
        #expect(profile.customData == nil && profile.pictureURL == nil && profile.guestExpires == nil)
        #expect(profile.tags.isEmpty && profile.roles.isEmpty && profile.administratorTags.isEmpty)
        #expect(!profile.isAdministrator && !profile.isSuperAdministrator && !profile.isGuest)
    }

    @Test(
        "an answer that is not a profile is refused",
        arguments: ["{}", #"{"user_id":""}"#, #"{"user_id":7}"#, "[]", "<html>", #"{"user_name":"x"}"#])
    func malformed(body: String) async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(.get, "/v1/user2", body)
        let error = await accountError { () throws(AccountError) in try await bench.account.user() }
        #expect(error?.code == .malformedAnswer)
    }

    @Test("custom data is returned key by key")
    func customData() async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(
            .get, "/v1/user/custom_data", #"{"esp.location":{"value":{"espHome":"x"}},"n":{"value":1.5,"perms":[]}}"#)
        let data = try await bench.account.customData()
        #expect(data["esp.location"]?.value == ["espHome": "x"])
        #expect(data["n"]?.value == 1.5)
        bench.http.expect(.get, "/v1/user/custom_data", "{}")
        #expect(try await bench.account.customData().entries.isEmpty)
        try bench.http.finish()
    }
}
