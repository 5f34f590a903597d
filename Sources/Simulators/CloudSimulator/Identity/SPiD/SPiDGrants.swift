// SPDX-License-Identifier: Apache-2.0

/// What an access token is good for.
struct SPiDGrant: Sendable, Equatable {
    var client: String
    /// Nil for a client's own token.
    var person: Int64?
    var scope: String
    /// All tokens that come of one sign-in have this in common: ending it ends them all.
    var login: String
    /// The session in a browser that the sign-in left behind.
    var webSession: String?
    var issuedAt: Int64
}

/// What a refresh token is good for. One that was used is kept: who comes with it again holds a copy.
struct SPiDRenewal: Sendable, Equatable {
    var grant: SPiDGrant
    var isUsed = false
}

/// What a code is good for.
struct SPiDCode: Sendable {
    enum Kind: Sendable, Equatable {
        /// Of the sign-in page, to be redeemed with that redirect.
        case authorization(redirect: String, challenge: StoredChallenge?)
        /// For another client, to be redeemed with that one's default redirect.
        case exchange(redirect: String)
        /// Becomes a session in a browser, which goes on there.
        case session(redirect: String)
    }

    var kind: Kind
    /// Who may redeem it.
    var client: String
    var person: Int64
    var scope: String
    var webSession: String?
    /// Set once it was redeemed: the sign-in that came of it.
    var login: String?
}

struct SPiDAgreement: Hashable, Sendable {
    /// More are not kept; the person is asked again then.
    static let maximum = 4096

    var person: Int64
    var client: String
}

struct SPiDPasswordless: Sendable {
    static let maximumAttempts = 5

    var client: String
    var person: Int64
    var code: String
    var attempts = 0
}

/// A Facebook or Google account.
struct SPiDThirdPartyAccount: Sendable {
    /// Nil while no SPiD account is connected to it.
    var person: Int64?
}
