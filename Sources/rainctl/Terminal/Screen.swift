// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainIO
import Synchronization

/// The terminal, shared by progress and questions: while a person is asked, no progress is drawn.
///
/// A question ends without an answer when its task is cancelled, as at the end of the command's time. It is asked on a thread of its
/// own: a blocking wait would occupy one of the few threads that tasks run on, on a small machine the only one.
final class Screen: Sendable {
    private struct State {
        var conversations = 0
        /// Lines that were written while a person was asked.
        var waiting: [String] = []
        var isDrawn = false
        /// When the conversation that is going on began, and how long those before it took together.
        var askingSince: ContinuousClock.Instant?
        var timeAsked = Duration.zero
    }

    private let state = Mutex(State())
    private let put: @Sendable (String) -> Void

    /// - Parameter put: writes everything but the questions themselves, in order.
    init(_ put: @escaping @Sendable (String) -> Void = { StandardStreams.err($0) }) { self.put = put }

    /// How long a person has been asked so far, which is no time of the board's or the cloud's.
    var timeAsked: Duration {
        state.withLock { state in
            state.timeAsked + (state.askingSince.map { $0.duration(to: .now) } ?? .zero)
        }
    }

    /// Draws a line that the next one replaces, unless a person is being asked.
    func draw(_ line: String) {
        state.withLock { state in
            guard state.conversations == 0 else { return }
            put(StandardStreams.eraseLine + line)
            state.isDrawn = !line.isEmpty
        }
    }

    /// Writes a line that stays; what comes while a person is asked is written after the answer.
    func write(_ line: String) {
        state.withLock { state in
            if state.conversations > 0 { state.waiting.append(line) } else { settle(line, &state) }
        }
    }

    /// Draws no progress during a conversation: questions and the lines between them.
    func asking<Answer: Sendable>(_ conversation: () async -> Answer) async -> Answer {
        state.withLock { state in
            erase(&state)
            if state.conversations == 0 { state.askingSince = .now }
            state.conversations += 1
        }
        defer {
            state.withLock { state in
                state.conversations -= 1
                if state.conversations == 0 {
                    if let since = state.askingSince { state.timeAsked += since.duration(to: .now) }
                    state.askingSince = nil
                    for line in state.waiting { settle(line, &state) }
                    state.waiting = []
                }
            }
        }
        return await conversation()
    }

    /// Says something in a conversation.
    func say(_ line: String) { put(line.withoutControls + "\n") }

    /// The line that a person types; nil at the end of input, at Ctrl-C and when the task is cancelled.
    func ask(_ prompt: String) async -> String? {
        await question { Terminal.ask(prompt, until: $0) }
    }

    /// The same without echo.
    func askSecret(_ prompt: String) async -> Secret? {
        await question { Terminal.readSecret(prompt: prompt, until: $0) }
    }

    private func question<Answer: Sendable>(_ ask: @escaping @Sendable (WakePipe) -> Answer?) async -> Answer? {
        guard !Task.isCancelled else { return nil }
        return await asking {
            (try? await onInterruptibleThread { ask($0) }) ?? nil
        }
    }

    private func settle(_ line: String, _ state: inout State) {
        erase(&state)
        put(line + "\n")
    }

    private func erase(_ state: inout State) {
        if state.isDrawn { put(StandardStreams.eraseLine) }
        state.isDrawn = false
    }
}
