// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainKitTesting
import TestSupport
import Testing

@Suite("The addresses of a provider's pages")
struct ProviderLinkTests {
    static let resolved: [(provider: String, settings: ProviderSettings, link: String, url: String?)] = [
        (
            "spid", ProviderSettings(clientID: "app-1"), "register",
            "https://login.schibsted.com/flow/signup?client_id=app-1"
        ),
        ("spid", ProviderSettings(), "register", "https://login.schibsted.com/flow/signup"),
        (
            "spid", ProviderSettings(environment: "stage", clientID: "a b&c"), "register",
            "https://identity-pre.schibsted.com/flow/signup?client_id=a%20b%26c"
        ),
        (
            "spid", ProviderSettings(base: "http://127.0.0.1:1/", clientID: "app-1"), "forgot",
            "http://127.0.0.1:1/flow/password?client_id=app-1"
        ),
        ("spid", ProviderSettings(), "terms", "https://login.schibsted.com/about/terms"),
        ("liferay", ProviderSettings(), "forgot", nil),
        (
            "liferay", ProviderSettings(base: "https://portal.example/"), "forgot",
            "https://portal.example/web/guest/home?p_p_id=com_liferay_login_web_portlet_LoginPortlet"
        ),
        ("oclc", ProviderSettings(), "help", "https://www.worldcat.org/config/"),
    ]

    @Test("are printed as they are opened", arguments: resolved)
    func links(provider: String, settings: ProviderSettings, link: String, url: String?) throws {
        let definition = try ProviderRegistry.builtIn.entry(provider).definition
        #expect(definition.links(with: settings)[link] == url)
    }

    @Test("no provider's address is a template, whatever settings are given")
    func noTemplates() {
        for entry in ProviderRegistry.builtIn.entries {
            for settings in [ProviderSettings(), ProviderSettings(base: "https://id.example/x/", clientID: "c")] {
                for (name, url) in entry.definition.links(with: settings) {
                    #expect(!url.contains("{") && !url.contains("["), "\(entry.definition.id) \(name): \(url)")
                    #expect(url.hasPrefix("https://") && !url.dropFirst(8).contains("//"), "\(url)")
                }
            }
        }
    }

    @Test(
        "an error that asks the user to register, or to set a new password, has the page's address",
        arguments: [
            ("unknown_user", "http://127.0.0.1:1/signup?client=app-1"),
            ("password_reset_required", "http://127.0.0.1:1/forgot"), ("invalid_credentials", ""),
        ])
    func errors(reason: String, url: String) async throws {
        let bench = try ProviderBench(
            #"""
            "links":{"register":"{base}/signup?client={clientID}","forgot":"{base}/forgot"},
            "errors":[{"error":"\#(reason)","reason":"\#(reason)"}]
            """#)
        bench.http.expect(.post, "/token", status: 400, #"{"error":"\#(reason)"}"#)
        let error = await accountError { () throws(AccountError) in
            try await bench.provider.signIn(.password(user: "ada", password: Secret("p")))
        }
        #expect(error?.code.description == reason)
        #expect(
            error?.message.contains("http") == !url.isEmpty && error?.message.hasSuffix(url) == true, "\(error as Any)")
    }
}
