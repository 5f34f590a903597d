// SPDX-License-Identifier: Apache-2.0
import Glibc
import IdentityProviders
import RainAccount
import RainCore
import RainHTTPCurl
import RainJSON
import RainKit
import RainKitTesting
import TestSupport
import Testing

/// Our engine against an OpenID provider that others wrote: Glewlwyd 2.7, by HTTP on loopback.
@Suite("Signing in at Glewlwyd")
struct GlewlwydTests {
    private static let session = "state/rainkit/sessions"

    /// Glewlwyd refuses some things with a status and no body, where the RFC has an error's name. That is a person's own profile:
    /// nothing is compiled for it.
    static let profile = """
        {"schemaVersion":1,"extends":"oidc","id":"glewlwyd","title":"Glewlwyd 2.7",
         "errors":[{"empty":true,"status":400,"grant":"refreshToken","reason":"invalid_grant"},
                   {"empty":true,"status":403,"grant":"password","reason":"invalid_credentials"}]}
        """

    static func registry() throws -> ProviderRegistry {
        var registry = ProviderRegistry.builtIn
        try registry.add(parsing: Array(profile.utf8), origin: "glewlwyd.json")
        return registry
    }

    /// Runs `body` with a server, and with rainctl for a person whose browser signs in as ada.
    private func withServer(
        environment: [String: String] = [:], _ body: (Scene) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            // The server's own, and that of the redirect URI, which Glewlwyd compares with its port.
            let ports = "\(try LoopbackServer.assignablePort()) \(try LoopbackServer.assignablePort())"
            let server = try await ForeignIdentityServer.start(
                "glewlwyd.py", environment: environment.merging(["GLEWLWYD_PORTS": ports]) { $1 }, in: folder)
            defer { server.process.closeInput() }
            folder.writePrivately(Array("web-1-secret".utf8), to: "client-secret")
            try folder.write("correct-horse", to: "ada-password")
            try folder.makeFolder("config/rainkit/providers")
            try folder.write(Self.profile, to: "config/rainkit/providers/glewlwyd.json")
            try await body(
                Scene(
                    maker: try Maker(folder), issuer: try server.text("issuer"),
                    port: server.ready["port"]?.integer ?? 0))
        }
    }

    struct Scene: Sendable {
        let maker: Maker
        let issuer: String
        let port: Int64

        var server: [String] { ["--provider", "glewlwyd", "--set", "issuer=\(issuer)", "--scope", "openid profile"] }
        var native: [String] { server + ["--client-id", "native-1"] }
        var web: [String] {
            server + ["--client-id", "web-1", "--client-secret-file", maker.folder.file("client-secret")]
        }

        func browser(_ more: [String: String] = [:]) async throws -> [String: String] {
            let python = try await ForeignIdentityServer.python()
            return ["BROWSER": "\(python) \(ForeignIdentityServer.path("glewlwyd.py")) visit"].merging(more) { $1 }
        }

        func login(_ options: [String], browser: [String: String] = [:]) async throws -> Maker.Outcome {
            try await maker.rainctl(["login"] + options + ["--json", "--store", "file"], environment: browser)
        }

        func withBrowser(_ options: [String], deny: Bool = false) async throws -> Maker.Outcome {
            try await login(
                options + ["--browser", "--callback-port", "\(port)", "--timeout", "240"],
                browser: try await browser(deny ? ["GLEWLWYD_DENY": "1"] : [:]))
        }

        /// The one stored session.
        func stored() throws -> (path: String, session: SavedSession) {
            let folder = maker.folder.file(GlewlwydTests.session)
            let name = try #require(try files(in: folder).first { $0.hasSuffix(".json") })
            return ("\(folder)/\(name)", try SavedSession(serialized: Secret(try readFile("\(folder)/\(name)"))))
        }

        /// The provider in this process.
        func provider(clientID: String, secret: String? = nil) throws -> ConfiguredProvider {
            try GlewlwydTests.registry().provider(
                "glewlwyd",
                settings: ProviderSettings(
                    clientID: clientID, clientSecret: secret.map { Secret($0) }, scope: ["openid"],
                    parameters: ["issuer": issuer]),
                tools: RainKitTools().providerTools(http: CurlHTTPClient(CurlConfiguration())))
        }
    }

    @Test("discovery, a code with PKCE, the user, a rotating refresh token, its reuse, and the end")
    func code() async throws {
        try await withServer { scene in
            let login = try await scene.withBrowser(scene.web)
            #expect(login.status == 0, "\(login.standardOutput) \(login.standardError)")
            #expect(login.document?["profile"] == "glewlwyd")
            let who = try await scene.maker.rainctl("whoami", "--provider", "glewlwyd", "--json")
            #expect(who.document?["name"] == "Ada Lovelace", "\(who.standardOutput)")
            let offline = try await scene.maker.rainctl("whoami", "--provider", "glewlwyd", "--offline", "--json")
            #expect(offline.document?["user_id"] == who.document?["user_id"])

            let (path, first) = try scene.stored()
            // Its id token is signed, by a key that it publishes; another program's would not have been taken.
            let keys = try JSONValue(
                parsing: try await CurlHTTPClient().send(HTTPRequest(method: .get, url: scene.issuer + "/jwks")).body)
            #expect(keys["keys"]?.array?.contains { $0["kty"] == "RSA" } == true, "\(keys)")
            #expect(first.tokens.identity?.revealString().hasPrefix("eyJ") == true)
            let renewed = try await scene.maker.rainctl("account", "refresh", "--provider", "glewlwyd", "--json")
            #expect(renewed.status == 0, "\(renewed.standardOutput)")
            let second = try scene.stored().session
            #expect(second.tokens.refresh != first.tokens.refresh && second.tokens.access != first.tokens.access)

            // The introspection that the server offers to its confidential client.
            let web = try scene.provider(clientID: "web-1", secret: "web-1-secret")
            #expect(try await web.introspect(second.tokens).isActive)
            let logout = try await scene.maker.rainctl("logout", "--provider", "glewlwyd", "--json")
            #expect(logout.document?["revoked"] == true, "\(logout.standardOutput) \(logout.standardError)")
            #expect(try await !web.introspect(second.tokens).isActive)

            // The refresh token of before was used up, and was revoked with the other: the session is over, once and for all.
            let file = try #require(fopen(path, "we"))
            fputs(first.serialized.revealString(), file)
            fclose(file)
            chmod(path, 0o600)
            let reused = try await scene.maker.rainctl(
                ["account", "refresh", "--provider", "glewlwyd", "--account", first.userName, "--json"])
            #expect(reused.status == 77 && reused.failure?["reason"] == "expired", "\(reused.standardOutput)")
        }
    }

    @Test("a client without a secret proves itself by its code verifier, and learns that it may not revoke")
    func publicClient() async throws {
        try await withServer { scene in
            let login = try await scene.withBrowser(scene.native)
            #expect(login.status == 0, "\(login.standardOutput) \(login.standardError)")
            #expect(try await scene.maker.rainctl("account", "refresh", "--provider", "glewlwyd").status == 0)
            // Glewlwyd revokes for clients with a secret only. Here the session ends anyway, and the message reports that.
            let logout = try await scene.maker.rainctl("logout", "--provider", "glewlwyd", "--json")
            #expect(logout.status == 0 && logout.document?["revoked"] == false, "\(logout.standardOutput)")
            #expect(try await scene.maker.rainctl("whoami", "--provider", "glewlwyd").status == 77)
        }
    }

    @Test("the implicit grant: the fragment comes back through the loopback page")
    func implicit() async throws {
        try await withServer { scene in
            let login = try await scene.withBrowser(scene.native + ["--mode", "implicit"])
            #expect(login.status == 0, "\(login.standardOutput) \(login.standardError)")
            let status = try await scene.maker.rainctl("account", "status", "--provider", "glewlwyd", "--json")
            #expect(status.document?["renewable"] == false)
            #expect(status.document?["expired"] == false)
            let who = try await scene.maker.rainctl("whoami", "--provider", "glewlwyd", "--json")
            #expect(who.status == 0, "\(who.standardOutput)")
        }
    }

    @Test("a refusal at the page is reported, and nothing is stored")
    func refused() async throws {
        try await withServer { scene in
            let login = try await scene.withBrowser(scene.native, deny: true)
            #expect(login.status != 0)
            #expect(login.failure?["reason"] == "rejected", "\(login.standardOutput)")
            #expect(try await scene.maker.rainctl("whoami", "--provider", "glewlwyd").status == 77)
        }
    }

    @Test("the password grant, and a wrong password")
    func password() async throws {
        try await withServer { scene in
            let right = try await scene.login(
                ["ada", "--password-file", scene.maker.folder.file("ada-password")] + scene.web)
            #expect(right.status == 0, "\(right.standardOutput)")
            let wrong = try await scene.login(["ada", "--password-file", scene.maker.folder.file("wrong")] + scene.web)
            #expect(wrong.status == 77 && wrong.failure?["reason"] == "invalid_credentials", "\(wrong.standardOutput)")
        }
    }

    @Test("the engine keeps every provider's promises there: refusals, faults, renewals, revocation, silence")
    func conformance() async throws {
        try await withServer { scene in
            let plain = try scene.provider(clientID: "web-1", secret: "web-1-secret")
            try await IdentityProviderConformance.check {
                IdentityProviderConformance.Subject(
                    http: CurlHTTPClient(CurlConfiguration()),
                    right: { .password(user: "ada", password: Secret("correct-horse")) },
                    wrong: .password(user: "ada", password: Secret("planted-but-wrong")),
                    secrets: ["correct-horse", "planted-but-wrong", "web-1-secret"],
                    revoke: { tokens in try await plain.signOut(tokens, everywhere: false) }
                ) { http, clock in
                    try Self.registry().provider(
                        "glewlwyd", settings: plain.settings,
                        tools: RainKitTools().providerTools(http: http, clock: clock))
                }
            }
        }
    }

    @Test("client credentials: a gateway's own token, renewed by the same credentials")
    func clientCredentials() async throws {
        try await withServer { scene in
            let login = try await scene.login(scene.web + ["--mode", "client-credentials"])
            #expect(login.status == 0, "\(login.standardOutput)")
            #expect(login.document?["user_id"] == "web-1")
            let header = try await scene.maker.rainctl("account", "header", "--provider", "glewlwyd")
            #expect(header.standardOutput.hasPrefix("Authorization: Bearer ey"))
            let before = try scene.stored().session.tokens
            #expect(before.refresh == nil)
            #expect(try await scene.maker.rainctl("account", "refresh", "--provider", "glewlwyd").status == 0)
            let after = try scene.stored().session.tokens
            let web = try scene.provider(clientID: "web-1", secret: "web-1-secret")
            #expect(try await web.introspect(after).isActive)
            // A client without a secret gets this error.
            let none = try await scene.login(scene.native + ["--mode", "client-credentials"])
            #expect(none.status != 0)
        }
    }

    @Test("a headless gateway: the code is entered elsewhere, and the waiting command ends signed in")
    func device() async throws {
        try await withServer { scene in
            let child = try await scene.maker.start(
                ["login", "--device-code", "--json", "--store", "file"] + scene.native)
            defer { child.kill() }
            let said = try #require(try await child.errorLine())
            let start = try #require(said.ranges(of: "(or open ").first?.upperBound)
            let page = String(said[start...].prefix { $0 != "," })
            let visit = try await run(
                try await ForeignIdentityServer.python(), [ForeignIdentityServer.path("glewlwyd.py"), "visit", page])
            #expect(visit.standardError.contains("deviceComplete"), "\(visit.standardError)")
            #expect(try await child.wait() == .exited(0), "\(child.standardOutput)")
            #expect(try scene.stored().session.tokens.refresh != nil)
        }
    }

    @Test("a client that asks too fast is slowed down by the server, adapts, and still gets the tokens")
    func slowDown() async throws {
        try await withServer(environment: ["GLEWLWYD_INTERVAL": "2"]) { scene in
            let provider = try scene.provider(clientID: "native-1")
            var authorization = try await provider.beginDeviceSignIn()
            #expect(authorization.interval == 2)
            authorization.interval = 1
            let clock = HurriedClock()
            let page = try #require(authorization.verificationURIComplete)
            async let outcome = provider.awaitDeviceSignIn(authorization, by: clock)
            // At twenty times the pace the second question is too early: the server says slow_down, for real.
            try await clock.waitForSleep(of: .seconds(6))
            let visit = try await run(
                try await ForeignIdentityServer.python(), [ForeignIdentityServer.path("glewlwyd.py"), "visit", page])
            #expect(visit.standardError.contains("deviceComplete"), "\(visit.standardError)")
            guard case .tokens(let response, _, _) = try await outcome else {
                Issue.record("no tokens")
                return
            }
            #expect(response.refreshToken != nil)
        }
    }

    @Test("codes that nobody entered end by the server's word")
    func expired() async throws {
        try await withServer(environment: ["GLEWLWYD_EXPIRES": "1"]) { scene in
            let provider = try scene.provider(clientID: "native-1")
            var authorization = try await provider.beginDeviceSignIn()
            // Ours would end it first.
            authorization.expiresIn = 600
            authorization.interval = 2
            do throws(AccountError) {
                _ = try await provider.awaitDeviceSignIn(authorization)
                Issue.record("signed in")
            } catch {
                #expect([.codeExpired, .accessDenied, .invalidGrant].contains(error.code), "\(error)")
            }
        }
    }
}

/// Sleeps a twentieth of what it is asked to, and tells what it was asked.
private final class HurriedClock: Clock {
    typealias Instant = ContinuousClock.Instant
    private let real = ContinuousClock()
    private let asked = AsyncStream.makeStream(of: Duration.self)
    private let start = ContinuousClock.now

    var now: Instant { start + (real.now - start) * 20 }
    var minimumResolution: Duration { real.minimumResolution }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let wait = deadline - now
        asked.continuation.yield(wait)
        try await real.sleep(for: wait / 20)
    }

    /// Returns when somebody has wanted to sleep for about so long.
    func waitForSleep(of wanted: Duration) async throws {
        for await wait in asked.stream where wait >= wanted * 0.9 { return }
    }
}
