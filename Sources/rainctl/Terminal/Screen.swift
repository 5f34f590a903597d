// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainIO
import Synchronization

/// The terminal, shared by progress and questions: during a question, no progress is drawn.
///
/// A question ends without an answer when its task is cancelled, as at the end of the command's time. It has its own thread, because a
/// blocking wait would occupy one of the few threads for tasks; a small machine has only one.
final class Screen: Sendable {
    private struct State {
        var conversations = 0
        /// Lines that were written during a question.
        var waiting: [String] = []
        var isDrawn = false
        /// When the current conversation began, and the total time of those before it.
        var askingSince: ContinuousClock.Instant?
        var timeAsked = Duration.zero
    }

    private let state = Mutex(State())
    private let put: @Sendable (String) -> Void

    /// - Parameter put: writes everything but the questions themselves, in order.
    init(_ put: @escaping @Sendable (String) -> Void = { StandardStreams.err($0) }) { self.put = put }

    /// How long the user has been asked so far. This time does not count for the board or the cloud.
    var timeAsked: Duration {
        state.withLock { state in
            state.timeAsked + (state.askingSince.map { $0.duration(to: .now) } ?? .zero)
        }
    }

    /// Draws a line that the next one replaces, unless the user is being asked.
    func draw(_ line: String) {
        state.withLock { state in
            guard state.conversations == 0 else { return }
            put(StandardStreams.eraseLine + line)
            state.isDrawn = !line.isEmpty
        }
    }

    /// Writes a permanent line; during a question, it is written after the answer.
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

    /// Prints a line in a conversation.
    func say(_ line: String) { put(line.withoutControls + "\n") }

    /// Returns the line that the user types; nil at the end of input, at Ctrl-C and when the task is cancelled.
    func ask(_ prompt: String) async -> String? {
        await question { Terminal.ask(prompt, until: $0) }
    }

    /// Does the same without echo.
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

/// Lines to choose from, one screen at a time. A small terminal would scroll away the first lines, which are the best choices.
struct ChoiceList {
    private let lines: [String]
    private let note: String?
    private var shown = 0

    /// - Parameter note: appears below the last line.
    init(_ lines: [String], note: String? = nil) { (self.lines, self.note) = (lines, note) }

    /// The answer that shows the rest.
    static let more = "+"

    /// Returns the index of the line with a number, counted from 1; nil for a number that is not in the list, however large.
    static func index(_ number: Int, of count: Int) -> Int? { number > 0 && number <= count ? number - 1 : nil }

    private(set) var isUntouched = true
    var hasMore: Bool { shown < lines.count }

    /// Returns the next lines, and how to see the rest. Question and answer get two lines, because they may not fit on one.
    mutating func page(_ size: TerminalSize) -> [String] {
        isUntouched = false
        let rest = lines[shown...]
        let room = max(2, size.rows - 3)
        let page = rest.count + (note == nil ? 0 : 1) <= room ? rest : rest.prefix(room - 1)
        shown += page.count
        let last = hasMore ? "\(Self.more)  shows \(lines.count - shown) more" : note
        return (page + [last].compactMap(\.self)).map { $0.withoutControls.cut(toColumns: size.columns) }
    }
}

extension Screen {
    /// Shows the list at the first question, and more of it on request. Returns any other answer; nil as ``ask(_:)``.
    func ask(_ prompt: String, offering list: inout ChoiceList) async -> String? {
        if list.isUntouched { for line in list.page(.current) { say(line) } }
        while let answer = await ask(prompt) {
            guard answer == ChoiceList.more, list.hasMore else { return answer }
            for line in list.page(.current) { say(line) }
        }
        return nil
    }
}
