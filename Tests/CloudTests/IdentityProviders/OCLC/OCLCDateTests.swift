// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainKitTesting
import TestSupport
import Testing

/// The redirect of the sample application, whose `expires_at` is escaped in the fragment.
@Suite("OCLC's dates in a redirect")
struct OCLCDateTests {
    @Test(
        "the date alone gives the token's expiry, from the browser's address to the stored session",
        arguments: ["2014-01-05%2011:57:26Z", "2014-01-05%252011%3A57%3A26Z", "2014-01-05+11:57:26Z"])
    func kept(date: String) async throws {
        // At 11:37:27 that day, 1199 seconds before.
        let clock = ManualWallClock(seconds: 1_388_921_847)
        let provider = try ProviderRegistry.builtIn.provider(
            "oclc",
            settings: ProviderSettings(clientID: "wskey-1", parameters: ["contextInstitutionId": "128807"]),
            tools: ProviderBench.tools(ScriptedHTTPClient(), clock))
        let response = try AuthorizationResponse(
            url:
                "oclcApp://user_agent_flow#access_token=tk_U13DrzOHW8eep3jvwIpNX2rDcfuhvetNbrFm&context_institution_id=128807"
                + "&expires_at=\(date)&principalID=p-ada&principalIDNS=urn%3Aoclc%3Aplatform%3A128807&token_type=bearer",
            to: try RedirectURI("oclcApp://user_agent_flow"))
        guard case .tokens(let tokens) = response.outcome else {
            Issue.record("no tokens")
            return
        }
        let session = AccountSession(
            provider: provider, http: ScriptedHTTPClient(), store: InMemoryCredentialStore(),
            key: try CredentialKey("x"),
            clock: clock, timer: ManualClock())
        #expect(try await session.signIn(.tokens(tokens, nonce: nil)).userID == UserID("p-ada"))
        #expect(try await session.status().expires?.seconds == 1_388_923_046)
        // It has then expired, and cannot be renewed.
        clock.advance(seconds: 1200)
        #expect(await code { () throws(AccountError) in try await session.accessToken() } != nil)
    }
}
