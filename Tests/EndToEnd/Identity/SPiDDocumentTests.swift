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

/// What the documents of SPiD's mobile sign-in print, and what goes out here.
@Suite("SPiD's documents, word for word")
struct SPiDDocumentTests {
    @Test(
        "the assertion has the third party's own end; an hour where it has none",
        arguments: [600.0, nil] as [Double?])
    func expiry(after seconds: Double?) async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            let provider = try desk.provider(
                "spid",
                ProviderSettings(
                    clientID: "app-1", clientSecret: Secret("app-1-secret"), parameters: ["assertionForm": "rfc7515"],
                    secrets: ["signSecret": Secret("s1gn")]))
            let token = ThirdPartyToken(
                provider: "facebook", token: Secret("fbtok"), expires: seconds.map { desk.clock.now + $0 },
                applicationID: "app1")
            _ = try await desk.session(provider).signIn(.thirdParty(token))
            let sent = try #require(desk.http.requests.first { $0.url.hasSuffix("/oauth/token") })
            let form = try ParameterList(parsing: sent.body)
            let assertion = try #require(form["assertion"])
            #expect(form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer")
            let claims = try #require(JSONWebToken.claims(of: Secret(assertion)))
            #expect(claims["iss"] == "app1" && claims["token_type"] == "facebook" && claims["token_value"] == "fbtok")
            #expect(claims["exp"]?.integer == Int64((desk.clock.now.seconds + (seconds ?? 3600)).rounded(.down)))
        }
    }

    @Test("the logout page ends a browser's session, and sends it on to a registered address")
    func logoutPage() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("spid", in: folder)
            let provider = try desk.provider(
                "spid", ProviderSettings(clientID: "app-1", clientSecret: Secret("app-1-secret")))
            let session = desk.session(provider)
            _ = try await session.signIn(.password(user: "ada@example.com", password: Secret("correct-horse")))
            let account = try SPiDAccount(session, provider)
            let back = "spidmobile-app-1://logout"
            let page = try await account.logoutPage(redirectURI: back)
            #expect(page == desk.base + "/logout?client_id=app-1&redirect_uri=spidmobile-app-1%3A%2F%2Flogout")
            let answer = try await desk.http.send(HTTPRequest(method: .get, url: page))
            #expect(answer.status == 302 && answer.header("Location") == back)
            #expect(answer.headers.contains { $0.name.lowercased() == "set-cookie" && $0.value.contains("Max-Age=0") })
            let plain = try await desk.http.send(HTTPRequest(method: .get, url: try await account.logoutPage()))
            #expect(plain.header("Location")?.contains("/login") == true)
        }
    }
}
