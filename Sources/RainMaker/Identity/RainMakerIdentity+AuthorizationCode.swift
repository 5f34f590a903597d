// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

extension RainMakerIdentity {
    /// Redeems what a browser brought back from the sign-in page. From then on the session is like any other: it is renewed by
    /// `login2`.
    ///
    /// - Throws: `invalidGrant` for a code that is used up or not ours, `untrustedAnswer` for tokens that are not for this sign-in.
    func redeem(
        code: Secret, redirectURI: String, codeVerifier: Secret?, nonce: String?
    ) async throws(AccountError) -> Tokens {
        let server = try service.deployment.signInPage()
        let request = TokenRequest.authorizationCode(
            code, redirectURI: redirectURI, codeVerifier: codeVerifier.flatMap(CodeVerifier.init))
        let response = try await TokenEndpoint(url: server.tokenURL, client: server.client, http: service.http).redeem(
            request)
        // It came from the token endpoint over TLS, which stands in for its signature (OpenID Connect Core 1.0, section 3.1.3.7, rule 6),
        // and its end is left alone: nothing is decided by this token later, and the clock here may be wrong.
        if let identity = response.identityToken {
            try IdentityTokenCheck(clientID: server.clientID, issuer: server.issuer, nonce: nonce).check(identity)
        }
        try JSONWebToken.checkTimes(of: response.accessToken)
        var tokens = Tokens(
            jsonWebToken: response.accessToken, refresh: response.refreshToken, identity: response.identityToken,
            received: clock.now)
        // An access token that says nothing about itself: the answer it came in does.
        if tokens.expires == nil, let seconds = response.expiresIn { tokens.expires = tokens.received + seconds }
        return tokens
    }
}
