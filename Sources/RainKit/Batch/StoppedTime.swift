// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainIO
import ESPProvisioning
import Synchronization

/// Notices that the process stood still for a while: it was stopped (SIGSTOP), or the machine slept. Deadlines that passed meanwhile say
/// nothing about a board.
final class StoppedTime: Sendable {
    private struct State {
        /// When the watch was last awake.
        var awake: Duration
        /// When the last gap ended.
        var gap: Duration?
    }

    private static let pause = Duration.seconds(1)
    /// A machine with much to do wakes a task late, but not as late as this.
    private static let least = Duration.seconds(5)

    private let time: Timekeeper
    private let state: Mutex<State>

    init(_ time: Timekeeper) {
        self.time = time
        state = Mutex(State(awake: time.elapsed()))
    }

    /// Watches until it is cancelled.
    func watch() async {
        while (try? await time.sleep(Self.pause)) != nil { note() }
    }

    /// Whether the process stood still at some time since then (``Timekeeper/elapsed()``).
    func happened(since begin: Duration) -> Bool {
        // After the process goes on, a board's deadline may be noticed before this watch wakes.
        note()
        return state.withLock { $0.gap.map { $0 >= begin } ?? false }
    }

    private func note() {
        let now = time.elapsed()
        state.withLock { state in
            if now - state.awake > Self.pause + Self.least { state.gap = now }
            state.awake = max(state.awake, now)
        }
    }
}
