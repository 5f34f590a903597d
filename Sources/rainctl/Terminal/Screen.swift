// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainIO
import RainKit
import Synchronization

/// The terminal, shared by messages, progress and questions. Messages appear above one live line, and during a question they wait.
///
/// A question ends without an answer when its task is cancelled, as at the end of the command's time. It has its own thread, because a
/// blocking wait would occupy one of the few threads for tasks; a small machine has only one.
final class Screen: Sendable {
    /// Standard error.
    static let shared = Screen(columns: { TerminalStyle.ofErrors.wrapsLines ? TerminalSize.knownColumns : nil })

    private struct State {
        var conversations = 0
        /// Lines that were written during a question.
        var waiting: [String] = []
        /// The live line, and the number of its columns on the terminal; empty if nothing is drawn.
        var live = ""
        /// When the current conversation began, and the total time of those before it.
        var askingSince: ContinuousClock.Instant?
        var timeAsked = Duration.zero
    }

    private let state = Mutex(State())
    private let columns: @Sendable () -> Int?
    private let put: @Sendable (String) -> Void

    /// - Parameters:
    ///   - put: writes everything but the questions themselves, in order.
    ///   - columns: the width at which lines are wrapped; nil if they are not.
    init(
        _ put: @escaping @Sendable (String) -> Void = { StandardStreams.err($0) },
        columns: @escaping @Sendable () -> Int? = { nil }
    ) {
        self.columns = columns
        self.put = put
    }

    /// How long the user has been asked so far. This time does not count for the board or the cloud.
    var timeAsked: Duration {
        state.withLock { state in
            state.timeAsked + (state.askingSince.map { $0.duration(to: .now) } ?? .zero)
        }
    }

    /// The same, but at most half an hour: a question that nobody answers for so long ends with the command's time.
    var timeThatDoesNotCount: Duration { min(timeAsked, .seconds(1800)) }

    /// Draws a line that the next one replaces, unless the user is being asked. An empty one erases it.
    func draw(_ line: String) {
        state.withLock { state in
            guard state.conversations == 0, !(line.isEmpty && state.live.isEmpty) else { return }
            put(erasure(state) + line)
            state.live = line
        }
    }

    /// Writes a permanent line; during a question, it is written after the answer.
    /// - Parameter indent: the indent of continued lines; nil for a line that is not wrapped.
    func write(_ line: String, indent: Int? = 0) {
        state.withLock { state in
            let text = indent.map { wrapped(line, $0) } ?? line
            if state.conversations > 0 { state.waiting.append(text) } else { settle(text, &state) }
        }
    }

    /// Draws no progress during a conversation: questions and the lines between them.
    func asking<Answer: Sendable>(_ conversation: () async -> Answer) async -> Answer {
        begin()
        defer { end() }
        return await conversation()
    }

    /// The same for a question whose wait blocks.
    func blocking<Answer, Failure: Error>(_ conversation: () throws(Failure) -> Answer) throws(Failure) -> Answer {
        begin()
        defer { end() }
        return try conversation()
    }

    private func begin() {
        state.withLock { state in
            if !state.live.isEmpty { put(erasure(state)) }
            state.live = ""
            if state.conversations == 0 { state.askingSince = .now }
            state.conversations += 1
        }
    }

    private func end() {
        state.withLock { state in
            state.conversations -= 1
            guard state.conversations == 0 else { return }
            if let since = state.askingSince { state.timeAsked += since.duration(to: .now) }
            state.askingSince = nil
            for line in state.waiting { settle(line, &state) }
            state.waiting = []
        }
    }

    /// Does the work. After half a second, the live line shows what it is and how long it has taken.
    /// - Parameter limit: the time after which the work ends, which the line then also shows.
    func waiting<Value>(
        _ what: String, upTo limit: Duration? = nil, _ work: () async throws -> Value
    ) async rethrows -> Value {
        guard self === Screen.shared, TerminalStyle.ofErrors.isLive else { return try await work() }
        let began = ContinuousClock.now
        let line = Task {
            while true {
                try await Task.sleep(
                    for: began.duration(to: .now) < .milliseconds(500) ? .milliseconds(500) : .milliseconds(100))
                let text = WaitingText.line(what, after: began.duration(to: .now), of: limit)
                draw(text.cut(toColumns: TerminalSize.current.columns - 1))
            }
        }
        func end() async {
            line.cancel()
            _ = await line.result
            draw("")
        }
        do {
            let value = try await work()
            await end()
            return value
        } catch {
            await end()
            throw error
        }
    }

    /// Does the work. After some seconds, the live line shows which server has not answered yet, unless it shows something else.
    func awaiting<Value, Failure: Error>(
        _ server: String, _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard self === Screen.shared, TerminalStyle.ofErrors.isLive else { return try await work() }
        let began = ContinuousClock.now
        let line = Task {
            try await Task.sleep(for: Self.patienceWithServer)
            var own = ""
            while !Task.isCancelled {
                let text = WaitingText.line("Waiting for \(server.onOneLine)", after: began.duration(to: .now), of: nil)
                    .cut(toColumns: TerminalSize.current.columns - 1)
                own = drawIfFree(text, own) ? text : ""
                try? await Task.sleep(for: .milliseconds(100))
            }
            _ = drawIfFree("", own)
        }
        // The line is erased before anything else is printed.
        func end() async {
            line.cancel()
            _ = await line.result
        }
        do throws(Failure) {
            let value = try await work()
            await end()
            return value
        } catch {
            await end()
            throw error
        }
    }

    private static let patienceWithServer = Duration.seconds(2)

    /// Draws a live line unless another one is drawn. The caller's own line is replaced. Returns whether the line was drawn.
    private func drawIfFree(_ line: String, _ own: String) -> Bool {
        state.withLock { state in
            guard state.conversations == 0, state.live == own, !(line.isEmpty && own.isEmpty) else { return false }
            put(erasure(state) + line)
            state.live = line
            return true
        }
    }

    /// Prints a line in a conversation.
    func say(_ line: String) { put(wrapped(line.withoutControls, 0) + "\n") }

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

    /// Writes the line above the live one.
    private func settle(_ line: String, _ state: inout State) {
        if !state.live.isEmpty { put(erasure(state)) }
        put(line + "\n")
        if !state.live.isEmpty { put(state.live) }
    }

    private func wrapped(_ line: String, _ indent: Int) -> String {
        columns().map { line.wrapped(toColumns: $0, indent: indent) } ?? line
    }

    /// The sequence that erases the live line. A terminal that has become narrower shows it on several rows.
    private func erasure(_ state: State) -> String {
        guard let columns = columns(), columns > 0 else { return StandardStreams.eraseLine }
        let rows = (state.live.withoutStyle.terminalColumns + columns - 1) / columns
        return rows > 1
            ? StandardStreams.eraseLine + String(repeating: "\u{1B}[A\u{1B}[2K", count: rows - 1)
            : StandardStreams.eraseLine
    }
}

/// The live line of a wait.
enum WaitingText {
    /// - Parameter limit: the time after which the wait ends, if it is known.
    static func line(_ what: String, after time: Duration, of limit: Duration?) -> String {
        let tenths = Int(time / .milliseconds(100))
        let end = limit.map { " of \(max(1, Int(($0 / .seconds(1)).rounded()))) s" } ?? ""
        return "… \(what) (\(tenths / 10).\(tenths % 10) s\(end))"
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
        let environment = processEnvironment()
        return (page + [last].compactMap(\.self)).map {
            DrawnSigns.shown($0.withoutControls.cut(toColumns: size.columns), environment)
        }
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
