// SPDX-License-Identifier: Apache-2.0

/// The client, the person and the scope of an access token.
struct SPiDGrant: Sendable, Equatable {
    var client: String
    /// Nil for a client's own token.
    var person: Int64?
    var scope: String
    /// The id of the sign-in, shared by all of its tokens: ending it ends them all.
    var login: String
    /// The session in a browser that the sign-in left behind.
    var webSession: String?
    var issuedAt: Int64
}

/// The grant of a refresh token. Used tokens are kept, so that a second use, which means a copy, is noticed.
struct SPiDRenewal: Sendable, Equatable {
    var grant: SPiDGrant
    var isUsed = false
}

/// The kind of a code, its client and its person.
struct SPiDCode: Sendable {
    enum Kind: Sendable, Equatable {
        /// From the sign-in page; redeemed with the same redirect URI.
        case authorization(redirect: String, challenge: StoredChallenge?)
        /// For another client; redeemed with that client's default redirect URI.
        case exchange(redirect: String)
        /// Starts a session in a browser, which is then redirected there.
        case session(redirect: String)
    }

    var kind: Kind
    /// The client that may redeem it.
    var client: String
    var person: Int64
    var scope: String
    var webSession: String?
    /// The sign-in that was begun with it; set once it was redeemed.
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
