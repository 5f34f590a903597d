// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainKitTesting
import TestSupport
import Testing

@Suite("Products have the names that their owners use")
struct ProductNameTests {
    /// Settings with which each provider is made.
    static let providers: [(id: String, settings: ProviderSettings, name: String)] = [
        ("spid", ProviderSettings(), "SPiD"), ("liferay", ProviderSettings(base: "https://portal.example"), "Liferay"),
        ("oclc", ProviderSettings(parameters: ["contextInstitutionId": "128807"]), "OCLC"),
        ("oclc-oauth", ProviderSettings(parameters: ["contextInstitutionId": "128807"]), "OCLC"),
        ("oidc", ProviderSettings(parameters: ["issuer": "https://id.example"]), "OpenID Connect"),
        ("neo", ProviderSettings(base: "https://n.example"), "Neo"),
        ("cognito", ProviderSettings(base: "https://pool.example"), "Cognito"),
    ]

    private func expectNamed(_ error: AccountError?, _ id: String, _ name: String) {
        guard let message = error?.message else {
            Issue.record("\(id): no error")
            return
        }
        #expect(message.contains(name) || !message.lowercased().contains(id.prefix { $0 != "-" }), "\(message)")
        // As the first word of a sentence it would become "Spid".
        #expect(!message.hasPrefix(id), "\(message)")
    }

    @Test("in every error about a provider's settings and ways to sign in", arguments: providers)
    func errors(id: String, settings: ProviderSettings, name: String) async throws {
        let tools = ProviderBench.tools(ScriptedHTTPClient(), ManualWallClock())
        let make = { (change: (inout ProviderSettings) -> Void) throws(AccountError) in
            var settings = settings
            change(&settings)
            return try ProviderRegistry.builtIn.provider(id, settings: settings, tools: tools)
        }
        let changes: [(inout ProviderSettings) -> Void] = [
            { $0.parameters["no-such"] = "x" }, { $0.mode = "no-such" }, { $0.secrets["no-such"] = Secret("x") },
            {
                $0.parameters = [:]; $0.base = nil
            },
            {
                $0.base = nil; $0.environment = "no-such"
            },
        ]
        for change in changes {
            let error = await accountError { () throws(AccountError) in _ = try make(change) }
            if let error { expectNamed(error, id, name) }
        }
        let provider = try make { _ in }
        #expect(provider.title.contains(name))
        let credentials: [SignInCredentials] = [
            .guest, .oneTimeCode(SignInChallenge(userName: "a", session: Secret("s")), code: Secret("1")),
            .clientCredentials, .assertion(Secret("a")), .password(user: "ada", password: Secret("p")),
            .thirdParty(ThirdPartyToken(provider: "x", token: Secret("t"), expires: nil, applicationID: "a")),
        ]
        for way in credentials {
            expectNamed(await accountError { () throws(AccountError) in try await provider.signIn(way) }, id, name)
        }
        for grant in GrantName.all {
            let error = await accountError { () throws(AccountError) in _ = try await provider.signInPage(grant) }
            if let error { expectNamed(error, id, name) }
        }
        let error = await accountError { () throws(AccountError) in _ = try await provider.endpoint("no-such") }
        if id != "oidc" { expectNamed(error, id, name) }
    }

    @Test("where nobody is signed in", arguments: providers)
    func notSignedIn(id: String, settings: ProviderSettings, name: String) async throws {
        let (http, clock) = (ScriptedHTTPClient(), ManualWallClock())
        let provider = try ProviderRegistry.builtIn.provider(
            id, settings: settings, tools: ProviderBench.tools(http, clock))
        for account in [nil, "ada"] {
            let session = AccountSession(
                provider: provider, http: http, store: InMemoryCredentialStore(),
                key: try CredentialKey(id, account: account), clock: clock, timer: ManualClock())
            let error = await accountError { () async throws(AccountError) in _ = try await session.accessToken() }
            #expect(
                error?.message.contains("\(account.map { "as \($0) at " } ?? "to ")\(provider.title);") == true,
                "\(error as Any)")
        }
    }

    @Test("a user's own definition is called by its title, made safe for a terminal")
    func own() throws {
        let bench = try ProviderBench(#""title":"Our \u001b[2J company""#)
        #expect(bench.provider.title == "Our  [2J company")
        #expect(try ProviderBench("").provider.title == "test")
    }
}
