// SPDX-License-Identifier: Apache-2.0

/// Why a wait was given up.
package enum GivenUp: Sendable, Equatable {
    case timedOut
    /// The waiting task was cancelled.
    case cancelled
}

extension Waiter {
    /// Waits for the value, for so long at most. To be called once.
    ///
    /// - Parameter giveUp: called when the time is over and when the task is cancelled, on another thread or at once. It has to see to it
    ///   that the value comes, as with ``value(onCancel:)``; it may be called twice, and after the value has come.
    package func value(within limit: Duration, giveUp: @escaping @Sendable (GivenUp) -> Void) async -> Value {
        let timer = DeadlineTimer.start(at: .after(limit)) { giveUp(.timedOut) }
        defer { timer.cancel() }
        return await value { giveUp(.cancelled) }
    }
}
