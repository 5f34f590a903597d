// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import TestSupport
import Testing

@testable import RainAccount

@Suite("Settings that end with a slash")
struct SlashTests {
    /// Auth0's and Authentik's issuers end with a slash, Keycloak's do not.
    static let issuers: [(issuer: String, asked: String)] = [
        ("http://127.0.0.1:1", "/.well-known/openid-configuration"),
        ("http://127.0.0.1:1/", "/.well-known/openid-configuration"),
        ("http://127.0.0.1:1//", "/.well-known/openid-configuration"),
        ("http://127.0.0.1:1/application/o/rainctl/", "/application/o/rainctl/.well-known/openid-configuration"),
        ("http://127.0.0.1:1/realms/people", "/realms/people/.well-known/openid-configuration"),
        ("http://127.0.0.1:1/a/b//", "/a/b/.well-known/openid-configuration"),
    ]

    private func oidc(_ issuer: String, _ more: [String: String] = [:]) throws -> (
        ConfiguredProvider, ScriptedHTTPClient
    ) {
        let (http, clock) = (ScriptedHTTPClient(), ManualWallClock())
        let settings = ProviderSettings(clientID: "app-1", parameters: ["issuer": issuer].merging(more) { $1 })
        let tools = ProviderBench.tools(http, clock)
        return (try ProviderRegistry.builtIn.provider("oidc", settings: settings, tools: tools), http)
    }

    private func metadata(_ issuer: String) -> String {
        #"{"issuer":"\#(issuer)","token_endpoint":"http://127.0.0.1:1/token","userinfo_endpoint":"http://127.0.0.1:1/me"}"#
    }

    @Test(
        "an issuer is asked at the address of OpenID Connect Discovery, with or without a slash at its end",
        arguments: issuers
    )
    func discovery(issuer: String, asked: String) async throws {
        let (provider, http) = try oidc(issuer)
        http.expect(.get, asked, metadata(issuer))
        #expect(try await provider.issuer() == issuer)
        #expect(http.requests.map(\.url) == [ServerMetadata.url(of: issuer)])
        http.expect(.post, "/token", #"{"access_token":"a","token_type":"Bearer"}"#)
        http.expect(.get, "/me", #"{"sub":"ada"}"#)
        let tokens = try await provider.signIn(.password(user: "ada", password: Secret("p")))
        #expect(try await provider.user(tokens).userID == UserID("ada"))
        try http.finish()
    }

    @Test(
        "two issuers that differ only in the slash are different, and the message names the slash",
        arguments: [
            ("http://127.0.0.1:1", "http://127.0.0.1:1/", true), ("http://127.0.0.1:1/", "http://127.0.0.1:1", true),
            ("http://127.0.0.1:1/a/", "http://127.0.0.1:1/a", true),
            ("http://127.0.0.1:1/a", "http://127.0.0.1:1/b", false),
            ("http://127.0.0.1:1", "https://127.0.0.1:1/", false),
        ])
    func twoIssuers(given: String, found: String, isSlash: Bool) async throws {
        let (provider, http) = try oidc(given)
        let place = ServerMetadata.url(of: given).dropFirst("http://127.0.0.1:1".count)
        http.expect(.get, String(place), metadata(found))
        let error = await accountError { () throws(AccountError) in try await provider.serverMetadata() }
        #expect(error?.code == .untrustedAnswer)
        let message = error?.message ?? ""
        #expect(message.contains(found) && message.contains(given), "\(message)")
        #expect(message.contains("only in the \"/\" at the end") == isSlash, "\(message)")
        #expect(error?.remedies == (isSlash ? [.parameter(name: "issuer")] : []))
    }

    @Test("the address of a description is not an issuer, and nothing is sent", arguments: ["", "/"])
    func descriptionAsIssuer(end: String) async throws {
        let given = "http://127.0.0.1:1/a/.well-known/openid-configuration\(end)"
        let (provider, http) = try oidc(given)
        let error = await accountError { () throws(AccountError) in try await provider.serverMetadata() }
        #expect(error?.code == .invalidConfiguration && error?.remedies == [.parameter(name: "issuer")])
        #expect(
            error?.message.hasPrefix("give the issuer without /.well-known/openid-configuration: ") == true,
            "\(error as Any)")
        #expect(http.requests.isEmpty)
    }

    @Test("so is the issuer of an id token, of a renewal, of a sign-in page's answer and of a stored session")
    func everywhere() async throws {
        let words = "the \"/\" at the end"
        let (given, found) = ("https://id.example", "https://id.example/")
        let check = IdentityTokenCheck(clientID: nil, issuer: given, nonce: nil)
        let own = await accountError { () throws(AccountError) in
            try check.check(Secret(token("id", ["iss": .string(found)])))
        }
        #expect(own?.message.contains(words) == true && own?.message.contains(found) == true, "\(own as Any)")
        let other = await accountError { () throws(AccountError) in
            try check.check(Secret(token("id", ["iss": "https://other.example"])))
        }
        #expect(other?.message.contains(words) == false, "\(other as Any)")
        let renewal = await accountError { () throws(AccountError) in
            try IdentityTokenCheck.checkRenewal(["iss": .string(found)], of: ["iss": .string(given)])
        }
        #expect(renewal?.message.contains(words) == true, "\(renewal as Any)")
        let state = try #require(State("s"))
        do throws(OAuth2FormatError) {
            try AuthorizationResponse(.code(Secret("c")), state: state, issuer: found).check(
                state: state, issuer: given)
            Issue.record("taken")
        } catch {
            #expect(error.message.contains(words), "\(error)")
        }
        let saved = SavedSession(
            provider: "oidc", userID: UserID("ada"), userName: "ada",
            tokens: Tokens(access: Secret("a"), received: UnixTime(seconds: 0)), context: ["issuer": given])
        let stored = await accountError { () throws(AccountError) in try saved.check(["issuer": found], at: "here") }
        #expect(stored?.code == .wrongContext && stored?.message.contains(words) == true, "\(stored as Any)")
    }

    /// A definition's member and settings, and the resulting URL.
    static let templates: [(template: String, settings: [String: String], url: String)] = [
        ("{base}/token", [:], "http://127.0.0.1:1/token"),
        (
            "{domain}/oauth2/token", ["domain": "https://people.auth.example"],
            "https://people.auth.example/oauth2/token"
        ),
        (
            "{domain}/oauth2/token", ["domain": "https://people.auth.example/"],
            "https://people.auth.example/oauth2/token"
        ),
        ("{domain}/oauth2/token", ["domain": "https://auth.example/p//"], "https://auth.example/p/oauth2/token"),
        ("{domain}", ["domain": "https://auth.example/token/"], "https://auth.example/token/"),
        ("{base}/realms/{realm}/token", ["realm": "people/"], "http://127.0.0.1:1/realms/people/token"),
        ("{base}/auth[/{realm}]/token", ["realm": "people/"], "http://127.0.0.1:1/auth/people/token"),
        ("{base}/auth[/{realm}/x]", ["realm": "people/"], "http://127.0.0.1:1/auth/people/x"),
        ("{base}/auth[/{realm}]", [:], "http://127.0.0.1:1/auth"),
        ("{base}/token?of={domain}", ["domain": "https://a/"], "http://127.0.0.1:1/token?of=https%3A%2F%2Fa%2F"),
    ]

    @Test("a setting before a slash loses its own slash, wherever a definition names it", arguments: templates)
    func template(template: String, settings: [String: String], url: String) async throws {
        let bench = try ProviderBench(
            #""endpoints":{"token":"\#(template)"},"parameters":[{"name":"domain"},{"name":"realm"}]"#,
            settings: ProviderSettings(base: "http://127.0.0.1:1/", clientID: "app-1", parameters: settings))
        #expect(try await bench.provider.endpoint("token") == url)
    }

    @Test("so are discovery, the services' addresses, pages, redirects and the page after signing out")
    func members() async throws {
        let bench = try ProviderBench(
            #"""
            "endpoints":{},"parameters":[{"name":"domain"}],"discovery":"{domain}/.well-known/oauth-authorization-server",
            "resources":["{domain}/api","{domain}"],"links":{"register":"{domain}/signup"},
            "redirects":[{"way":"relay","uri":"{domain}/back"}],"postLogoutRedirect":"{domain}/bye"
            """#,
            settings: ProviderSettings(clientID: "app-1", parameters: ["domain": "http://127.0.0.1:1/x/"]))
        #expect(bench.provider.resources.map(\.text) == ["http://127.0.0.1:1/x/api", "http://127.0.0.1:1/x"])
        for template in [
            bench.provider.definition.links?["register"], bench.provider.definition.redirects?.first?.uri,
            bench.provider.definition.postLogoutRedirect,
        ] {
            let url = try #require(template.flatMap { bench.provider.url($0) })
            #expect(!url.dropFirst(7).contains("//"), "\(url)")
        }
        bench.http.expect(.get, "/x/.well-known/oauth-authorization-server", #"{"issuer":"http://127.0.0.1:1"}"#)
        #expect(try await bench.provider.serverMetadata().issuer == "http://127.0.0.1:1")
        try bench.http.finish()
    }

    @Test("Cognito's sign-in page has an address, with or without a slash after the domain", arguments: ["", "/"])
    func cognito(end: String) async throws {
        let settings = ProviderSettings(
            base: "https://cognito.example", clientID: "app-1", parameters: ["domain": "https://pool.example" + end])
        let provider = try ProviderRegistry.builtIn.provider(
            "cognito", settings: settings, tools: ProviderBench.tools(ScriptedHTTPClient(), ManualWallClock()))
        #expect(try await provider.signInPage().authorizeURL == "https://pool.example/oauth2/authorize")
    }

    @Test(
        "SPiD's path for browser sessions is the same in every spelling",
        arguments: ["/session", "/session/", "session", "session//"])
    func sessionPath(path: String) async throws {
        let (http, clock) = (ScriptedHTTPClient(), ManualWallClock())
        let provider = try ProviderRegistry.builtIn.provider(
            "spid",
            settings: ProviderSettings(
                base: "http://127.0.0.1:1", clientID: "app-1", clientSecret: Secret("s"),
                parameters: ["sessionPath": path]),
            tools: ProviderBench.tools(http, clock))
        let key = try CredentialKey("spid")
        let saved = SavedSession(
            provider: "spid", userID: UserID("1001"), userName: "ada",
            tokens: Tokens(access: Secret("a"), received: clock.now), context: provider.context)
        let session = AccountSession(
            provider: provider, http: http, store: InMemoryCredentialStore([key: saved]), key: key, clock: clock,
            timer: ManualClock())
        http.expect(.post, "/api/2/oauth/exchange", #"{"object":"Code","data":{"code":"c0de"}}"#)
        let address = try await SPiDAccount(session, provider).webSession(redirectURI: "http://127.0.0.1/callback")
        #expect(address.revealString() == "http://127.0.0.1:1/session/c0de")
    }

    @Test("a scope is not a URL: it does not change")
    func scope() throws {
        let bench = try ProviderBench(
            #""parameters":[{"name":"vault"}],"scope":{"usual":["{vault}/.default"]}"#,
            settings: ProviderSettings(clientID: "app-1", parameters: ["vault": "https://vault.example/"]))
        #expect(bench.provider.scope == ["https://vault.example//.default"])
    }
}
