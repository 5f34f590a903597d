// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

/// Reads the claims of a JSON Web Token (RFC 7519). It verifies nothing. The server does that, and a client that trusts its own token
/// deceives only itself.
package enum JSONWebToken {
    /// Limits for a token. Tokens have a few kilobytes; anything much longer is not a token.
    private static let limits = JSONLimits(maximumBytes: 32 << 10, maximumDepth: 16, maximumValues: 2000)

    package static func claims(of token: Secret) -> JSONValue? { object(1, of: token) }

    /// Returns `alg` of the header (RFC 7515, section 4.1.1); nil if there is none.
    package static func algorithm(of token: Secret) -> String? { object(0, of: token)?["alg"]?.string }

    /// Checks the times in a token. One of the wrong type would count as a token that never expires.
    /// - Throws: `malformedAnswer`, naming the claim. A token that is not a JSON Web Token is not checked.
    package static func checkTimes(of token: Secret) throws(AccountError) {
        guard let claims = claims(of: token) else { return }
        do throws(JSONError) {
            let members = try JSONMembers(claims)
            for name in ["exp", "iat"] { _ = try members.number(name) }
        } catch {
            throw AccountError(.malformedAnswer, message: "the received access token cannot be used: \(error.message)")
        }
    }

    /// Returns whether the bytes have the form of a token. It has three parts, or five if encrypted (RFC 7516), and the first is a JSON
    /// object. Standard base64 counts too, because SPiD uses it.
    package static func hasForm(_ token: Secret) -> Bool {
        let header: [UInt8]? = token.reveal { bytes in
            let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard [3, 5].contains(parts.count), let first = parts.first, first.count <= 44 << 10 else { return nil }
            let digits: [UInt8] = first.map { digit in
                switch digit {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: digit
                }
            }
            return Base64.urlDecodedLeniently(digits)
        }
        guard let header else { return false }
        return (try? JSONValue(parsing: header, limits: limits))?.members != nil
    }

    /// Returns the JSON object in the header (0) or the payload (1).
    private static func object(_ index: Int, of token: Secret) -> JSONValue? {
        let text: [UInt8]? = token.reveal { bytes in
            let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard parts.count == 3, parts[index].count <= 44 << 10 else { return nil }
            return Base64.urlDecodedLeniently(parts[index])
        }
        guard let text, let object = try? JSONValue(parsing: text, limits: limits), object.members != nil else {
            return nil
        }
        return object
    }
}

/// Checks that an ID token answers our own sign-in (OpenID Connect Core 1.0, section 3.1.3.7). It does not check the signature.
package struct IdentityTokenCheck: Sendable {
    /// The client id; nil if the call that returned the token named no client.
    private var clientID: String?
    private var issuer: String?
    /// The nonce of the request; nil if it sent none.
    private var nonce: String?
    /// The server's time, if known. With nil the token's expiry is not checked.
    private var now: UnixTime?
    /// Whether the server is an OpenID provider. Then all members that the specification requires must be present.
    private var isOpenID: Bool

    /// The allowed difference between two clocks, in seconds.
    private static let leeway = 60.0
    /// How far in the future a token may have been issued, in seconds, as in AppAuth (`kOIDAuthorizationSessionIATMaxSkew`).
    private static let issueLeeway = 600.0

    package init(
        clientID: String?, issuer: String?, nonce: String?, now: UnixTime? = nil, isOpenID: Bool = false
    ) {
        self.clientID = clientID
        self.issuer = issuer
        self.nonce = nonce
        self.now = now
        self.isOpenID = isOpenID
    }

    /// Checks the claims.
    /// - Returns: the claims; nil for an unreadable token that nothing depends on.
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
                throw .untrusted("lacks a claim that every ID token must have (\(name))")
            }
        }
        if let issuer, let own = claims["iss"], own != .string(issuer) {
            throw .untrusted("is from another issuer (iss)\(Self.slash(own.string, issuer))")
        }
        try checkAudience(claims)
        if let now, let end = claims["exp"] {
            guard let end = end.double, now.seconds < end + Self.leeway else { throw .untrusted("has expired (exp)") }
        }
        try checkIssueTime(claims)
        if let nonce, claims["nonce"] != .string(nonce) {
            throw .untrusted(
                claims["nonce"]?.unlessNull == nil
                    ? "does not name its sign-in (nonce)" : "is for another sign-in (nonce)")
        }
        return claims
    }

    /// Checks that each relevant claim has its type from RFC 7519 and OpenID Connect.
    private func checkTypes(_ claims: JSONValue) throws(JSONError) {
        let members = try JSONMembers(claims)
        for name in ["iss", "azp", "nonce", "at_hash"] { _ = try members.text(name) }
        // Other servers use numbers for their users.
        if isOpenID { _ = try members.text("sub") }
        for name in ["exp", "iat", "nbf"] { _ = try members.number(name) }
        if claims["aud"]?.string == nil { _ = try members.texts("aud") }
    }

    /// Checks the start of validity. A token from the future has a time of another clock, or was made up.
    private func checkIssueTime(_ claims: JSONValue) throws(AccountError) {
        for (name, what) in [("iat", "was issued in the future"), ("nbf", "is not valid yet")] {
            guard let time = claims[name]?.double else { continue }
            if let now, time > now.seconds + Self.issueLeeway {
                throw .untrusted("\(what) (\(name))", "check the clock of this machine, then sign in again")
            }
            if let end = claims["exp"]?.double, time > end + Self.leeway {
                throw .untrusted("\(what) (\(name)), which is after its expiry")
            }
        }
    }

    /// Checks rules 3 to 5. A token for several audiences must name us as the client to which it was issued.
    private func checkAudience(_ claims: JSONValue) throws(AccountError) {
        guard let clientID else { return }
        if let audience = claims["aud"] {
            let names = audience.array?.map(\.string) ?? [audience.string]
            guard names.contains(clientID) else { throw .untrusted("is for another client (aud)") }
            if names.count > 1, claims["azp"] == nil {
                throw .untrusted("is for several clients, but does not name the one to which it was issued (azp)")
            }
        }
        if let party = claims["azp"], party != .string(clientID) {
            throw .untrusted("was issued to another client (azp)")
        }
    }

    /// Returns a remark for issuers that look the same to a person.
    private static func slash(_ found: String?, _ expected: String) -> String {
        guard let found, ServerMetadata.differOnlyInSlash(found, expected) else { return "" }
        return
            ": it names \(presentable(found)), which differs from \(presentable(expected)) only in the \"/\" at the end"
    }

    /// Checks the claims that must not change after the sign-in (section 12.2).
    package static func checkRenewal(_ new: JSONValue, of old: JSONValue) throws(AccountError) {
        for (name, whose) in [("sub", "user"), ("iss", "issuer"), ("azp", "client")] {
            guard let before = old[name]?.unlessNull else { continue }
            guard new[name] == before else {
                let more = name == "iss" ? Self.slash(new[name]?.string, before.string ?? "") : ""
                throw .untrusted("from the renewal belongs to another \(whose) (\(name))\(more)")
            }
        }
        if let nonce = new["nonce"]?.unlessNull, let before = old["nonce"]?.unlessNull, nonce != before {
            throw .untrusted("from the renewal is for another sign-in (nonce)")
        }
    }
}

extension AccountError {
    /// - Parameter what: what is wrong with the ID token, as the rest of a sentence about it.
    package static func untrusted(_ what: String, _ advice: String = "sign in again") -> AccountError {
        AccountError(
            .untrustedAnswer, message: "the received ID token \(what), so the tokens were not accepted; \(advice)")
    }
}
