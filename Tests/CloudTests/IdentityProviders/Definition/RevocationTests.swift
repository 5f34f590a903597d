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

@Suite("Signing out at a server that revokes only some tokens")
struct RevocationTests {
    private let unsupported =
        #"{"error":"unsupported_token_type","error_description":"Only refresh tokens can be revoked"}"#
    private let tokens = Tokens(
        access: Secret("planted-a"), refresh: Secret("planted-r"), received: UnixTime(seconds: 0))

    @Test("an access token that cannot be revoked ends with its sign-in once the refresh token is revoked")
    func refreshTokensOnly() async throws {
        let bench = try ProviderBench("")
        bench.http.expect(.post, "/revoke", "")
        bench.http.expect(.post, "/revoke", status: 400, unsupported)
        try await bench.provider.signOut(tokens, everywhere: false)
        try bench.http.finish()
    }

    @Test("another refusal of the access token is an error, also without a refresh token")
    func others() async throws {
        let bench = try ProviderBench("")
        bench.http.expect(.post, "/revoke", "")
        bench.http.expect(.post, "/revoke", status: 503, #"{"error":"temporarily_unavailable"}"#)
        let error = await accountError { () throws(AccountError) in
            try await bench.provider.signOut(tokens, everywhere: false)
        }
        #expect(error?.code == .serverFault)
        var alone = tokens
        alone.refresh = nil
        bench.http.expect(.post, "/revoke", status: 400, unsupported)
        let left = await accountError { () throws(AccountError) in
            try await bench.provider.signOut(alone, everywhere: false)
        }
        #expect(left?.code == .rejected && left?.serverCause == "unsupported_token_type")
        try bench.http.finish()
    }
}
