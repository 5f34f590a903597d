import RainWaiting
import Logging
import RainCore

/// Keeps one session's tokens fresh: renews them before they expire and when the service rejects them, once for everybody who
/// asks, in this process and in all others that share the store.
///
/// New tokens are stored before anyone uses them. Only the provider's refusal of the very tokens that are stored ends a session; a
/// fault on the way never does, nor does the clock here, and as long as the old token lives it is used.
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

    /// Who waits for the renewal that is under way; nil while there is none.
    private var waiters: [Waiter<Outcome>]?

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
    private var unsaved: Unsaved?

    /// Until when the provider asked to be left alone, and with what.
    struct Pause: Sendable {
        var from: UnixTime
        var until: UnixTime
        var reason: AccountError
    }
    private var pause: Pause?
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
        let own = try own(session, since: moment)
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
        guard tokens.haveRenewal else { throw Renewal.beyondItsEnd }
        do throws(AccountError) {
            return try await renewed(replacing: tokens.access)
        } catch {
            guard stillLives, !tokens.haveExpired(at: clock.now), error.leavesOldTokens else { throw error }
            logger.debug("renewal failed, the old token still lives", metadata: ["cause": "\(error.code)"])
            return session
        }
    }

    /// The session with another access token than `rejected`, which the service did not accept or which is about to expire.
    /// Cancelling the calling task leaves the renewal to the others who wait for it.
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
            if tokens.haveExpired(at: clock.now) { throw Renewal.beyondItsEnd }
            throw AccountError(
                .notRenewable,
                message:
                    "there is nothing to renew the session with: it is good until its token ends; sign in again then")
        }
        return try await renewed(replacing: tokens.access)
    }

    // MARK: One renewal for all

    private func joinRenewal(replacing rejected: Secret) async throws(AccountError) -> SavedSession {
        if waiters == nil {
            waiters = []
            // Ends by itself: its two waits, for the turn and for the provider, have deadlines.
            Task {
                let outcome = await renew(replacing: rejected)
                finish(outcome)
            }
        }
        let waiter = Waiter<Outcome>()
        waiters?.append(waiter)
        // Who was cancelled stays among the waiters until the renewal ends, and is not resumed again then.
        let outcome = await waiter.value {
            let message = "cancelled while renewing the session"
            waiter.resume(returning: .failure(AccountError(.cancelled, message: message)))
        }
        return try outcome.get()
    }

    /// A failure is told to those who wait and then forgotten.
    private func finish(_ outcome: Outcome) {
        let waiting = waiters ?? []
        waiters = nil
        for waiter in waiting { waiter.resume(returning: outcome) }
    }

    private func renew(replacing rejected: Secret) async -> Outcome {
        let renewal = Renewal(keeper: self, rejected: rejected, unsaved: unsaved, pause: activePause)
        do throws(AccountError) {
            let session = try await store.exclusively(key, within: StoreLockTimes.wait) {
                access async throws(AccountError) in
                try await withinTurn { () async throws(AccountError) in try await renewal.run(access) }
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

    /// Asks the provider for no longer than a turn may last, so that those who wait for theirs need not give up.
    nonisolated func withinTurn<Answer: Sendable>(
        _ ask: @escaping @Sendable () async throws(AccountError) -> Answer
    ) async throws(AccountError) -> Answer {
        let timer = timer
        let outcome = await withDeadline(StoreLockTimes.longest, sleep: { try await timer.sleep(for: $0) }, ask)
        guard let outcome else {
            throw AccountError(
                .timeout, message: "\(provider.name) took longer than \(StoreLockTimes.longest) in all; try again later"
            )
        }
        return try outcome.get()
    }

    // MARK: When the provider wants rest

    private var isPaused: Bool { activePause != nil }

    /// A clock that was set back does not make it longer.
    private var activePause: Pause? {
        guard let pause, pause.from <= clock.now, clock.now < pause.until else { return nil }
        return pause
    }

    // MARK: What the store did not take

    func keep(_ unsaved: Unsaved?) { self.unsaved = unsaved }

    private func current(_ session: SavedSession) -> SavedSession {
        guard let unsaved else { return session }
        if let newer = unsaved.newer(than: session) { return newer }
        self.unsaved = nil
        return session
    }

    /// Saves it now, unless the store has got another session meanwhile.
    private func saveLate(_ late: Unsaved) async throws(AccountError) {
        let events = events
        let saved = status(of: late.renewed)
        try await store.exclusively(key, within: StoreLockTimes.wait) { access async throws(AccountError) in
            guard try await access.load()?.tokens == late.stored.tokens else { return }
            try await events.changing { () async throws(AccountError) in
                try await access.save(late.renewed)
                return .wrote(late.renewed, [.saved(saved)])
            }
        }
        if unsaved?.renewed.tokens == late.renewed.tokens { unsaved = nil }
    }

    // MARK: Saving and ending

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
                return .wrote(begun, [.saved(status), .signedIn(status)])
            }
        }
        unsaved = nil
        pause = nil
    }

    /// Ends the session: `tell` tells the provider, and the store forgets it whatever comes of that.
    /// - Returns: why the provider could not be told, if it could not.
    func end(
        _ tell: @escaping @Sendable (Tokens) async throws(AccountError) -> Void
    ) async throws(AccountError) -> AccountError? {
        _ = try await stored()
        let ending = SignOut(keeper: self, unsaved: unsaved, pause: activePause, tell: tell)
        let failure = try await store.exclusively(key, within: StoreLockTimes.wait) {
            access async throws(AccountError) in
            try await ending.run(access)
        }
        unsaved = nil
        return failure
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

    // MARK: Whose

    /// The session if it is one of this provider's; tells listeners if it is news.
    nonisolated func own(_ session: SavedSession?, since moment: Int) throws(AccountError) -> SavedSession {
        guard let session else {
            events.found(nil, since: moment, status: status)
            throw AccountError(.notSignedIn, message: "nobody is signed in to \(key); sign in first")
        }
        guard session.provider == provider.name else {
            throw AccountError(
                .notSignedIn,
                message: "the session of \(key) belongs to \(session.provider), not \(provider.name); sign in again")
        }
        for (name, value) in provider.context where session.context[name] != value {
            throw AccountError(
                .wrongContext,
                message:
                    "the session of \(key) is for another \(name) than the one configured; sign in again, or set it back"
            )
        }
        events.found(session, since: moment, status: status)
        return session
    }

    nonisolated func status(of session: SavedSession) -> SessionStatus {
        SessionStatus(
            provider: session.provider, userID: session.userID, userName: session.userName,
            received: session.tokens.received, expires: session.tokens.expires,
            hasExpired: session.tokens.haveExpired(at: now), isRenewable: session.tokens.canBeRenewed(at: now),
            kind: session.tokens.kind, refreshExpires: session.tokens.refreshExpires, attributes: session.attributes)
    }
}

extension AccountError {
    /// Whether the old access token may be used after a renewal failed with this: nothing was said about the session.
    var leavesOldTokens: Bool { ![.cancelled, .expired, .notSignedIn, .cannotStore].contains(code) }
}
