// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization

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
