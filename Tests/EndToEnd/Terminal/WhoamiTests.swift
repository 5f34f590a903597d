// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// What `rainctl whoami` takes from the cloud's answer. Its whole output is recorded in the unit tier (`RecordedOutputTests`).
@Suite("rainctl whoami")
struct WhoamiTests {
    private static let user = #"""
        {"user_id":"user-1","user_name":"maker@example.com","mfa":false,"super_admin":true,"name":"Ada","phone_number":"+1555",
        "email":"maker@example.com","quota":{"nodes":5},"user_roles":["owner"],"tags":["a:b"],"locale":"en",
        "admin_tags":["c:d"],"picture_url":"https://example.com/p","is_guest_user":true,"expires_on":1800000000}
        """#

    /// The members that come from the answer above.
    private static let members: [String: JSONValue] = [
        "profile": "sim", "user_name": "maker@example.com", "user_id": "user-1", "name": "Ada",
        "email": "maker@example.com", "phone_number": "+1555", "locale": "en", "picture_url": "https://example.com/p",
        "second_step": false, "administrator": "super", "roles": ["owner"], "tags": ["a:b"],
        "administrator_tags": ["c:d"], "quota": ["nodes": 5], "guest": true,
        "guest_expires_at": "2027-01-15T08:00:00.000Z", "schema_version": 1,
    ]

    @Test("shows everything that RainMaker's cloud knows about the user, and nothing else")
    func members() async throws {
        let bare = #"{"user_id":"user-1","user_name":"maker@example.com"}"#
        try await AccountScene.run(
            ["GET /v1/user2": [CannedCloud.profile, (200, Self.user), (200, Self.user), (200, bare)]], signedIn: true
        ) { maker, _ in
            let whole = try JSONValue(
                parsing: Array(try await maker.succeeds(["whoami", "--json"]).standardOutput.utf8))
            for (name, value) in Self.members { #expect(whole[name] == value, "\(name)") }
            #expect(Set((whole.members ?? []).map(\.name)) == Set(Self.members.keys))
            let text = try await maker.succeeds(["whoami"]).standardOutput
            #expect(text.hasPrefix("maker@example.com\n") && text.contains("\nadministrator: super\n"), "\(text)")
            let few = try JSONValue(parsing: Array(try await maker.succeeds(["whoami", "--json"]).standardOutput.utf8))
            #expect(few.members?.map(\.name) == ["schema_version", "profile", "user_name", "user_id"])
        }
    }
}
