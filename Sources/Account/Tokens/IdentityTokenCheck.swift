// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

/// What an id token must say to be the answer to our own sign-in (OpenID Connect Core 1.0, section 3.1.3.7), its signature apart.
package struct IdentityTokenCheck: Sendable {
    /// nil where the call that brought the token named no client.
    var clientID: String?
    var issuer: String?
    /// What the request sent; nil if it sent none.
    var nonce: String?
    /// The server's time where that is known. nil leaves the token's end alone.
    var now: UnixTime?
    /// Whether the server is an OpenID provider: then nothing that the specification demands may be absent.
    var isOpenID: Bool

    /// How far the clocks of a server and of whoever compares may differ, in seconds.
    package static let leeway = 60.0
    /// How far in the future a token may have been issued, in seconds, as in AppAuth (`kOIDAuthorizationSessionIATMaxSkew`).
    static let issueLeeway = 600.0

    package init(
        clientID: String?, issuer: String?, nonce: String?, now: UnixTime? = nil, isOpenID: Bool = false
    ) {
        self.clientID = clientID
        self.issuer = issuer
        self.nonce = nonce
        self.now = now
        self.isOpenID = isOpenID
    }

    /// - Returns: the claims; nil for something that cannot be read, where nothing depends on it.
    /// - Throws: `untrustedAnswer`, naming the claim.
    @discardableResult
    package func check(_ token: Secret) throws(AccountError) -> JSONValue? {
        guard let claims = JSONWebToken.claims(of: token) else {
            guard !isOpenID, nonce == nil else { throw .untrusted("cannot be read") }
            return nil
        }
        do throws(JSONError) { try checkTypes(claims) } catch { throw .untrusted("cannot be used (\(error.message))") }
        let algorithm = JSONWebToken.algorithm(of: token)
        if algorithm == nil || algorithm?.lowercased() == "none" { throw .untrusted("is not signed (alg none)") }
        if isOpenID {
            for name in ["iss", "sub", "aud", "exp", "iat"] where claims[name]?.unlessNull == nil {
                throw .untrusted("lacks a claim that every id token has (\(name))")
            }
        }
        if let issuer, let own = claims["iss"], own != .string(issuer) {
            throw .untrusted("is another issuer's (iss)\(Self.slash(own.string, issuer))")
        }
        try checkAudience(claims)
        if let now, let end = claims["exp"] {
            guard let end = end.double, now.seconds < end + Self.leeway else { throw .untrusted("has expired (exp)") }
        }
        try checkIssueTime(claims)
        if let nonce, claims["nonce"] != .string(nonce) {
            throw .untrusted(
                claims["nonce"]?.unlessNull == nil
                    ? "does not name the sign-in that it is for (nonce)" : "is for another sign-in (nonce)")
        }
        return claims
    }

    /// Each claim that decides something has the type that RFC 7519 and OpenID Connect give it.
    private func checkTypes(_ claims: JSONValue) throws(JSONError) {
        let members = try JSONMembers(claims)
        for name in ["iss", "azp", "nonce", "at_hash"] { _ = try members.text(name) }
        // Other servers number their users.
        if isOpenID { _ = try members.text("sub") }
        for name in ["exp", "iat", "nbf"] { _ = try members.number(name) }
        if claims["aud"]?.string == nil { _ = try members.texts("aud") }
    }

    /// A token that was issued in the future, or is for later, is of another clock, or was made up.
    private func checkIssueTime(_ claims: JSONValue) throws(AccountError) {
        for (name, what) in [("iat", "was issued in the future"), ("nbf", "is not valid yet")] {
            guard let time = claims[name]?.double else { continue }
            if let now, time > now.seconds + Self.issueLeeway {
                throw .untrusted("\(what) (\(name))", "check the clock of this machine, then sign in again")
            }
            if let end = claims["exp"]?.double, time > end + Self.leeway {
                throw .untrusted("\(what) (\(name)): it would have expired before")
            }
        }
    }

    /// Rules 3 to 5. A token for several audiences must name us as the one that it was issued to.
    private func checkAudience(_ claims: JSONValue) throws(AccountError) {
        guard let clientID else { return }
        if let audience = claims["aud"] {
            let names = audience.array?.map(\.string) ?? [audience.string]
            guard names.contains(clientID) else { throw .untrusted("is for another client (aud)") }
            if names.count > 1, claims["azp"] == nil {
                throw .untrusted("is for several clients and does not say to which it was issued (azp)")
            }
        }
        if let party = claims["azp"], party != .string(clientID) {
            throw .untrusted("was issued to another client (azp)")
        }
    }

    /// Words for issuers that a person would take for the same one.
    private static func slash(_ found: String?, _ expected: String) -> String {
        guard let found, ServerMetadata.differOnlyInSlash(found, expected) else { return "" }
        return
            ": it names \(presentable(found)), which differs from \(presentable(expected)) only in the \"/\" at the end"
    }

    /// What must be as it was at the sign-in (section 12.2), whatever the new token is otherwise.
    package static func checkRenewal(_ new: JSONValue, of old: JSONValue) throws(AccountError) {
        for (name, whose) in [("sub", "user"), ("iss", "issuer"), ("azp", "client")] {
            guard let before = old[name]?.unlessNull else { continue }
            guard new[name] == before else {
                let more = name == "iss" ? Self.slash(new[name]?.string, before.string ?? "") : ""
                throw .untrusted("of the renewal is another \(whose)'s (\(name))\(more)")
            }
        }
        if let nonce = new["nonce"]?.unlessNull, let before = old["nonce"]?.unlessNull, nonce != before {
            throw .untrusted("of the renewal is for another sign-in (nonce)")
        }
    }
}

extension AccountError {
    /// - Parameter what: what is wrong with the id token, behind "the id token that came".
    package static func untrusted(_ what: String, _ advice: String = "sign in again") -> AccountError {
        AccountError(
            .untrustedAnswer, message: "the id token that came \(what), so the tokens were not taken; \(advice)")
    }
}
