// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainCore

/// What an id token must say to be the answer to our own sign-in (OpenID Connect Core 1.0, section 3.1.3.7). It came straight from
/// the token endpoint over TLS, which stands in for its signature (rule 6 there).
package struct IdentityTokenCheck: Sendable {
    var clientID: String
    var issuer: String?
    var nonce: String?

    package init(clientID: String, issuer: String?, nonce: String?) {
        self.clientID = clientID
        self.issuer = issuer
        self.nonce = nonce
    }

    /// A claim that is absent is not held against the token: servers differ in what they put in.
    /// - Throws: `untrustedAnswer` for another audience, issuer or nonce than ours.
    package func check(_ token: Secret) throws(AccountError) {
        guard let claims = JSONWebToken.claims(of: token) else { return }
        if let audience = claims["aud"] {
            let names = audience.array?.compactMap(\.string) ?? [audience.string].compactMap { $0 }
            guard names.contains(clientID) else { throw failure("another client") }
        }
        if let issuer, let own = claims["iss"]?.string, own != issuer { throw failure("another issuer") }
        if let nonce, let own = claims["nonce"], own != .string(nonce) { throw failure("another sign-in") }
    }

    private func failure(_ whose: String) -> AccountError {
        AccountError(
            .untrustedAnswer, message: "the tokens that came are for \(whose) and were not taken; sign in again")
    }
}
