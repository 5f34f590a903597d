// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import Synchronization
import TestSupport
import Testing

@testable import RainAccount

/// The examples of SPiD's documents for mobile sign-in, and this client's requests.
@Suite("SPiD's documents, word for word")
struct SPiDDocumentTests {
    /// Receives the page's address, and stops there.
    private final class Passer: AuthorizationUserAgent {
        let redirect: String
        private let seen = Mutex("")
        var url: String { seen.withLock { $0 } }
        init(_ redirect: String) { self.redirect = redirect }

        func authorize(
            _ attempt: @Sendable (RedirectTarget) throws(AccountError) -> AuthorizationAttempt
        ) async throws(AccountError) -> AuthorizationResponse {
            let attempt = try attempt(RedirectTarget(redirectURI: try redirectURI(redirect)))
            let url = try attempt.url()
            seen.withLock { $0 = url }
            throw AccountError(.cancelled, message: "seen")
        }
    }

    @Test(
        "the sign-in page of each environment, with the document's parameters",
        arguments: [
            (nil as String?, "https://login.schibsted.com"), ("production", "https://login.schibsted.com"),
            ("stage", "https://identity-pre.schibsted.com"), ("norway", "https://payment.schibsted.no"),
        ])
    func page(environment: String?, base: String) async throws {
        let provider = try ProviderRegistry.builtIn.provider(
            "spid",
            settings: ProviderSettings(
                environment: environment, clientID: "4f6b7595efd04b2d5000000d", clientSecret: Secret("foobar")),
            tools: ProviderBench.tools(ScriptedHTTPClient(), ManualWallClock(seconds: 1_333_537_247)))
        let passer = Passer("fvnereader://login")
        _ = await code { () throws(AccountError) in try await provider.signInThroughBrowser(by: passer) }
        let parts = passer.url.split(separator: "?", maxSplits: 1).map(String.init)
        #expect(parts.first == base + "/login")
        let query = try ParameterList(parsing: try #require(parts.last).utf8)
        #expect(query["client_id"] == "4f6b7595efd04b2d5000000d")
        #expect(query["response_type"] == "code")
        #expect(query["redirect_uri"] == "fvnereader://login")
        #expect(passer.url.contains("redirect_uri=fvnereader%3A%2F%2Flogin"))
        #expect((query["state"] ?? "").count >= 43)
        // No secret goes through a browser.
        #expect(!passer.url.contains("foobar") && query["client_secret"] == nil)
    }

    @Test("the token response's is_admin is returned with the user, online and offline", arguments: [false, true])
    func administrator(isOne: Bool) async throws {
        let bench = try ProviderBench(
            #""keep":["user_id","is_admin"],"user":{"id":["userId"],"idFromTokens":"user_id"},"endpoints":{"token":"{base}/token","user":"{base}/user"}"#
        )
        bench.http.expect(
            .post, "/token", #"{"access_token":"a","expires_in":3600,"user_id":"198962","is_admin":\#(isOne)}"#)
        bench.http.expect(.get, "/user", #"{"userId":"198962","email":"a@example.com"}"#)
        let tokens = try await bench.provider.signIn(.password(user: "a", password: Secret("b")))
        let user = try await bench.provider.user(tokens)
        #expect(user.attributes.first { $0.name == "is_admin" }?.value == .bool(isOne))
        #expect(
            bench.provider.user(claimedBy: tokens)?.attributes.first { $0.name == "is_admin" }?.value == .bool(isOne))
    }
}
