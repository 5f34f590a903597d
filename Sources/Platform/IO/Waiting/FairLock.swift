// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A lock that tasks get one after the other, in the order of their requests. The event itself wakes each task. A task may stop waiting by
/// cancellation or at its deadline.
///
/// `Grant` is the value that the holder of the lock gets. It comes from a closure. The closure returns the grant at once, or returns nil
/// and ensures a call of ``arrive(_:)`` when the grant is available.
package final class FairLock<Grant: Sendable, Failure: Error>: Sendable {
    private typealias Waiting = Waiter<Result<Grant, Failure>>

    private struct State {
        /// A task has the lock, or the first waiting one has asked for a grant that is not available yet.
        var isBusy = false
        var waiting: [Waiting] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns when the caller has the lock. The caller keeps it until ``leave(_:)``.
    ///
    /// - Parameters:
    ///   - error: makes the error that is thrown if the wait was given up.
    ///   - take: gets the grant.
    package func enter(
        within limit: Duration, orThrow error: @escaping @Sendable (GivenUp) -> Failure,
        _ take: () throws(Failure) -> Grant?
    ) async throws(Failure) -> Grant {
        let waiter = Waiting()
        let outcome: Result<Grant, Failure>? = state.withLock { state in
            if let outcome = Self.take(&state, take) { return outcome }
            state.waiting.append(waiter)
            return nil
        }
        if let outcome { return try outcome.get() }
        return try await waiter.value(within: limit) { [self] reason in
            let wasWaiting = state.withLock { state in
                state.waiting.firstIndex { $0 === waiter }.map { state.waiting.remove(at: $0) } != nil
            }
            // Otherwise the waiter is about to receive the lock.
            if wasWaiting { waiter.resume(returning: .failure(error(reason))) }
        }.get()
    }

    /// Releases the lock. The next task has it at once if `take` gets the grant.
    package func leave(_ take: () throws(Failure) -> Grant?) {
        let next: (Waiting, Result<Grant, Failure>)? = state.withLock { state in
            state.isBusy = false
            guard !state.waiting.isEmpty, let outcome = Self.take(&state, take) else { return nil }
            return (state.waiting.removeFirst(), outcome)
        }
        guard let (waiter, outcome) = next else { return }
        waiter.resume(returning: outcome)
        if case .failure(let error) = outcome { endAll(error) }
    }

    /// Passes on a grant that was not available at once.
    ///
    /// - Returns: whether a task still waited for it.
    package func arrive(_ grant: Grant) -> Bool {
        let next: Waiting? = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume(returning: .success(grant))
        return next != nil
    }

    /// Ends all waiting calls, because the grant will not come.
    package func endAll(_ error: Failure) {
        let waiting = state.withLock { state in
            state.isBusy = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume(returning: .failure(error)) }
    }

    /// Returns the grant or the reason why there is no grant; nil if the task has to wait for it.
    private static func take(
        _ state: inout State, _ take: () throws(Failure) -> Grant?
    ) -> Result<Grant, Failure>? {
        guard !state.isBusy else { return nil }
        do throws(Failure) {
            let grant = try take()
            state.isBusy = true
            return grant.map { .success($0) }
        } catch {
            return .failure(error)
        }
    }
}

extension FairLock where Grant == Void {
    /// Releases the lock. The next task has it at once.
    package func leave() { leave {} }
}

extension FairLock where Grant == Void, Failure == Never {
    /// Returns when the caller has the lock, even if its task is cancelled. For short work that has to be done in any case.
    package func enter() async {
        let waiter = Waiting()
        let isFree = state.withLock { state in
            if Self.take(&state, {}) != nil { return true }
            state.waiting.append(waiter)
            return false
        }
        if !isFree { _ = await waiter.value() }
    }
}
