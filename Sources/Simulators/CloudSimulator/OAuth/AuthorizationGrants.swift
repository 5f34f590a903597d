// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL

/// A user's consent, for which the application has not fetched the tokens yet.
struct AuthorizationGrant: Codable, Sendable, Equatable {
    var userID: String
    var clientID: String
    /// The token request must repeat it exactly (RFC 6749, 4.1.3).
    var redirectURI: String
    /// `S256` of the verifier that must come with the code (RFC 7636); nil if the application gave none.
    var challenge: String?
    var nonce: String?
    var scope: String
    /// How the user signed in: `Cognito`, or the identity provider's name.
    var provider: String
    var expiresAt: Int64
    /// The session that was begun with the code; set once the code was used.
    var sessionID: String?
}

/// The authorization codes that were issued, by their hashes. A value without a clock; times are in milliseconds.
struct AuthorizationGrants: Codable, Sendable, Equatable {
    enum Verdict: Equatable {
        case granted(AuthorizationGrant)
        /// Unknown, expired, of another client or redirect, or without the right verifier.
        case refused(String)
        /// Used before: the session that was begun with it must end (RFC 6749, 4.1.2).
        case reused(sessionID: String)
    }

    /// The oldest are forgotten beyond this.
    static let maximum = 100

    private var grants: [String: AuthorizationGrant] = [:]

    mutating func issue(_ grant: AuthorizationGrant, code: String, at now: Int64) {
        grants = grants.filter { $0.value.expiresAt > now }
        if grants.count >= Self.maximum, let oldest = grants.min(by: { $0.value.expiresAt < $1.value.expiresAt }) {
            grants[oldest.key] = nil
        }
        grants[Self.key(code)] = grant
    }

    /// A code can be tried once, right or wrong, so that the holder of a stolen code cannot try verifiers.
    mutating func redeem(
        _ code: String, clientID: String, redirectURI: String, verifier: String?, session: String, at now: Int64
    ) -> Verdict {
        let key = Self.key(code)
        guard var grant = grants[key], grant.expiresAt > now else { return .refused("The code is unknown or expired") }
        guard grant.clientID == clientID else { return .refused("The code was issued to another client") }
        if let session = grant.sessionID { return .reused(sessionID: session) }
        guard grant.redirectURI == redirectURI else {
            grants[key] = nil
            return .refused("redirect_uri is not the one that the code was issued for")
        }
        guard Self.proves(verifier, grant.challenge) else {
            grants[key] = nil
            return .refused("code_verifier does not match")
        }
        grant.sessionID = session
        grants[key] = grant
        return .granted(grant)
    }

    /// RFC 7636, 4.6. A verifier without a challenge is refused, too (RFC 9700, 2.1.1): an attacker may have removed the challenge.
    private static func proves(_ verifier: String?, _ challenge: String?) -> Bool {
        switch (verifier, challenge) {
        case (nil, nil): return true
        case (let verifier?, let challenge?):
            guard (43...128).contains(verifier.utf8.count) else { return false }
            let hash = base64URL(OpenSSLHashes.sha256(Array(verifier.utf8)))
            return equalInConstantTime(Array(hash.utf8), Array(challenge.utf8))
        default: return false
        }
    }

    private static func key(_ code: String) -> String { lowercaseHex(OpenSSLHashes.sha256(Array(code.utf8))) }
}
