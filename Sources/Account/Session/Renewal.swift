// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore
import RainIO
import Synchronization

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

/// One turn at the provider, run in a task of its own. Whoever asked for it may leave at any time; once nobody is left the turn is given
/// up, but never between the request for new tokens and the moment at which its answer is stored: a provider that replaces refresh tokens
/// has forgotten the old one by then, and a session whose new one is lost is over.
final class RenewalTurn: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var callers = 0
        var hasLock = false
        var isAsking = false
        var isGivenUp = false
    }

    private let state = Mutex(State())

    /// Begins the turn. `body` ends by itself: its waits, for the store's lock and for the provider, have deadlines.
    func start(_ body: @escaping @Sendable () async -> Void) {
        let task = Task { await body() }
        let isGivenUp = state.withLock { state in
            state.task = task
            return state.isGivenUp
        }
        if isGivenUp { task.cancel() }
    }

    /// One more wants what comes of it.
    /// - Returns: false where the turn has been given up, so that nothing comes of it.
    func join() -> Bool {
        state.withLock { state in
            if state.isGivenUp { return false }
            state.callers += 1
            return true
        }
    }

    /// One of those who joined has left. The last one's leaving gives the turn up, at once or when an answer is stored.
    func leave() {
        let task: Task<Void, Never>? = state.withLock { state in
            state.callers -= 1
            guard state.callers == 0 else { return nil }
            state.isGivenUp = true
            return state.isAsking ? nil : state.task
        }
        task?.cancel()
    }

    /// Whether the store's lock has been taken: until then another process has it.
    var hasLock: Bool { state.withLock { $0.hasLock } }

    /// The store's lock has been taken.
    func begin() { state.withLock { $0.hasLock = true } }

    /// Asks the provider for new tokens and stores them, which nobody who leaves interrupts.
    func asking<Answer>(
        _ ask: () async throws(RenewalError) -> Answer
    ) async throws(RenewalError) -> Answer {
        let underWay = RenewalsUnderWay.current
        let mayAsk = state.withLock { state in
            guard !state.isGivenUp else { return false }
            state.isAsking = true
            // Counted before anyone who leaves can see that it goes on.
            underWay.begin()
            return true
        }
        guard mayAsk else {
            throw .unavailable(AccountError(.cancelled, message: "cancelled before new tokens were asked for"))
        }
        defer {
            let task = state.withLock { state in
                state.isAsking = false
                return state.isGivenUp ? state.task : nil
            }
            task?.cancel()
            underWay.end()
        }
        return try await ask()
    }
}

/// The renewals of this process whose request has gone out and whose answer is not stored yet, of all its sessions.
final class RenewalsUnderWay: Sendable {
    /// Those of the process. A test binds its own, so that it does not see the renewals of the tests beside it.
    @TaskLocal static var current = RenewalsUnderWay()

    private struct State {
        var count = 0
        var waiting: [Waiter<Bool>] = []
    }

    private let state = Mutex(State())

    func begin() { state.withLock { $0.count += 1 } }

    func end() {
        let waiting: [Waiter<Bool>] = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume(returning: true) }
    }

    /// Waits until there is none, for so long at most.
    /// - Returns: whether there is none.
    func finish(within limit: Duration) async -> Bool {
        let waiter = Waiter<Bool>()
        let isIdle = state.withLock { state in
            if state.count > 0 { state.waiting.append(waiter) }
            return state.count == 0
        }
        if isIdle { return true }
        return await waiter.value(within: limit) { [self] _ in
            state.withLock { state in state.waiting.removeAll { $0 === waiter } }
            waiter.resume(returning: false)
        }
    }
}
