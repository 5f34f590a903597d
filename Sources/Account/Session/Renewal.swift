// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore

/// One renewal, made while holding the store's lock: new tokens from the provider, stored before anyone sees them. If another process has
/// renewed the session meanwhile, its tokens are taken.
struct Renewal: Sendable {
    let keeper: TokenKeeper
    let turn: RenewalTurn
    /// The access token that is not good any more, if it was one.
    let rejected: Secret?
    let unsaved: TokenKeeper.Unsaved?
    let pause: TokenKeeper.Pause?

    /// How often a refused token may turn out to have been replaced in the store. Sessions are changed under the lock, so once is rare.
    private static let attempts = 2

    func run(_ access: any CredentialAccess) async throws(AccountError) -> SavedSession {
        var refusal: AccountError?
        for _ in 0..<Self.attempts {
            let stored = try await load(access)
            let session = unsaved?.newer(than: stored) ?? stored
            // Another process may have been here first.
            guard session.tokens.access == rejected || session.tokens.shouldBeRenewed(at: keeper.now) else {
                return session
            }
            if session.tokens.access != rejected, !session.tokens.haveRenewal {
                guard session.tokens.haveExpired(at: keeper.now) else { return session }
                throw Self.beyondItsEnd.about(keeper.key.account)
            }
            if let pause { throw rest(pause) }
            // Where new tokens cannot be kept, none are asked for: the provider may forget the old ones when it gives them.
            try await access.probe()
            do throws(RenewalError) {
                return try await turn.asking { () async throws(RenewalError) in
                    try await save(try await renewed(session), over: stored, access)
                }
            } catch {
                switch error {
                case .unavailable(let cause): throw Self.passing(cause)
                case .refused(let cause):
                    refusal = cause
                    // Only the session that is stored now can end: a program that ignores the lock may have replaced it.
                    if try await access.load()?.tokens == stored.tokens { throw try await end(cause, access) }
                }
            }
        }
        // Two sessions were refused, and neither is the one that is stored now: that one has not been asked about.
        var error = refusal ?? AccountError(.rejected, message: "the session could not be renewed")
        error.code = .rejected
        throw error
    }

    func load(_ access: any CredentialAccess) async throws(AccountError) -> SavedSession {
        let moment = keeper.events.moment
        return try keeper.own(try await access.load(), since: moment)
    }

    private func renewed(_ session: SavedSession) async throws(RenewalError) -> SavedSession {
        var renewed = session.bound(to: keeper.provider.context)
        renewed.tokens = try await keeper.provider.renew(session.tokens)
        // OpenID Connect Core 1.0, section 12.2, and as true of everybody's tokens: they stay the same person's.
        if let before = keeper.provider.user(claimedBy: session.tokens)?.userID,
            let after = keeper.provider.user(claimedBy: renewed.tokens)?.userID, before != after
        {
            throw .unavailable(.untrusted("of the renewal is another user's (sub)"))
        }
        renewed.tokens.carryOver(from: session.tokens)
        renewed.serverIsAhead = keeper.server?.secondsAhead ?? renewed.tokens.serverIsAhead ?? session.serverIsAhead
        if let ahead = renewed.serverIsAhead { renewed.tokens.correctEnd(serverIsAhead: ahead) }
        return renewed
    }

    private func save(
        _ renewed: SavedSession, over stored: SavedSession, _ access: any CredentialAccess
    ) async throws(RenewalError) -> SavedSession {
        let status = keeper.status(of: renewed)
        let (events, isKept) = (keeper.events, keeper.store.outlivesProcess)
        // Not a child of this task: tokens that arrive just before the deadline are saved all the same.
        let saving = Task { () async -> Result<Void, AccountError> in
            do throws(AccountError) {
                try await events.changing { () async throws(AccountError) in
                    try await access.save(renewed)
                    return .wrote(renewed, isKept ? [.saved(status), .refreshed(status)] : [.refreshed(status)])
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        do throws(AccountError) {
            try await saving.value.get()
        } catch {
            let isReadOnly = error.code == .storeReadOnly
            await keeper.keep(TokenKeeper.Unsaved(stored: stored, renewed: renewed, staysUnsaved: isReadOnly))
            guard isReadOnly else { throw .unavailable(error) }
            keeper.events.happened(.refreshed(status))
            return renewed
        }
        await keeper.keep(nil)
        keeper.logger.debug("session renewed")
        return renewed
    }

    /// For a session that nothing renews, and that is over by the clock here. It is kept.
    static let beyondItsEnd = AccountError(
        .expired, message: "the session's token has ended, by this machine's clock; sign in again")

    private func end(_ cause: AccountError, _ access: any CredentialAccess) async throws(AccountError) -> AccountError {
        keeper.logger.debug("the provider ended the session", metadata: ["cause": "\(cause.code)"])
        var error = cause.about(keeper.key.account)
        error.code = .expired
        error.message = "the session has ended; sign in again"
        try await keeper.events.changing { () async throws(AccountError) in
            try await access.remove()
            return .removed(.expired(error))
        }
        await keeper.keep(nil)
        return error
    }

    /// A gateway's 401, or a server fault that quotes a refusal, does not end the session.
    private static func passing(_ cause: AccountError) -> AccountError {
        guard cause.code == .expired else { return cause }
        var error = cause
        error.code = .serverFault
        error.message =
            "the server refused to renew the session (HTTP \(cause.status.map { "\($0)" } ?? "error")) and did not end it; try again later"
        return error
    }

    /// What the provider said when it asked to be left alone, with what is left of the time.
    private func rest(_ pause: TokenKeeper.Pause) -> AccountError {
        var error = pause.reason
        error.retryAfter = .seconds(pause.until.seconds - keeper.now.seconds)
        return error
    }
}
