// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainIO

extension TokenKeeper {
    func keep(_ unsaved: Unsaved?) { self.unsaved = unsaved }

    func current(_ session: SavedSession) -> SavedSession {
        guard let unsaved else { return session }
        if let newer = unsaved.newer(than: session) { return newer }
        self.unsaved = nil
        return session
    }

    /// Saves it now, unless the store has got another session meanwhile.
    func saveLate(_ late: Unsaved) async throws(AccountError) {
        let events = events
        let saved = status(of: late.renewed)
        try await store.exclusively(key, within: StoreLockTimes.wait) { access async throws(AccountError) in
            guard try await access.load()?.tokens == late.stored.tokens else { return }
            try await events.changing { () async throws(AccountError) in
                try await access.save(late.renewed)
                return .wrote(late.renewed, store.outlivesProcess ? [.saved(saved)] : [])
            }
        }
        if unsaved?.renewed.tokens == late.renewed.tokens { unsaved = nil }
    }

    /// Reports the session that is stored already, if there is one of this provider and address. Nothing is sent.
    func reportStored() async {
        guard let new = store as? any NewSessionStore else {
            let moment = events.moment
            if let session = try? await store.load(key) { _ = try? own(session, since: moment) }
            return
        }
        guard !hasReportedEarlier else { return }
        hasReportedEarlier = true
        // The session of another store: this one still has none.
        guard let session = try? await new.earlierSession(), session.provider == provider.name,
            (try? session.check(provider.context, at: "")) != nil
        else { return }
        events.happened(.loaded(status(of: session)))
    }

    /// Stores a session that somebody has just signed in to.
    func begin(_ new: SavedSession) async throws(AccountError) {
        var session = new
        session.serverIsAhead = server?.secondsAhead ?? session.tokens.serverIsAhead
        if let ahead = session.serverIsAhead { session.tokens.correctEnd(serverIsAhead: ahead) }
        let begun = session
        let status = status(of: begun)
        let events = events
        try await store.exclusively(key, within: StoreLockTimes.wait) { access async throws(AccountError) in
            try await events.changing { () async throws(AccountError) in
                try await access.save(begun)
                return .wrote(begun, store.outlivesProcess ? [.saved(status), .signedIn(status)] : [.signedIn(status)])
            }
        }
        unsaved = nil
        pause = nil
    }

    /// Ends the session: `tell` tells the provider, and the store forgets it whatever comes of that.
    /// - Returns: how far it came at the provider.
    func end(
        _ tell: @escaping @Sendable (Tokens) async throws(AccountError) -> SignOutReport
    ) async throws(AccountError) -> AccountSession.SignOutOutcome {
        do throws(AccountError) {
            _ = try await stored()
        } catch {
            // A session of another address is ended here: nothing of it is sent to this one.
            guard error.code == .wrongContext else { throw error }
        }
        let turn = RenewalTurn()
        let ending = SignOut(keeper: self, turn: turn, unsaved: unsaved, pause: activePause, tell: tell)
        _ = turn.join()
        let waiter = Waiter<Result<AccountSession.SignOutOutcome, AccountError>>()
        turn.start { [store, key] in
            do throws(AccountError) {
                let outcome = try await store.exclusively(key, within: StoreLockTimes.wait) {
                    access async throws(AccountError) in
                    try await ending.run(access)
                }
                waiter.resume(returning: .success(outcome))
            } catch {
                waiter.resume(returning: .failure(error))
            }
        }
        // Waited for in any case: where it is given up, it ends soon and says so.
        let outcome = try await waiter.value { turn.leave() }.get()
        unsaved = nil
        return outcome
    }

    /// Makes sure that a session could be saved, before anyone is asked for a password.
    func probeStore() async throws(AccountError) { try await store.probe(key, within: StoreLockTimes.wait) }

    /// Removes the session that has this access token; one that was stored meanwhile stays.
    func remove(_ session: SavedSession) async throws(AccountError) {
        let events = events
        let unsaved = unsaved
        try await store.exclusively(key, within: StoreLockTimes.wait) { access async throws(AccountError) in
            try await events.changing { () async throws(AccountError) in
                guard let stored = try await access.load() else { return .removed(.signedOut(.elsewhere)) }
                let isUnsaved = unsaved?.renewed.tokens == session.tokens && unsaved?.stored.tokens == stored.tokens
                guard isUnsaved || stored.tokens.access == session.tokens.access else { return .none }
                try await access.remove()
                return .removed(.signedOut(.here))
            }
        }
        self.unsaved = nil
    }
}
