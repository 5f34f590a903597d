import Logging
import Vocabulary

/// Keeps one session's tokens fresh: renews them before they expire and when the service rejects them, once for everybody who
/// asks, in this process and in all others that share the store.
///
/// New tokens are stored before anyone uses them. Only a refusal by the provider ends a session; a fault on the way never does, and
/// as long as the old token lives it is used.
actor TokenKeeper {
    typealias Outcome = Result<SavedSession, AccountError>

    private let provider: any IdentityProvider
    private let store: any CredentialStore
    private let key: CredentialKey
    private let clock: any WallClock
    private let logger: Logger

    /// Who waits for the renewal that is under way; nil while there is none.
    private var waiters: [Int: CheckedContinuation<Outcome, Never>]?
    private var nextWaiter = 0
    /// Renewed, but the store would not take it: a provider that rotates its tokens has forgotten the stored ones by now.
    private var unsaved: SavedSession?

    /// A renewal takes at most one call to the cloud (10 s); another process's turn can be that long.
    private static let turnLimit = Duration.seconds(15)

    init(
        provider: any IdentityProvider, store: any CredentialStore, key: CredentialKey, clock: any WallClock,
        logger: Logger
    ) {
        self.provider = provider
        self.store = store
        self.key = key
        self.clock = clock
        self.logger = logger
    }

    nonisolated var now: UnixTime { clock.now }

    /// The stored session as it is.
    func stored() async throws(AccountError) -> SavedSession {
        if let unsaved {
            try await save(unsaved)
            self.unsaved = nil
        }
        return try own(try await store.load(key))
    }

    /// The session with an access token that is good for a while.
    func fresh() async throws(AccountError) -> SavedSession {
        let session = try await stored()
        guard session.tokens.shouldBeRenewed(at: clock.now) else { return session }
        do throws(AccountError) {
            return try await renewed(replacing: session.tokens.access)
        } catch {
            guard error.code != .cancelled, error.code != .expired, error.code != .notSignedIn,
                error.code != .cannotStore, !session.tokens.haveExpired(at: clock.now)
            else { throw error }
            logger.debug("renewal failed, the old token still lives", metadata: ["cause": "\(error.code)"])
            return session
        }
    }

    /// The session with another access token than `rejected`, which the service did not accept or which is about to expire.
    /// Cancelling the calling task leaves the renewal to the others who wait for it.
    func renewed(replacing rejected: Secret) async throws(AccountError) -> SavedSession {
        if waiters == nil {
            waiters = [:]
            // Ends by itself: its two waits, for the turn and for the provider, have deadlines.
            Task {
                let outcome = await renew(replacing: rejected)
                finish(outcome)
            }
        }
        nextWaiter += 1
        let waiter = nextWaiter
        let outcome: Outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(returning: .failure(cancelled))
                } else {
                    waiters?[waiter] = continuation
                }
            }
        } onCancel: {
            // Runs on the actor after the registration above, which it does not interrupt; done as soon as it ran.
            Task { await leave(waiter) }
        }
        return try outcome.get()
    }

    private var cancelled: AccountError { AccountError(.cancelled, message: "cancelled while renewing the session") }

    private func leave(_ waiter: Int) {
        waiters?.removeValue(forKey: waiter)?.resume(returning: .failure(cancelled))
    }

    /// A failure is told to those who wait and then forgotten.
    private func finish(_ outcome: Outcome) {
        let waiting = waiters ?? [:]
        waiters = nil
        for continuation in waiting.values { continuation.resume(returning: outcome) }
    }

    // MARK: The renewal

    private func renew(replacing rejected: Secret) async -> Outcome {
        let (provider, clock, logger) = (provider, clock, logger)
        let own = own
        let keepUnsaved: @Sendable (SavedSession) async -> Void = { await self.keep(unsaved: $0) }
        do throws(AccountError) {
            return .success(
                try await store.exclusively(key, within: Self.turnLimit) { access async throws(AccountError) in
                    let session = try own(try await access.load())
                    // Another process may have been here first.
                    guard session.tokens.access == rejected || session.tokens.shouldBeRenewed(at: clock.now) else {
                        return session
                    }
                    var renewed = session
                    do throws(RenewalError) {
                        renewed.tokens = try await provider.renew(session.tokens)
                    } catch {
                        switch error {
                        case .unavailable(let cause): throw cause
                        case .refused(let cause):
                            logger.debug("the provider ended the session", metadata: ["cause": "\(cause.code)"])
                            try await access.remove()
                            throw AccountError(
                                .expired, message: "the session has ended; sign in again",
                                serverCode: cause.serverCode, serverMessage: cause.serverMessage, status: cause.status)
                        }
                    }
                    do throws(AccountError) {
                        try await access.save(renewed)
                    } catch {
                        await keepUnsaved(renewed)
                        throw error
                    }
                    logger.debug("session renewed")
                    return renewed
                })
        } catch {
            return .failure(error)
        }
    }

    private func keep(unsaved session: SavedSession) { unsaved = session }

    // MARK: Saving and ending

    func save(_ session: SavedSession) async throws(AccountError) {
        try await store.exclusively(key, within: Self.turnLimit) { access async throws(AccountError) in
            try await access.save(session)
        }
    }

    /// Makes sure that a session could be saved, before anyone is asked for a password.
    func probeStore() async throws(AccountError) {
        try await store.probe(key, within: Self.turnLimit)
    }

    /// Removes the session that has this access token; one that was stored meanwhile stays.
    func remove(_ session: SavedSession) async throws(AccountError) {
        unsaved = nil
        try await store.exclusively(key, within: Self.turnLimit) { access async throws(AccountError) in
            guard try await access.load()?.tokens.access == session.tokens.access else { return }
            try await access.remove()
        }
    }

    private nonisolated var own: @Sendable (SavedSession?) throws(AccountError) -> SavedSession {
        { [key, provider] session throws(AccountError) in
            guard let session else {
                throw AccountError(.notSignedIn, message: "nobody is signed in to \(key); sign in first")
            }
            guard session.provider == provider.name else {
                throw AccountError(
                    .notSignedIn,
                    message: "the session of \(key) belongs to \(session.provider), not \(provider.name); sign in again"
                )
            }
            return session
        }
    }
}
