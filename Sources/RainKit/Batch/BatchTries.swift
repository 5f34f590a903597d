// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore

/// Which failures of a board are followed by another attempt.
struct BatchTries: Sendable {
    /// What follows a failure.
    enum Next: Sendable, Equatable {
        /// The board has failed.
        case end
        /// Another attempt.
        case again
        /// The board was not found, and is searched for until its time is over.
        case search
    }

    /// How often a board is tried if a fault may go away by itself.
    let maximum: Int
    private var used = 0
    private var excused = 0
    /// Whether no attempt has found the board yet.
    private(set) var isSearching = true

    init(maximum: Int) { self.maximum = maximum }

    /// - Parameters:
    ///   - hadStopped: whether the process stood still during the attempt, so that its deadlines say nothing.
    ///   - timeLeft: how much of the board's time is left.
    ///   - time: the board's time.
    mutating func failed(_ error: RainKitError, hadStopped: Bool, timeLeft: Duration, of time: Duration) -> Next {
        let isAbsent = error.code == .unavailable && error.reason == "not_found"
        if !isAbsent { isSearching = false }
        // As often as other attempts, so that a machine that stops all the time does not keep a board forever.
        if hadStopped, error.mayBeLateness, excused < maximum {
            excused += 1
            return .again
        }
        // The search of a transport may be shorter than the board's time. With little time left, another one would find nothing.
        if isSearching, timeLeft > time / 4 { return .search }
        used += 1
        return error.mayPass && used < maximum ? .again : .end
    }
}

extension RainKitError {
    /// Whether another attempt may succeed with nothing changed: the network, the cloud or the radio had a fault.
    fileprivate var mayPass: Bool { isTransient || code == .deviceLost || reason == "connection_failed" }

    /// Whether a deadline may have caused it.
    fileprivate var mayBeLateness: Bool { mayPass || code == .unavailable }
}
