// SPDX-License-Identifier: Apache-2.0

/// The session of one sign-in. It ends with a sign-out everywhere, or when its refresh token is revoked or expires.
struct Session: Codable, Sendable, Equatable {
    var id: String
    var userID: String
    /// The OAuth client that it was begun for.
    var clientID = TokenIssuer.clientID
    /// The granted scope, if the client asked for one.
    var scope: String?
    /// When the user gave the password, in milliseconds since 1970.
    var startedAt: Int64
    /// Nil once revoked: then nothing is refreshed any more.
    var refreshToken: RefreshToken?
    /// Only access tokens of this generation are good: expiring them all at once begins the next.
    var generation: Int64 = 0
    /// Access tokens that were signed out before they expired: their `jti`, and when they expire (seconds since 1970).
    var endedAccess: [String: Int64] = [:]

    mutating func end(access tokenID: String, expiresAt: Int64, now: Int64) {
        endedAccess = endedAccess.filter { $0.value > now / 1000 }
        endedAccess[tokenID] = expiresAt
    }
}
