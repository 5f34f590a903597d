// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore
import RainIO
import Synchronization

/// Keeps one session's tokens valid. It renews them before they expire, and when the service rejects them, once for all callers in this
/// process and in all others that share the store.
///
/// New tokens are stored before anyone uses them. A session ends only when the provider refuses the stored tokens. An error from a proxy or
/// gateway does not end it, and neither does this machine's clock. While a renewal fails, the old token is used until it expires.
actor TokenKeeper {
    private typealias Outcome = Result<SavedSession, AccountError>

    let provider: any IdentityProvider
    let store: any CredentialStore
    let key: CredentialKey
    private let clock: any WallClock
    let server: ServerClock?
    let logger: Logger
    /// Measures the time limits.
    let timer: any Clock<Duration>
    nonisolated let events = EventHub()

    /// The renewal in progress and its waiting callers; nil if there is none.
    private var flight: (turn: RenewalTurn, waiters: [Waiter<Outcome>])?

    private var unsaved: Unsaved?

    /// Why this keeper has ended its session; nil if it has not, or if another session has begun since. Callers that ask later get the
    /// same message.
    nonisolated let ending = Mutex<AccountError?>(nil)

    /// Whether the stored session was bound to the provider's settings, or binding was tried.
    private var hasBound = false

    /// Whether the session that a sign-in will replace was reported to listeners.
    private var hasReportedEarlier = false

    private var pause: Pause?
    /// The maximum pause in seconds. One wrong header must not stop a gateway for a day.
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

    /// Returns the stored session, or the newer one that the store could not save.
    /// - Parameter advice: the end of the message if nobody is signed in.
    func stored(orAdvise advice: String = "; sign in first") async throws(AccountError) -> SavedSession {
        if let unsaved, !unsaved.staysUnsaved { try await saveLate(unsaved) }
        let moment = events.moment
        let session = try await store.load(key)
        let own = await bound(try own(session, since: moment, orAdvise: advice))
        return current(own)
    }

    /// Returns the session with an access token that is valid for a while.
    func fresh() async throws(AccountError) -> SavedSession {
        let session = try await stored()
        let tokens = session.tokens
        guard tokens.shouldBeRenewed(at: clock.now) else { return session }
        let stillLives = !tokens.haveExpired(at: clock.now)
        // Without a refresh token there is nothing to renew with, so the last minute of this token can be used.
        if stillLives, !tokens.canBeRenewed(at: clock.now) || isPaused { return session }
        // The local clock may be wrong. The session is kept, and its tokens may still be valid.
        guard tokens.haveRenewal else { throw Renewal.beyondItsEnd.about(key.account) }
        do throws(AccountError) {
            return try await renewed(replacing: tokens.access)
        } catch {
            guard stillLives, !tokens.haveExpired(at: clock.now), error.leavesOldTokens else { throw error }
            logger.debug("renewal failed, the old token still lives", metadata: ["cause": "\(error.code)"])
            return session
        }
    }

    /// Returns the session with another access token than `rejected`, which the service refused or which is about to expire. Cancelling the
    /// calling task leaves the renewal to the other callers that wait for it. Once its request was sent, it continues without callers.
    func renewed(replacing rejected: Secret) async throws(AccountError) -> SavedSession {
        let session = try await joinRenewal(replacing: rejected)
        // The renewal in progress was for an older token, and returned the one that is rejected here.
        guard session.tokens.access == rejected else { return session }
        return try await joinRenewal(replacing: rejected)
    }

    /// Renews this session because a caller asked for it.
    func renewed(_ session: SavedSession) async throws(AccountError) -> SavedSession {
        let tokens = session.tokens
        guard tokens.haveRenewal else {
            if tokens.haveExpired(at: clock.now) { throw Renewal.beyondItsEnd.about(key.account) }
            throw AccountError(
                .notRenewable,
                message:
                    "the session cannot be renewed: it is valid until its token expires; after that, sign in again"
            )
        }
        return try await renewed(replacing: tokens.access)
    }

    // MARK: One renewal for all

    private func joinRenewal(replacing rejected: Secret) async throws(AccountError) -> SavedSession {
        while true {
            let server = provider.context["base_url"].flatMap(host(of:)) ?? provider.title
            if Task.isCancelled { throw Self.cancelled(flight?.turn, key, server) }
            let turn = flight?.turn ?? begin(replacing: rejected)
            let hasJoined = turn.join()
            let waiter = Waiter<Outcome>()
            flight?.waiters.append(waiter)
            // A cancelled caller remains in the list until the renewal ends, and is not resumed again then.
            let outcome = await waiter.value { [key] in
                let error = Self.cancelled(turn, key, server)
                if waiter.resume(returning: .failure(error)), hasJoined { turn.leave() }
            }
            // A turn that all other callers had left is only waited for. Then a new one begins.
            if hasJoined { return try outcome.get() }
        }
    }

    /// - Parameter server: the host that renews the session, or the provider's name.
    private static func cancelled(_ turn: RenewalTurn?, _ key: CredentialKey, _ server: String) -> AccountError {
        var error = AccountError(.cancelled, message: "cancelled while renewing the session")
        if let turn, !turn.hasLock {
            error.unfinished = "another process still holds the lock of the session \(key.name)"
        } else if turn?.isAsking == true {
            error.unfinished = "\(server) has not answered the renewal of the session"
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

    /// A failure is reported to the waiting callers and then forgotten.
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

    /// Asks the provider, at most for the time for which the store's lock may be held. Callers that wait for the lock therefore do not give
    /// up.
    nonisolated func withinLockTime<Answer: Sendable>(
        _ ask: @escaping @Sendable () async throws(AccountError) -> Answer
    ) async throws(AccountError) -> Answer {
        let timer = timer
        let outcome = await withDeadline(StoreLockTimes.longest, sleep: { try await timer.sleep(for: $0) }, ask)
        guard let outcome else {
            throw AccountError(
                .timeout,
                message: "\(provider.title) took longer than \(StoreLockTimes.longest) in total; try again later"
            )
        }
        return try outcome.get()
    }

    // MARK: When the provider asks to wait

    private var isPaused: Bool { activePause != nil }

    /// The pause, if it has not ended. It does not become longer if the clock is set back.
    private var activePause: Pause? {
        guard let pause, pause.from <= clock.now, clock.now < pause.until else { return nil }
        return pause
    }
}

extension TokenKeeper {
    /// A renewal that the store could not save. The provider may have forgotten the stored tokens by now.
    struct Unsaved: Sendable {
        var stored: SavedSession
        var renewed: SavedSession
        /// Whether the store never saves anything.
        var staysUnsaved: Bool

        /// Returns the renewed session, if `session` is the one that was renewed.
        func newer(than session: SavedSession) -> SavedSession? {
            stored.tokens == session.tokens ? renewed : nil
        }
    }

    /// The time until which the provider asked to wait, and its error.
    struct Pause: Sendable {
        var from: UnixTime
        var until: UnixTime
        var reason: AccountError
    }
}

extension TokenKeeper {
    /// Returns the session if it belongs to this provider. Reports it to listeners if it is new.
    /// - Parameter advice: the end of the message if nobody is signed in.
    nonisolated func own(
        _ session: SavedSession?, since moment: Int, orAdvise advice: String = "; sign in first"
    ) throws(AccountError) -> SavedSession {
        guard let session else {
            events.found(nil, since: moment, status: status)
            if var ended = ending.withLock({ $0 }) {
                ended.code = .notSignedIn
                throw ended
            }
            let preposition = key.account != nil ? "as" : key.deployment == provider.name ? "to" : "to the deployment"
            let credential =
                (store as? FileCredentialStore)?.credentials.map {
                    ", and \(presentable($0)) (CREDENTIALS_DIRECTORY) has no credential named rainkit-\(key.name)"
                } ?? ""
            throw AccountError(
                .notSignedIn, message: "nobody is signed in \(preposition) \(place)\(credential)\(advice)"
            ).about(key.account)
        }
        guard session.provider == provider.name else {
            throw AccountError(
                .notSignedIn,
                message: "the session of \(place) belongs to \(session.provider), not \(provider.title); sign in again"
            ).about(key.account)
        }
        try session.check(provider.context, at: place)
        ending.withLock { $0 = nil }
        events.found(session, since: moment, status: status)
        return session
    }

    /// The name of the session in messages: its profile, or its provider as the provider's owners write it.
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
    /// Whether the old access token may still be used after this error of a renewal. If so, the error says nothing about the session.
    var leavesOldTokens: Bool { ![.cancelled, .expired, .notSignedIn, .cannotStore].contains(code) }
}

/// Binds sessions to settings. A session is used only with the settings that it was made with, because its tokens are for one address.
extension TokenKeeper {
    /// Returns a session that lacks some of the settings, bound to the current values. It is written to the store once. If the store cannot
    /// change, the session is bound in this process only.
    private func bound(_ session: SavedSession) async -> SavedSession {
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
    /// Throws `wrongContext` if the session was made with another value of one of the settings.
    func check(_ settings: [String: String], at place: String) throws(AccountError) {
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) {
            guard let own = context[name], own != value else { continue }
            let words = { (value: String) in value.isEmpty ? "none" : presentable(value) }
            let slash = ServerMetadata.differOnlyInSlash(own, value) ? " (only the \"/\" at the end differs)" : ""
            throw AccountError(
                .wrongContext,
                message: """
                    the session of \(place) was made with the \(name) \(words(own)), but the \(name) is now \(words(value))\(slash), so \
                    its tokens were not used. Sign in again, or restore the setting
                    """)
        }
    }

    /// Returns the session with the settings that it lacked.
    func bound(to settings: [String: String]) -> SavedSession {
        var session = self
        session.context.merge(settings) { own, _ in own }
        return session
    }
}

extension TokenKeeper {
    func keep(_ unsaved: Unsaved?) { self.unsaved = unsaved }

    private func current(_ session: SavedSession) -> SavedSession {
        guard let unsaved else { return session }
        if let newer = unsaved.newer(than: session) { return newer }
        self.unsaved = nil
        return session
    }

    /// Saves the session now, unless the store has another session by now.
    private func saveLate(_ late: Unsaved) async throws(AccountError) {
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

    /// Reports the stored session, if there is one of this provider and address. Sends nothing.
    func reportStored() async {
        guard let new = store as? any NewSessionStore else {
            let moment = events.moment
            if let session = try? await store.load(key) { _ = try? own(session, since: moment) }
            return
        }
        guard !hasReportedEarlier else { return }
        hasReportedEarlier = true
        // This session is in another store, and this store has none yet.
        guard let session = try? await new.earlierSession(), session.provider == provider.name,
            (try? session.check(provider.context, at: "")) != nil
        else { return }
        events.happened(.loaded(status(of: session)))
    }

    /// Stores the session of a new sign-in.
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

    /// Ends the session: `tell` tells the provider, and the store forgets the session whatever the outcome.
    /// - Returns: the outcome at the provider.
    func end(
        _ tell: @escaping @Sendable (Tokens) async throws(AccountError) -> SignOutReport
    ) async throws(AccountError) -> AccountSession.SignOutOutcome {
        do throws(AccountError) {
            _ = try await stored(orAdvise: ", so there is no session to end")
        } catch {
            // A session of another address is ended only here. Nothing of it is sent to this address.
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
        // This is awaited in any case. After a cancellation it ends soon, with an error.
        let outcome = try await waiter.value { turn.leave() }.get()
        unsaved = nil
        return outcome
    }

    /// Checks that a session could be saved, before the user is asked for a password.
    func probeStore() async throws(AccountError) { try await store.probe(key, within: StoreLockTimes.wait) }

    /// Removes the session that has this access token. A session that was stored meanwhile remains.
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
