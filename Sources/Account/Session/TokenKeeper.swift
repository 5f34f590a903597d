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
