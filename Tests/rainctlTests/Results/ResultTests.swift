// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainCore
import RainJSON
import TestSupport
import Testing

@testable import rainctl

/// Scripts read these documents: names, order, types and absence of members are a promise.
@Suite("rainctl results")
struct ResultTests {
    @Test("each result has the members and the lines that it always had", arguments: GoldenResult.all)
    func golden(golden: GoldenResult) { golden.expectHolds() }

    @Test("every result type is among those")
    func complete() throws {
        let folder = Repository.path("Sources/rainctl/Results")
        var names: [String] = []
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder) where file.hasSuffix(".swift") {
            names += try readFile("\(folder)/\(file)").matches(of: /struct (\w+): CommandResult/).map { "\($0.1)" }
        }
        #expect(names.count > 30)
        #expect(Set(names) == Set(GoldenResult.all.map(\.typeName)))
    }

    @Test("a document begins with the schema's version and is indented by two")
    func document() {
        #expect(
            JSONText.document(ClaimResult(nodeID: "N1", claimed: true))
                == "{\n  \"schema_version\": 1,\n  \"node_id\": \"N1\",\n  \"claimed\": true\n}\n")
        #expect(
            JSONText.document(ErrorResult(CommandFailure(.usage, message: "No."))).hasPrefix(
                "{\n  \"schema_version\": 1,\n  \"error\": {\n"))
    }

    @Test("only the two commands that exist to print a secret have a result that holds one")
    func secrets() {
        func holdsSecret(_ value: Any) -> Bool {
            value is Secret || Mirror(reflecting: value).children.contains { holdsSecret($0.value) }
        }
        let holders = Set(GoldenResult.all.filter { holdsSecret($0.result) }.map(\.typeName))
        #expect(holders == ["ExchangeResult", "WebSessionResult"])
        // Nothing can slip one into a document by declaring it: that would not compile.
        #expect(!(Secret("planted") as Any is any Encodable))
    }

    @Test("whoami shows everything that RainMaker's cloud knows, and nothing that it does not")
    func whoami() async throws {
        let user = #"""
            {"user_id":"user-1","user_name":"maker@example.com","mfa":false,"super_admin":true,"name":"Ada","phone_number":"+1555",
            "email":"maker@example.com","quota":{"nodes":5},"user_roles":["owner"],"tags":["a:b"],"locale":"en",
            "admin_tags":["c:d"],"picture_url":"https://example.com/p","is_guest_user":true,"expires_on":1800000000}
            """#
        let bare = #"{"user_id":"user-1","user_name":"maker@example.com"}"#
        try await AccountScene.run(
            ["GET /v1/user2": [CannedCloud.profile, (200, user), (200, user), (200, bare)]], signedIn: true
        ) { maker, _ in
            let whole = try await maker.succeeds(["whoami", "--json"]).standardOutput
            #expect(
                whole == """
                    {
                      "schema_version": 1,
                      "profile": "sim",
                      "user_name": "maker@example.com",
                      "user_id": "user-1",
                      "name": "Ada",
                      "email": "maker@example.com",
                      "phone_number": "+1555",
                      "locale": "en",
                      "picture_url": "https://example.com/p",
                      "second_step": false,
                      "administrator": "super",
                      "roles": [
                        "owner"
                      ],
                      "tags": [
                        "a:b"
                      ],
                      "administrator_tags": [
                        "c:d"
                      ],
                      "quota": {
                        "nodes": 5
                      },
                      "guest": true,
                      "guest_expires_at": "2027-01-15T08:00:00.000Z"
                    }

                    """)
            let lines = try await maker.succeeds(["whoami"]).standardOutput
            #expect(
                lines == """
                    maker@example.com
                    user id: user-1
                    profile: sim
                    name: Ada
                    e-mail: maker@example.com
                    telephone: +1555
                    locale: en
                    picture: https://example.com/p
                    second step: off
                    administrator: super
                    roles: owner
                    tags: a:b
                    administrator tags: c:d
                    quota: {"nodes":5}
                    guest until 2027-01-15T08:00:00.000Z

                    """)
            let few = try await maker.succeeds(["whoami", "--json"]).standardOutput
            #expect(
                few == """
                    {
                      "schema_version": 1,
                      "profile": "sim",
                      "user_name": "maker@example.com",
                      "user_id": "user-1"
                    }

                    """)
        }
    }
}
