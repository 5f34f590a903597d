// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("A token that goes in the URL, in the commands for scripts")
struct QueryTokenTests {
    private static let definition = """
        {"schemaVersion": 1, "extends": "spid", "id": "spid-query", "placement": { "kind": "query", "name": "oauth_token" }}
        """

    @Test("account curl sends it, and shows it nowhere; account header has it for services that take a header")
    func commands() async throws {
        try await withTemporaryFolder { folder in
            let simulated = try await SimulatedIdentity.start("spid", in: folder)
            let base = try simulated.url("spid")
            try folder.makeFolder("config/rainkit/providers")
            try folder.write(Self.definition, to: "config/rainkit/providers/spid-query.json")
            folder.writePrivately(Array("app-1-secret".utf8), to: "app")
            try folder.write(SimulatedIdentity.password, to: "ada")
            let maker = try Maker(folder)
            let login = try await maker.rainctl(
                "login", SimulatedIdentity.user, "--provider", "spid-query", "--base-url", base, "--client-id", "app-1",
                "--client-secret-file", folder.file("app"), "--password-file", folder.file("ada"), "--store", "file")
            #expect(login.status == 0, "\(login.standardError)")
            let provider = ["--provider", "spid-query"]
            let token = try await maker.rainctl(["account", "token"] + provider).standardOutput.dropLast()

            for target in ["/api/2/user/1001", base + "/api/2/user/1001?fields=all"] {
                let curl = try await maker.rainctl(["account", "curl"] + provider + ["--", "-s", target])
                #expect(curl.status == 0 && curl.standardOutput.contains("ada@example.com"), "\(curl.standardOutput)")
                #expect(!(curl.standardOutput + curl.standardError).contains(token))
            }
            for format in ["%{url_effective}", "%{json}", "%{urle.query}"] {
                let shown = try await maker.rainctl(
                    ["account", "curl"] + provider + ["--json", "--", "-s", "-w", format, "/api/2/user/1001"])
                #expect(shown.status == 64 && shown.failure?["reason"] == "refused_option", "\(shown.standardOutput)")
            }

            let header = try await maker.rainctl(["account", "header"] + provider)
            #expect(header.status == 0 && header.standardOutput == "Authorization: Bearer \(token)\n")
            #expect(header.standardError.contains("oauth_token"), "\(header.standardError)")
            let curl = try await ChildProcess.start(
                "/usr/bin/curl", ["-sSf", "-H", String(header.standardOutput.dropLast()), base + "/api/2/user/1001"])
            #expect(try await curl.wait() == .exited(0))
            try await simulated.process.terminate()
        }
    }

    @Test("a portal's cookies go with curl, too")
    func cookies() async throws {
        try await withTemporaryFolder { folder in
            let simulated = try await SimulatedIdentity.start("liferay", in: folder)
            let base = try simulated.url("liferay")
            try folder.write(SimulatedIdentity.password, to: "ada")
            let maker = try Maker(folder)
            let login = try await maker.rainctl(
                "login", SimulatedIdentity.user, "--provider", "liferay", "--base-url", base, "--mode", "cookie",
                "--password-file", folder.file("ada"), "--store", "file", "--save-credentials")
            #expect(login.status == 0, "\(login.standardError)")
            let curl = try await maker.rainctl(
                "account", "curl", "--provider", "liferay", "--", "-s", "/documents/10184/0/private.txt")
            #expect(
                curl.status == 0 && curl.standardOutput == "for members\n",
                "\(curl.standardOutput)\(curl.standardError)")
            try await simulated.process.terminate()
        }
    }
}
