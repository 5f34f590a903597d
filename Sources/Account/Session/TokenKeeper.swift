// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore
import RainIO

/// Keeps one session's tokens fresh: renews them before they expire and when the service rejects them, once for everybody who
/// asks, in this process and in all others that share the store.
///
/// New tokens are stored before anyone uses them. A session ends only when the provider refuses the tokens that are stored. An error from
/// a proxy or gateway does not end it, and neither does this machine's clock. While a renewal fails, the old token is used until it ends.
actor TokenKeeper {
    typealias Outcome = Result<SavedSession, AccountError>

    let provider: any IdentityProvider
    let store: any CredentialStore
    let key: CredentialKey
    let clock: any WallClock
    let server: ServerClock?
    let logger: Logger
    /// By which what takes too long is given up.
    let timer: any Clock<Duration>
    nonisolated let events = EventHub()

    /// The renewal that is under way, and who waits for it; nil while there is none.
    private var flight: (turn: RenewalTurn, waiters: [Waiter<Outcome>])?

    var unsaved: Unsaved?

    /// Whether the stored session was bound to the provider's settings, or that was tried.
    var hasBound = false

    /// Whether the session that a sign-in will replace was reported to listeners.
    var hasReportedEarlier = false

    var pause: Pause?
    /// A header that was wrong once must not silence a gateway for a day.
    private static let longestPause = 3600.0

    init(
        provider: any IdentityProvider, store: any CredentialStore, key: CredentialKey, clock: any WallClock,
        server: ServerClock?, logger: Logger, timer: any Clock<Duration>
    ) {
        self.provider = provider
        self.store = store
        self.key = key
        self.clock = clock
        self.server = server
        self.logger = logger
        self.timer = timer
    }

    nonisolated var now: UnixTime { clock.now }

    // MARK: Asking

    /// The stored session as it is, or the newer one that the store did not take.
    func stored() async throws(AccountError) -> SavedSession {
        if let unsaved, !unsaved.staysUnsaved { try await saveLate(unsaved) }
        let moment = events.moment
        let session = try await store.load(key)
        let own = await bound(try own(session, since: moment))
        return current(own)
    }

    /// The session with an access token that is good for a while.
    func fresh() async throws(AccountError) -> SavedSession {
        let session = try await stored()
        let tokens = session.tokens
        guard tokens.shouldBeRenewed(at: clock.now) else { return session }
        let stillLives = !tokens.haveExpired(at: clock.now)
        // Without a refresh token there is nothing to renew with, and with the last minute of this one all to gain.
        if stillLives, !tokens.canBeRenewed(at: clock.now) || isPaused { return session }
        // By the clock here, which may be wrong: the session is kept, and its tokens may turn out to live.
        guard tokens.haveRenewal else { throw Renewal.beyondItsEnd.about(key.account) }
        do throws(AccountError) {
            return try await renewed(replacing: tokens.access)
        } catch {
            guard stillLives, !tokens.haveExpired(at: clock.now), error.leavesOldTokens else { throw error }
            logger.debug("renewal failed, the old token still lives", metadata: ["cause": "\(error.code)"])
            return session
        }
    }

    /// The session with another access token than `rejected`, which the service did not accept or which is about to expire.
    /// Cancelling the calling task leaves the renewal to the others who wait for it. Once its request has gone out it needs none.
    func renewed(replacing rejected: Secret) async throws(AccountError) -> SavedSession {
        let session = try await joinRenewal(replacing: rejected)
        // The renewal under way was for an older token, and brought the one that is rejected here.
        guard session.tokens.access == rejected else { return session }
        return try await joinRenewal(replacing: rejected)
    }

    /// Renews the session whose access token that is, because somebody asked for it.
    func renewed(_ session: SavedSession) async throws(AccountError) -> SavedSession {
        let tokens = session.tokens
        guard tokens.haveRenewal else {
            if tokens.haveExpired(at: clock.now) { throw Renewal.beyondItsEnd.about(key.account) }
            throw AccountError(
                .notRenewable,
                message:
                    "there is nothing to renew the session with: it is good until its token ends; sign in again then")
        }
        return try await renewed(replacing: tokens.access)
    }

    // MARK: One renewal for all

    private func joinRenewal(replacing rejected: Secret) async throws(AccountError) -> SavedSession {
        while true {
            if Task.isCancelled { throw Self.cancelled(flight?.turn, key) }
            let turn = flight?.turn ?? begin(replacing: rejected)
            let hasJoined = turn.join()
            let waiter = Waiter<Outcome>()
            flight?.waiters.append(waiter)
            // Who was cancelled stays among the waiters until the renewal ends, and is not resumed again then.
            let outcome = await waiter.value { [key] in
                if waiter.resume(returning: .failure(Self.cancelled(turn, key))), hasJoined { turn.leave() }
            }
            // What all others had left was only waited for.
            if hasJoined { return try outcome.get() }
        }
    }

    private static func cancelled(_ turn: RenewalTurn?, _ key: CredentialKey) -> AccountError {
        var error = AccountError(.cancelled, message: "cancelled while renewing the session")
        if let turn, !turn.hasLock {
            error.unfinished = "another process still holds the lock of the session \(key.name)"
        }
        return error
    }

    private func begin(replacing rejected: Secret) -> RenewalTurn {
        let turn = RenewalTurn()
        flight = (turn, [])
        turn.start {
            let outcome = await self.renew(replacing: rejected, turn)
            await self.finish(outcome)
        }
        return turn
    }

    /// A failure is told to those who wait and then forgotten.
    private func finish(_ outcome: Outcome) {
        let waiting = flight?.waiters ?? []
        flight = nil
        for waiter in waiting { waiter.resume(returning: outcome) }
    }

    private func renew(replacing rejected: Secret, _ turn: RenewalTurn) async -> Outcome {
        let renewal = Renewal(keeper: self, turn: turn, rejected: rejected, unsaved: unsaved, pause: activePause)
        do throws(AccountError) {
            let session = try await store.exclusively(key, within: StoreLockTimes.wait) {
                access async throws(AccountError) -> SavedSession in
                turn.begin()
                return try await withinLockTime { () async throws(AccountError) in try await renewal.run(access) }
            }
            return .success(session)
        } catch {
            if let wait = error.retryAfter, activePause == nil, wait > .zero {
                let seconds = min(wait / .seconds(1), Self.longestPause)
                pause = Pause(from: clock.now, until: clock.now + seconds, reason: error)
            }
            return .failure(error)
        }
    }

    /// Asks the provider, for no longer than the store's lock may be held: so those who wait for the lock need not give up.
    nonisolated func withinLockTime<Answer: Sendable>(
        _ ask: @escaping @Sendable () async throws(AccountError) -> Answer
    ) async throws(AccountError) -> Answer {
        let timer = timer
        let outcome = await withDeadline(StoreLockTimes.longest, sleep: { try await timer.sleep(for: $0) }, ask)
        guard let outcome else {
            throw AccountError(
                .timeout,
                message: "\(provider.title) took longer than \(StoreLockTimes.longest) in all; try again later"
            )
        }
        return try outcome.get()
    }

    // MARK: When the provider wants rest

    private var isPaused: Bool { activePause != nil }

    /// A clock that was set back does not make it longer.
    var activePause: Pause? {
        guard let pause, pause.from <= clock.now, clock.now < pause.until else { return nil }
        return pause
    }
}

extension TokenKeeper {
    /// A renewal that the store did not take: the provider may have forgotten the stored tokens by now.
    struct Unsaved: Sendable {
        var stored: SavedSession
        var renewed: SavedSession
        /// The store never takes anything.
        var staysUnsaved: Bool

        /// What came of that session, if it is the one.
        func newer(than session: SavedSession) -> SavedSession? {
            stored.tokens == session.tokens ? renewed : nil
        }
    }

    /// Until when the provider asked to be left alone, and with what.
    struct Pause: Sendable {
        var from: UnixTime
        var until: UnixTime
        var reason: AccountError
    }
}

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

/// A session is used with the settings that it was made with and no others: its tokens are for one address.
extension TokenKeeper {
    /// A session that was stored before all of the settings were, bound to those of now. The store learns of it once; one that cannot be
    /// changed leaves it bound in this process only.
    func bound(_ session: SavedSession) async -> SavedSession {
        guard session.bound(to: provider.context) != session, !hasBound else { return session }
        hasBound = true
        let events = events
        let context = provider.context
        do throws(AccountError) {
            return try await store.exclusively(key, within: StoreLockTimes.wait) { access async throws(AccountError) in
                let found = try own(try await access.load(), since: events.moment)
                let bound = found.bound(to: context)
                try await events.changing { () async throws(AccountError) in
                    try await access.save(bound)
                    return .wrote(bound, [])
                }
                return bound
            }
        } catch {
            logger.debug("the stored session was not bound to its address", metadata: ["cause": "\(error.code)"])
            return session
        }
    }
}

extension SavedSession {
    /// Throws `wrongContext` where it was made with another value of one of the settings.
    func check(_ settings: [String: String], at place: String) throws(AccountError) {
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) {
            guard let own = context[name], own != value else { continue }
            let words = { (value: String) in value.isEmpty ? "none" : presentable(value) }
            let slash = ServerMetadata.differOnlyInSlash(own, value) ? " (only the \"/\" at the end differs)" : ""
            throw AccountError(
                .wrongContext,
                message: """
                    the session of \(place) was made with another \(name): \(words(own)), not \(words(value))\(slash); its tokens \
                    were not used. Sign in again, or set it back
                    """)
        }
    }

    /// With the settings that it does not have yet.
    func bound(to settings: [String: String]) -> SavedSession {
        var session = self
        session.context.merge(settings) { own, _ in own }
        return session
    }
}

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
