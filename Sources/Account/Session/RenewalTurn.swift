// SPDX-License-Identifier: Apache-2.0
import RainCore
import Synchronization

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
