// SPDX-License-Identifier: Apache-2.0
import RainCore

extension TokenKeeper {
    /// The session if it is one of this provider's; tells listeners if it is news.
    nonisolated func own(_ session: SavedSession?, since moment: Int) throws(AccountError) -> SavedSession {
        guard let session else {
            events.found(nil, since: moment, status: status)
            throw AccountError(.notSignedIn, message: "nobody is signed in to \(place); sign in first")
                .about(key.account)
        }
        guard session.provider == provider.name else {
            throw AccountError(
                .notSignedIn,
                message: "the session of \(place) belongs to \(session.provider), not \(provider.title); sign in again"
            ).about(key.account)
        }
        try session.check(provider.context, at: place)
        events.found(session, since: moment, status: status)
        return session
    }

    /// The session as messages name it: by its profile, or by its provider as the provider's owners write it.
    private nonisolated var place: String {
        guard key.deployment == provider.name else { return "\(key)" }
        return key.account.map { "\($0) at \(provider.title)" } ?? provider.title
    }

    nonisolated func status(of session: SavedSession) -> SessionStatus {
        SessionStatus(
            provider: session.provider, userID: session.userID, userName: session.userName,
            received: session.tokens.received, expires: session.tokens.expires,
            hasExpired: session.tokens.haveExpired(at: now),
            isRenewable: session.tokens.canBeRenewed(at: now) && provider.canRenew(session.tokens),
            kind: session.tokens.kind, refreshExpires: session.tokens.refreshExpires, attributes: session.attributes)
    }
}

extension AccountError {
    /// Whether the old access token may be used after a renewal failed with this: nothing was said about the session.
    var leavesOldTokens: Bool { ![.cancelled, .expired, .notSignedIn, .cannotStore].contains(code) }
}
