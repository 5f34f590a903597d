// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import TestSupport
import Testing

@Suite("How a sign-in at a provider is chosen, and what is reported before a browser opens")
struct ProviderModeTests {
    private func withSimulator(
        _ system: String, _ body: (Maker, String, TemporaryFolder) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let simulated = try await SimulatedIdentity.start(system, in: folder)
            try await body(try Maker(folder), try simulated.url(system), folder)
        }
    }

    private static let institutions = [
        "--set", "contextInstitutionId=128807", "--set", "authenticatingInstitutionId=128807",
    ]

    @Test(
        "OCLC's usual way is the user-agent flow: its page is asked for a token", arguments: [[], ["--mode", "token"]])
    func userAgentFlow(mode: [String]) async throws {
        try await withSimulator("oclc") { maker, base, _ in
            let child = try await maker.start(
                ["login", "--provider", "oclc", "--base-url", base + "/oauth2", "--client-id", "wskey-1", "--no-save"]
                    + Self.institutions + mode + ["--no-browser", "--redirect", "loopback"])
            defer { child.kill() }
            let page = try await ProviderBrowserTests.page(of: child)
            #expect(page.contains("response_type=token&"), "\(page)")
        }
    }

    @Test(
        "a missing client secret is reported before any page is shown",
        arguments: [
            ("spid", "spid", "", [String]()), ("oclc", "oclc", "/oauth2", institutions + ["--mode", "code"]),
            ("oclc-oauth", "oclc", "", institutions),
        ])
    func missingSecret(provider: String, system: String, path: String, options: [String]) async throws {
        try await withSimulator(system) { maker, base, _ in
            let login = try await maker.rainctl(
                ["login", "--provider", provider, "--base-url", base + path, "--client-id", "wskey-1", "--json"]
                    + options
                    + ["--no-save", "--no-browser", "--redirect", "loopback", "--timeout", "120"])
            #expect(login.status == 64 && login.failure?["reason"] == "missing_parameter", "\(login.standardOutput)")
            #expect(!login.standardError.contains("http://"), "\(login.standardError)")
        }
    }

    @Test("a session that holds a password hands out no token, and not the password")
    func noPassword() async throws {
        try await withSimulator("liferay") { maker, base, folder in
            try folder.write(SimulatedIdentity.password, to: "ada-password")
            let login = try await maker.rainctl(
                "login", SimulatedIdentity.user, "--provider", "liferay", "--base-url", base, "--password-file",
                folder.file("ada-password"), "--store", "file", "--save-credentials", "--json")
            #expect(login.status == 0, "\(login.standardOutput)")
            for options in [[], ["--json"]] {
                let token = try await maker.rainctl(["account", "token", "--provider", "liferay"] + options)
                #expect(token.status == 78, "\(token.standardOutput)")
                let said = token.standardOutput + token.standardError
                #expect(!said.contains(SimulatedIdentity.password) && said.contains("no token"))
            }
            #expect(try await maker.rainctl("whoami", "--provider", "liferay").status == 0)
            let logout = try await maker.rainctl("logout", "--provider", "liferay", "--json")
            #expect(logout.document?["revoked"] == true && logout.document?["still_valid"] == nil)
        }
    }

    @Test("settings of the last sign-in that keep the user out are named, and one is forgotten on request")
    func recalled() async throws {
        try await withSimulator("liferay") { maker, base, folder in
            try folder.write(SimulatedIdentity.password, to: "ada-password")
            let login = { (user: String, more: [String]) in
                [
                    "login", user, "--provider", "liferay", "--password-file", folder.file("ada-password"), "--store",
                    "file", "--save-credentials", "--json",
                ] + more
            }
            let settings = ["--base-url", base, "--set", "contextCompanyId=10157", "--set", "loginBy=email"]
            #expect(try await maker.rainctl(login(SimulatedIdentity.user, settings)).status == 0)
            // Another kind of name than the remembered one.
            let refused = try await maker.rainctl(login("ada", []))
            let message = refused.failure?["message"]?.string ?? ""
            #expect(refused.status == 77 && message.contains("loginBy=email"), "\(message)")
            #expect(
                message.contains("contextCompanyId=10157") && message.contains("rainctl login --provider liferay --set")
            )
            #expect(try await maker.rainctl(login(SimulatedIdentity.user, ["--set", "loginBy="])).status == 0)
            let later = try await maker.rainctl(login("ada", []))
            #expect(later.failure?["message"]?.string?.contains("loginBy=email") == false, "\(later.standardOutput)")
        }
    }

    @Test("a gate in front of a portal is named, in every mode, with the options for it")
    func gate() async throws {
        try await withTemporaryFolder { folder in
            let simulated = try await SimulatedIdentity.start("liferay", in: folder)
            try await simulated.control(
                "liferay", "settings", ["challenge": ["user": "gate", "password": "planted-gate"]])
            let (maker, base) = (try Maker(folder), try simulated.url("liferay"))
            folder.writePrivately(Array("planted-gate".utf8), to: "gate")
            folder.writePrivately(Array("screens-2-secret".utf8), to: "client-secret")
            try folder.write(SimulatedIdentity.password, to: "ada-password")
            let gate = ["--gate-user", "gate", "--gate-password-file", folder.file("gate")]
            for (mode, isPassed) in [("basic", false), ("oauth2UsernameAndPassword", false), ("cookie", true)] {
                let login = [
                    "login", SimulatedIdentity.user, "--provider", "liferay", "--base-url", base, "--mode", mode,
                    "--client-id", "screens-2", "--client-secret-file", folder.file("client-secret"),
                    "--password-file", folder.file("ada-password"), "--no-save", "--json",
                ]
                let bare = try await maker.rainctl(login)
                #expect(
                    bare.status != 0 && bare.failure?["message"]?.string?.contains("--gate-user") == true,
                    "\(bare.standardOutput)")
                let given = try await maker.rainctl(login + gate)
                #expect((given.status == 0) == isPassed, "\(mode): \(given.standardOutput)")
                if !isPassed {
                    #expect(
                        given.failure?["message"]?.string?.contains("the mode cookie") == true,
                        "\(given.standardOutput)")
                }
                #expect(!(given.standardOutput + given.standardError).contains("planted-gate"))
            }
        }
    }

    @Test("a sign-out says which token the provider still takes, and until when")
    func stillValid() async throws {
        try await withSimulator("oclc") { maker, base, folder in
            folder.writePrivately(Array("wskey-1-secret".utf8), to: "client-secret")
            let login = [
                "login", "--provider", "oclc", "--base-url", base + "/oauth2", "--client-id", "wskey-1", "--mode",
                "client-credentials", "--client-secret-file", folder.file("client-secret"), "--scope", "WMS_NCIP",
                "--store",
                "file",
            ]
            #expect(try await maker.rainctl(login + Self.institutions).status == 0)
            let logout = try await maker.rainctl("logout", "--provider", "oclc", "--json")
            #expect(logout.status == 0 && logout.document?["revoked"] == false, "\(logout.standardOutput)")
            let left = try #require(logout.document?["still_valid"]?.array)
            #expect(left.count == 1 && left.first?["token"] == "access_token" && left.first?["certain"] == true)
            let end = try #require(left.first?["expires_at"]?.string)
            #expect(
                logout.standardError.contains("still accepts the access token (until \(end))"),
                "\(logout.standardError)")
            #expect(try await maker.rainctl(login + Self.institutions).status == 0)
            let text = try await maker.rainctl("logout", "--provider", "oclc")
            #expect(text.standardOutput == "Signed out on this machine.\n", "\(text.standardOutput)")
        }
    }
}
