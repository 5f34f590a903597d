// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainJSON

extension ConfiguredProvider {
    /// An id token, and all that it is checked against.
    struct IdentityTokenReceipt {
        var token: Secret
        /// The access token that came with it.
        var access: Secret
        /// What the authorization request sent.
        var nonce: String?
        /// The id token of the sign-in, for one that a renewal brought.
        var renewing: Secret?
        /// Whether the client is known that the token must be for; false for calls of an extension's own that name none.
        var namesClient = true
        /// Whether it came from the provider over TLS, not through the browser.
        var isDirect = true
        /// By the server's clock, where it told.
        var serverTime: UnixTime?
    }

    /// Checks an id token as OpenID Connect Core 1.0 wants it (sections 3.1.3.7 and 3.2.2.11; 12.2 for a renewal's).
    /// - Throws: `untrustedAnswer`, saying what is wrong; what fetching the provider's keys throws.
    func check(_ receipt: IdentityTokenReceipt) async throws(AccountError) {
        let client = receipt.namesClient ? try clientID() : nil
        let claims = try IdentityTokenCheck(
            clientID: client, issuer: try await issuer(), nonce: receipt.nonce,
            now: receipt.serverTime ?? tools.clock.now, isOpenID: definition.discovery != nil
        ).check(receipt.token)
        guard let claims else { return }
        if let old = receipt.renewing.flatMap(JSONWebToken.claims) {
            try IdentityTokenCheck.checkRenewal(claims, of: old)
        }
        try await checkSignature(receipt)
        try checkAccessToken(receipt, claims)
    }

    /// `at_hash`: the access token is the one that the id token came with (section 3.1.3.6). Tokens from the browser must have it
    /// (3.2.2.10).
    private func checkAccessToken(_ receipt: IdentityTokenReceipt, _ claims: JSONValue) throws(AccountError) {
        guard let hash = claims["at_hash"]?.unlessNull else {
            guard receipt.isDirect else { throw .untrusted("does not say which access token belongs to it (at_hash)") }
            return
        }
        // By the hash of the token's own algorithm; all that are known here have SHA-256.
        guard JSONWebToken.algorithm(of: receipt.token)?.hasSuffix("256") == true else { return }
        let half = Array(tools.hashes.sha256(receipt.access.revealBytes()).prefix(16))
        guard hash == .string(String(decoding: Base64.urlEncoded(half), as: UTF8.self)) else {
            throw .untrusted("belongs to another access token (at_hash)")
        }
    }
}
