// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// What the cloud knows of a user, shown and changed.
@Suite("rainctl account: the profile")
struct AccountProfileTests {
    @Test("an update makes its changes one after the other")
    func update() async throws {
        try await AccountScene.run(["PUT /v1/user2": [CannedCloud.done]], signedIn: true) { maker, cloud in
            let outcome = try await maker.succeeds([
                "account", "update", "--phone", "+15550100", "--name", "Ada", "--add-tag", "a:b", "--add-tag", "c:d",
                "--remove-tag", "e:f", "--locale", "en-us", "--second-step", "off", "--json",
            ])
            #expect(outcome.document?["phone_confirmed"] == false)
            #expect(outcome.document?["next"] == "rainctl account update --confirm-phone --code-stdin")
            let confirmed = try await maker.succeeds(
                ["account", "update", "--confirm-phone", "--code-stdin", "--json"], input: .text(AccountScene.code))
            #expect(confirmed.document?["phone_confirmed"] == true)
            #expect(
                cloud.bodies("PUT /v1/user2") == [
                    ["name": "Ada"], ["locale": "en-us"], ["mfa": false], ["operation": "remove", "tags": ["e:f"]],
                    ["operation": "add", "tags": ["a:b", "c:d"]], ["phone_number": "+15550100"],
                    ["verification_code": .string(AccountScene.code)],
                ])
        }
    }

    @Test("whoami tells the whole profile, as lines and as JSON")
    func whoami() async throws {
        let profile = #"""
            {"user_id":"user-1","user_name":"maker@example.com","mfa":true,"admin":true,"name":"Ada","phone_number":"+15550100",
            "email":"maker@example.com","quota":{"nodes":5},"user_roles":["owner"],"tags":["team:lab","x:y"],"locale":"en-us",
            "admin_tags":["tier:gold"],"picture_url":"https://example.com/p","is_guest_user":true,"expires_on":1800000000}
            """#
        try await AccountScene.run(["GET /v1/user2": [(200, profile)]], signedIn: true) { maker, _ in
            let document = try #require(try await maker.succeeds(["whoami", "--json"]).document)
            let expected: [(String, JSONValue)] = [
                ("profile", "sim"), ("user_name", "maker@example.com"), ("user_id", "user-1"), ("name", "Ada"),
                ("email", "maker@example.com"), ("phone_number", "+15550100"), ("locale", "en-us"),
                ("picture_url", "https://example.com/p"), ("second_step", true), ("administrator", "plain"),
                ("roles", ["owner"]), ("tags", ["team:lab", "x:y"]), ("administrator_tags", ["tier:gold"]),
                ("quota", ["nodes": 5]), ("guest", true), ("guest_expires_at", "2027-01-15T08:00:00.000Z"),
            ]
            for (key, value) in expected { #expect(document[key] == value, "\(key)") }
            let text = try await maker.succeeds(["whoami"]).standardOutput
            for line in [
                "maker@example.com", "user id: user-1", "name: Ada", "telephone: +15550100", "two-step sign-in: on",
                "tags: team:lab, x:y", "administrator tags: tier:gold", #"quota: {"nodes":5}"#,
                "guest until 2027-01-15T08:00:00.000Z",
            ] { #expect(text.split(separator: "\n").contains(Substring(line)), "\(line)") }
        }
    }

    @Test("custom data is set, printed and removed")
    func customData() async throws {
        let data =
            #"{"theme":{"value":{"dark":true}},"greeting":{"value":"hi \u001b[2J\u009b1m"},"empty":{"value":null}}"#
        let calls = [
            "GET /v1/user/custom_data": [(status: 200, body: data)], "PUT /v1/user/custom_data": [CannedCloud.done],
        ]
        try await AccountScene.run(calls, signedIn: true) { maker, cloud in
            try await maker.succeeds(["account", "data", "set", "theme", #"{"dark": true}"#])
            try await maker.succeeds(["account", "data", "set", "greeting", "--text", "7"])
            try await maker.succeeds(["account", "data", "set", "list", "-"], input: .text("[1, 2]\n"))
            try await maker.succeeds(["account", "data", "remove", "theme"])
            #expect(
                cloud.bodies("PUT /v1/user/custom_data") == [
                    ["theme": ["value": ["dark": true]]], ["greeting": ["value": "7"]], ["list": ["value": [1, 2]]],
                    ["theme": nil],
                ])
            let one = try await maker.succeeds(["account", "data", "get", "theme"])
            #expect(one.standardOutput == "{\n  \"dark\": true\n}\n")
            let document = try await maker.succeeds(["account", "data", "get", "--json"]).document
            #expect(document?["data"]?["theme"] == ["dark": true])
            #expect(document?["data"]?["empty"] == .null)
            // What a terminal would obey stays JSON's escape.
            let all = try await maker.succeeds(["account", "data", "get"]).standardOutput
            #expect(all.contains(#"hi \u001b[2J\u009b1m"#))
            #expect(try JSONValue(parsing: Array(all.utf8))["greeting"] == "hi \u{1B}[2J\u{9B}1m")
            expectFailure(
                try await maker.rainctl("account", "data", "get", "nothing", "--json"), 1, "other", "no_such_key")
        }
    }

    @Test("versions tells what the deployment speaks, and refuses one that we do not")
    func versions() async throws {
        let body = #"{"supported_versions":["v1"],"additional_info":[{"version":"v1","build_info":"b7"}]}"#
        try await AccountScene.run(["GET /apiversions": [(200, body), (200, #"{"supported_versions":["v9"]}"#)]]) {
            maker, _ in
            let document = try await maker.succeeds(["account", "versions", "--json"]).document
            #expect(document?["versions"] == [["version": "v1", "used": true, "build": "b7"]])
            let outcome = try await maker.rainctl("account", "versions", "--json")
            expectFailure(outcome, 78, "config", "unsupported")
            #expect(outcome.failure?["message"]?.string?.contains("supports v9, not v1") == true)
        }
    }
}
