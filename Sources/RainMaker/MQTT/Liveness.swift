// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Whether the other side is there, as what comes from it and the passing of time tell.
final class Liveness: Sendable {
    private struct State {
        var isSubscribed = false
        var wasHeard = false
        var wasPinged = false
    }
    /// What to do when some time has passed.
    enum Step: Equatable { case wait, ping, giveUp }

    private let state = Mutex(State())

    var isSubscribed: Bool { state.withLock { $0.isSubscribed } }

    func subscribed() { state.withLock { $0.isSubscribed = true } }

    func heard() {
        state.withLock { state in
            state.wasHeard = true
            state.wasPinged = false
        }
    }

    func next() -> Step {
        state.withLock { state in
            defer { state.wasHeard = false }
            guard state.isSubscribed, !state.wasPinged else { return .giveUp }
            if state.wasHeard { return .wait }
            state.wasPinged = true
            return .ping
        }
    }
}
