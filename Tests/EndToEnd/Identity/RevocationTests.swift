// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import RainMaker
import TestSupport
import Testing

@Suite("Signing out where a server revokes some tokens only")
struct RevocationTests {
    private let unsupported =
        #"{"error":"unsupported_token_type","error_description":"Only refresh tokens can be revoked"}"#
    private let tokens = Tokens(
        access: Secret("planted-a"), refresh: Secret("planted-r"), received: UnixTime(seconds: 0))

    @Test("OpenID Connect, against its simulator: the sign-out is complete")
    func simulated() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("oidc", in: folder)
            try await desk.control("settings", ["revokes_access_tokens": false])
            let settings = ProviderSettings(
                clientID: "native-1", scope: ["openid", "offline_access"], parameters: ["issuer": desk.base])
            let provider = try ProviderRegistry.builtIn.provider("oidc", settings: settings, tools: desk.tools)
            let session = desk.session(provider)
            let credentials = try await provider.signInThroughBrowser(by: PageRobot(http: desk.http))
            _ = try await session.signIn(credentials)
            #expect(desk.store.load(desk.key)?.tokens.refresh != nil)
            guard case .complete = try await session.signOut() else {
                Issue.record("the sign-out is said to be incomplete")
                return
            }
            #expect(desk.http.count("/revoke") == 2)
        }
    }
}
