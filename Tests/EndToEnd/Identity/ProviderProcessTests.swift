// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainHTTPCurl
import RainJSON
import RainKit
import TestSupport
import Testing

@Suite("Providers and several processes")
struct ProviderProcessTests {
    @Test(
        "a dozen processes whose token was ended renew it once, though the server ends a session whose old one comes again"
    )
    func herd() async throws {
        try await withTemporaryFolder { folder in
            let simulated = try await SimulatedIdentity.start("neo", in: folder)
            let maker = try Maker(folder)
            let base = try simulated.url("neo")
            try folder.write(SimulatedIdentity.password, to: "ada-password")
            let login = try await maker.rainctl(
                "login", SimulatedIdentity.user, "--provider", "neo", "--base-url", base, "--client-id", "native-1",
                "--password-file", folder.file("ada-password"), "--store", "file", "--json")
            #expect(login.status == 0, "\(login.standardOutput)")
            let ended = try await CurlHTTPClient().send(
                HTTPRequest(
                    method: .post, url: base + "/_sim/expire",
                    headers: [HTTPHeader("Content-Type", "application/json")],
                    body: Array(#"{"user":"ada@example.com"}"#.utf8)))
            #expect(ended.status == 200)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<12 {
                    group.addTask { try await maker.rainctl("whoami", "--provider", "neo").status }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.allSatisfy { $0 == 0 }, "\(statuses)")
            let renewals = try simulated.journal.entries(where: ["kind": "refresh_token"])
            #expect(renewals.count == 1, "\(renewals)")
        }
    }

    @Test("each provider says what it can do, and why it cannot do the rest")
    func capabilities() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let list = try await maker.rainctl("account", "providers", "--json")
            let providers = try #require(list.document?["providers"]?.array)
            let names = Set(providers.compactMap { $0["name"]?.string })
            let missing = Set(["rainmaker", "oidc", "neo", "spid", "liferay", "oclc", "cognito"]).subtracting(names)
            #expect(missing.isEmpty, "\(missing)")
            for provider in providers {
                for capability in provider["capabilities"]?.array ?? [] where capability["available"] == false {
                    #expect(
                        (capability["why_not"]?.string ?? "").count > 10, "\(provider["name"] ?? .null) \(capability)")
                }
            }
            let one = try await maker.rainctl("account", "providers", "oclc")
            #expect(one.standardOutput.contains("password: no. OCLC's passwords belong to libraries"))
            // The pages that people are shown beside a sign-in: terms, privacy, help.
            let links = try #require(providers.first { $0["name"] == "rainmaker" }?["links"])
            #expect(
                links["terms"]?.string?.hasPrefix("https://rainmaker.espressif.com/") == true && links["privacy"] != nil
            )
            let refused = try await maker.rainctl(
                "login", "--provider", "spid", "--client-id", "x", "--device-code", "--json")
            #expect(refused.status == 78 && refused.failure?["reason"] == "unsupported")
            let unknown = try await maker.rainctl("login", "--provider", "nobody", "--json")
            #expect(unknown.status == 64 && unknown.failure?["reason"] == "unknown_provider")
        }
    }

    @Test("a wrong definition of a user is reported by name, and does not affect others")
    func wrongProfiles() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            try folder.makeFolder("config/rainkit/providers")
            for (name, text, word) in [
                ("half", "{\"schemaVersion\":1,", "not JSON"),
                ("future", #"{"schemaVersion":9,"id":"future"}"#, "schemaVersion"),
                ("slip", #"{"schemaVersion":1,"extends":"oidc","id":"slip","endpiont":{}}"#, "endpiont"),
                ("long", String(repeating: " ", count: 70_000), "longer than"),
            ] {
                try folder.write(text, to: "config/rainkit/providers/\(name).json")
                let login = try await maker.rainctl("login", "--provider", name, "--json")
                #expect(login.status == 78, "\(login.standardOutput)")
                #expect(login.failure?["reason"] == "unreadable_definition")
                #expect(login.failure?["message"]?.string?.contains(word) == true, "\(login.standardOutput)")
            }
            let list = try await maker.rainctl("account", "providers")
            #expect(list.status == 0 && list.standardOutput.contains("oidc"))
            #expect(list.standardError.contains("slip.json"))
            // If a given id is in a file that is not used, the message names that file.
            let extending = #"{"schemaVersion":1,"extends":"oidc","id":"@","title":"Ours"}"#
            try folder.write(extending.replacing("@", with: "Company"), to: "config/rainkit/providers/ours.json")
            try folder.write(extending.replacing("@", with: "oidc"), to: "config/rainkit/providers/taken.json")
            let capital = try await maker.rainctl("account", "providers", "Company")
            #expect(capital.status == 78 && capital.standardError.contains("ours.json"), "\(capital.standardError)")
            for arguments in [["account", "providers", "oidc"], ["login", "--provider", "oidc", "--device-code"]] {
                let taken = try await maker.rainctl(arguments)
                #expect(taken.standardError.hasPrefix("warning: "), "\(taken.standardError)")
                #expect(taken.standardError.contains("taken.json"), "\(taken.standardError)")
            }
        }
    }
}
