// SPDX-License-Identifier: Apache-2.0

/// One sign-out, made while holding the store's lock: the provider is told, and the session removed.
struct SignOut: Sendable {
    let keeper: TokenKeeper
    let turn: RenewalTurn
    let unsaved: TokenKeeper.Unsaved?
    let pause: TokenKeeper.Pause?
    let tell: @Sendable (Tokens) async throws(AccountError) -> SignOutReport

    /// How far it came at the provider; complete also where that had ended the session already.
    func run(_ access: any CredentialAccess) async throws(AccountError) -> AccountSession.SignOutOutcome {
        var outcome = AccountSession.SignOutOutcome.complete
        do throws(AccountError) {
            let report = try await keeper.withinLockTime { () async throws(AccountError) in
                try await tellProvider(access)
            }
            if !report.stillValid.isEmpty { outcome = .partly(report) }
        } catch {
            if error.code == .cancelled { throw error }
            let hasEnded = error.code == .expired && error.status != 401 || error.code == .notSignedIn
            if !hasEnded { outcome = .onlyHere(error) }
        }
        try await keeper.events.changing { () async throws(AccountError) in
            guard try await access.load() != nil else { return .removed(.signedOut(.elsewhere)) }
            try await access.remove()
            return .removed(.signedOut(.here))
        }
        return outcome
    }

    private func tellProvider(_ access: any CredentialAccess) async throws(AccountError) -> SignOutReport {
        let session = try await living(access)
        do throws(AccountError) {
            return try await tell(session.tokens)
        } catch {
            // The access token was not accepted. The refresh token still has to be revoked.
            guard error.status == 401 else { throw error }
            return try await tell(try await renewed(session, access).tokens)
        }
    }

    /// The session with an access token that the provider takes, as far as that is known here.
    private func living(_ access: any CredentialAccess) async throws(AccountError) -> SavedSession {
        let stored = try await renewal(replacing: nil).load(access)
        let session = unsaved?.newer(than: stored) ?? stored
        guard session.tokens.shouldBeRenewed(at: keeper.now), session.tokens.canBeRenewed(at: keeper.now) else {
            return session
        }
        do throws(AccountError) {
            return try await renewed(session, access)
        } catch {
            guard error.leavesOldTokens, !session.tokens.haveExpired(at: keeper.now) else { throw error }
            return session
        }
    }

    private func renewed(
        _ session: SavedSession, _ access: any CredentialAccess
    ) async throws(AccountError) -> SavedSession {
        try await renewal(replacing: session).run(access)
    }

    private func renewal(replacing session: SavedSession?) -> Renewal {
        Renewal(
            keeper: keeper, turn: turn, rejected: session?.tokens.access, unsaved: unsaved, pause: pause)
    }
}
