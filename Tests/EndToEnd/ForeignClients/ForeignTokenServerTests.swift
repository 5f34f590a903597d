// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import RainKit
import TestSupport
import Testing

/// Our engine against servers that others wrote: Authlib for RFC 7523, and Amazon Cognito's JSON calls as moto plays them.
@Suite("Signing in at Authlib and moto")
struct ForeignTokenServerTests {
    @Test("a signed assertion becomes a token; one that is expired, or for nobody, is refused")
    func assertions() async throws {
        try await withTemporaryFolder { folder in
            let server = try await ForeignIdentityServer.start("authlib_server.py", in: folder)
            defer { server.process.closeInput() }
            let base = try server.text("base")
            let maker = try Maker(folder)
            // A profile of the user's own: nothing is compiled for it.
            try folder.makeFolder("config/rainkit/providers")
            try folder.write(
                """
                {"schemaVersion":1,"id":"authlib","title":"A server made of Authlib","environments":{"here":"\(base)"},
                 "defaultEnvironment":"here","client":{"id":"backend-1","authentication":"basic","secretFile":"\(folder.file("secret"))"},
                 "endpoints":{"token":"{base}/token","user":"{base}/me","introspect":"{base}/introspect"},
                 "grants":{"assertion":{"clientAuthentication":"basic"}}}
                """, to: "config/rainkit/providers/authlib.json")
            folder.writePrivately(Array("backend-1-secret".utf8), to: "secret")
            let python = try await ForeignIdentityServer.python()
            func login(_ subject: String, life: Int = 300, key: [String] = []) async throws -> Maker.Outcome {
                let script = ForeignIdentityServer.path("authlib_server.py")
                let made = try await run(
                    python,
                    [
                        script, "assertion", "\(base)/token", subject, "the assertion's own key, long enough for HMAC",
                        "\(life)",
                    ])
                try folder.write(made.standardOutput, to: "assertion")
                return try await maker.rainctl(
                    "login", "--provider", "authlib", "--assertion-file", folder.file("assertion"), "--store", "file",
                    "--json")
            }
            let login1 = try await login("ada")
            #expect(login1.status == 0, "\(login1.standardOutput) \(login1.standardError)")
            #expect(login1.document?["user_id"] == "ada")
            let who = try await maker.rainctl("whoami", "--provider", "authlib", "--json")
            #expect(who.document?["name"] == "Ada Lovelace", "\(who.standardOutput)")
            for refused in [try await login("eve"), try await login("ada", life: -300)] {
                #expect(
                    refused.status == 77 && refused.failure?["reason"] == "invalid_grant", "\(refused.standardOutput)")
            }
        }
    }

    @Test("Cognito's JSON calls: right, wrong, unknown and unconfirmed, and a renewal that keeps its refresh token")
    func cognito() async throws {
        try await withTemporaryFolder { folder in
            let server = try await ForeignIdentityServer.start("moto_cognito.py", in: folder)
            defer { server.process.closeInput() }
            let (base, client) = (try server.text("base"), try server.text("clientID"))
            let maker = try Maker(folder)
            try folder.write("Correct-horse1", to: "right")
            func login(_ user: String, _ file: String) async throws -> Maker.Outcome {
                try await maker.rainctl(
                    "login", user, "--provider", "cognito", "--base-url", base, "--client-id", client,
                    "--password-file",
                    folder.file(file), "--store", "file", "--json")
            }
            for (user, file, reason) in [
                ("ada", "wrong", "invalid_credentials"), ("bob", "right", "unknown_user"),
                ("eve", "right", "unverified_user"),
            ] {
                let refused = try await login(user, file)
                #expect(refused.status == 77)
                #expect(refused.failure?["reason"] == .string(reason), "\(refused.standardOutput)")
            }
            let login1 = try await login("ada", "right")
            #expect(login1.status == 0, "\(login1.standardOutput)")
            let who = try await maker.rainctl("whoami", "--provider", "cognito", "--json")
            #expect(who.document?["email"] == "ada@example.com", "\(who.standardOutput)")
            let path = folder.file("state/rainkit/sessions")
            let stored = { () throws -> SavedSession in
                let name = try #require(try files(in: path).first { $0.hasSuffix(".json") })
                return try SavedSession(serialized: Secret(try readFile("\(path)/\(name)")))
            }
            let before = try stored()
            let renewed = try await maker.rainctl("account", "refresh", "--provider", "cognito", "--json")
            #expect(renewed.status == 0, "\(renewed.standardOutput)")
            #expect(try stored().tokens.refresh == before.tokens.refresh)
            #expect(try stored().tokens.access != before.tokens.access)
        }
    }
}
