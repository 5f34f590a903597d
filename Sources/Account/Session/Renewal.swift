// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore
import RainIO
import Synchronization

/// One renewal, made while holding the store's lock. The new tokens are stored before any caller gets them. If another process has renewed
/// the session meanwhile, its tokens are used.
struct Renewal: Sendable {
    let keeper: TokenKeeper
    let turn: RenewalTurn
    /// The access token that is no longer valid, if there was one.
    let rejected: Secret?
    let unsaved: TokenKeeper.Unsaved?
    let pause: TokenKeeper.Pause?

    /// How often the store may have replaced a refused token. Sessions are changed under the lock, so even once is rare.
    private static let attempts = 2

    func run(_ access: any CredentialAccess) async throws(AccountError) -> SavedSession {
        var refusal: AccountError?
        for _ in 0..<Self.attempts {
            let stored = try await load(access)
            let session = unsaved?.newer(than: stored) ?? stored
            // Another process may have renewed it first.
            guard session.tokens.access == rejected || session.tokens.shouldBeRenewed(at: keeper.now) else {
                return session
            }
            if session.tokens.access != rejected, !session.tokens.haveRenewal {
                guard session.tokens.haveExpired(at: keeper.now) else { return session }
                throw Self.beyondItsEnd.about(keeper.key.account)
            }
            if let pause { throw rest(pause) }
            // If the store cannot save new tokens, none are requested. The provider may forget the old ones when it issues new ones.
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
                    // Only the session that is stored now can end. A program that ignores the lock may have replaced it.
                    if try await access.load()?.tokens == stored.tokens { throw try await end(cause, access) }
                }
            }
        }
        // Two sessions were refused, but neither is the stored one. The provider has not been asked about that one.
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
        // The user must remain the same (OpenID Connect Core 1.0, section 12.2). This holds for tokens of every provider.
        if let before = keeper.provider.user(claimedBy: session.tokens)?.userID,
            let after = keeper.provider.user(claimedBy: renewed.tokens)?.userID, before != after
        {
            throw .unavailable(.untrusted("from the renewal belongs to another user (sub)"))
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
        // This is not a child of this task, so that tokens that arrive just before the deadline are saved anyway.
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

    /// The error for a session that cannot be renewed and has expired by the local clock. The session is kept.
    static let beyondItsEnd = AccountError(
        .expired, message: "the session's token has expired, according to this machine's clock; sign in again")

    private func end(_ cause: AccountError, _ access: any CredentialAccess) async throws(AccountError) -> AccountError {
        keeper.logger.debug("the provider ended the session", metadata: ["cause": "\(cause.code)"])
        var error = cause.about(keeper.key.account)
        error.code = .expired
        error.message =
            cause.status == nil
            ? "the session has ended; sign in again"
            : "the session has ended, because the server no longer accepts its refresh token; sign in again"
        try await keeper.events.changing { () async throws(AccountError) in
            try await access.remove()
            return .removed(.expired(error))
        }
        keeper.ending.withLock { [error] in $0 = error }
        await keeper.keep(nil)
        return error
    }

    /// Returns an error that does not end the session, for a gateway's 401 and for a server fault that quotes a refusal.
    private static func passing(_ cause: AccountError) -> AccountError {
        guard cause.code == .expired else { return cause }
        var error = cause
        error.code = .serverFault
        error.message =
            "the server refused to renew the session (HTTP \(cause.status.map { "\($0)" } ?? "error")), but you are still signed in; try again later"
        return error
    }

    /// Returns the error with which the provider asked to wait, with the rest of that time.
    private func rest(_ pause: TokenKeeper.Pause) -> AccountError {
        var error = pause.reason
        error.retryAfter = .seconds(pause.until.seconds - keeper.now.seconds)
        return error
    }
}

/// One turn at the provider, run in its own task. Callers may leave at any time. When all have left, the turn is given up, but never
/// between the request for new tokens and the storing of the answer. A provider that replaces refresh tokens has then forgotten the old
/// one, and losing the new one would end the session.
final class RenewalTurn: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var callers = 0
        var hasLock = false
        var isAsking = false
        var isGivenUp = false
    }

    private let state = Mutex(State())

    /// Begins the turn. `body` always ends: its waits, for the store's lock and for the provider, have deadlines.
    func start(_ body: @escaping @Sendable () async -> Void) {
        let task = Task { await body() }
        let isGivenUp = state.withLock { state in
            state.task = task
            return state.isGivenUp
        }
        if isGivenUp { task.cancel() }
    }

    /// Adds a caller that waits for the result.
    /// - Returns: false if the turn has been given up and will have no result.
    func join() -> Bool {
        state.withLock { state in
            if state.isGivenUp { return false }
            state.callers += 1
            return true
        }
    }

    /// Removes a caller. After the last one the turn is given up, at once or when an answer is stored.
    func leave() {
        let task: Task<Void, Never>? = state.withLock { state in
            state.callers -= 1
            guard state.callers == 0 else { return nil }
            state.isGivenUp = true
            return state.isAsking ? nil : state.task
        }
        task?.cancel()
    }

    /// Whether this turn has the store's lock. Before that, another process has it.
    var hasLock: Bool { state.withLock { $0.hasLock } }

    /// Whether the provider was asked for new tokens, and the answer is not stored yet.
    var isAsking: Bool { state.withLock { $0.isAsking } }

    /// Records that this turn has the store's lock.
    func begin() { state.withLock { $0.hasLock = true } }

    /// Asks the provider for new tokens and stores them. Callers that leave do not interrupt it.
    fileprivate func asking<Answer>(
        _ ask: () async throws(RenewalError) -> Answer
    ) async throws(RenewalError) -> Answer {
        let underWay = RenewalsUnderWay.current
        let mayAsk = state.withLock { state in
            guard !state.isGivenUp else { return false }
            state.isAsking = true
            // It is counted before a caller that leaves can see that it continues.
            underWay.begin()
            return true
        }
        guard mayAsk else {
            throw .unavailable(AccountError(.cancelled, message: "cancelled before new tokens were requested"))
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

/// The renewals whose request was sent and whose answer is not stored yet: those of the whole process, or those of the tasks that share a
/// value of their own.
package final class RenewalsUnderWay: Sendable {
    /// The renewals of the process. The C library binds a value for each of its clients, and a test binds its own, so that they do not see
    /// the renewals of others.
    @TaskLocal package static var current = RenewalsUnderWay()

    package init() {}

    private struct State {
        var count = 0
        var waiting: [Waiter<Bool>] = []
    }

    private let state = Mutex(State())

    fileprivate func begin() { state.withLock { $0.count += 1 } }

    fileprivate func end() {
        let waiting: [Waiter<Bool>] = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume(returning: true) }
    }

    /// Waits until there are none, at most for this time.
    /// - Returns: whether there are none.
    package func finish(within limit: Duration) async -> Bool {
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
