// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization

/// A value that comes once, and that any number of tasks wait for, each with a time limit of its own.
final class Announcement<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [Waiter<Value?>] = []
    }

    private let state = Mutex(State())

    /// Gives the value to all tasks that wait. Only the first call has an effect.
    func make(_ value: Value) {
        // No task is resumed while the lock is held: a task that is being cancelled holds a lock of the runtime's while its handler waits
        // for this one.
        let waiters = state.withLock { state -> [Waiter<Value?>] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    /// Nil where the time is over first, or the calling task is cancelled.
    func value(until end: ContinuousClock.Instant) async -> Value? {
        let waiter = Waiter<Value?>()
        let now = state.withLock { state in
            if state.value == nil { state.waiters.append(waiter) }
            return state.value
        }
        if let now { return now }
        return await waiter.value(within: ContinuousClock.now.duration(to: end)) { [self] _ in
            state.withLock { state in state.waiters.removeAll { $0 === waiter } }
            waiter.resume(returning: nil)
        }
    }
}
