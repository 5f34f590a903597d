// SPDX-License-Identifier: Apache-2.0
import RainKit
import Synchronization

/// Shows the progress of a run: a live line on a terminal, plain lines in a pipe, NDJSON for a program.
final class ProgressReport: Sendable {
    enum Form: Sendable {
        case silent
        /// Lines that stay; with `colour` their marks have one all the same, because it was forced.
        case plain(colour: Bool)
        /// One line that is redrawn in place. `colour` carries no meaning of its own.
        case live(colour: Bool)
    }

    private struct State {
        var facts = OnboardingFacts()
        var running: Running?
    }

    /// A step that is under way, and what ``Screen/timeAsked`` was when it began.
    private struct Running {
        let step: OnboardingStep
        let since = ContinuousClock.now
        let askedBefore: Duration
    }

    private let form: Form
    private let events: EventStream
    private let peer: String
    private let screen: Screen
    private let boardWords: BoardWords
    private let state = Mutex(State())

    init(form: Form, events: EventStream, peer: String, screen: Screen, boardWords: BoardWords) {
        self.boardWords = boardWords
        self.form = form
        self.screen = screen
        self.events = events
        self.peer = peer
    }

    /// In the form that the options ask for; silent where events go to standard error.
    convenience init(_ context: Context, _ options: GlobalOptions, events: EventStream, peer: String) {
        let form: Form =
            events.isOn && options.json ? .silent : Self.form(options, environment: context.environment)
        self.init(form: form, events: events, peer: peer, screen: context.screen, boardWords: context.boardWords)
    }

    /// The form that suits standard error and the user's wishes (`NO_COLOR`, `CLICOLOR_FORCE`, `TERM=dumb`).
    static func form(_ options: GlobalOptions, environment: [String: String]) -> Form {
        if options.quiet { return .silent }
        let forced = environment["CLICOLOR_FORCE"].map { !$0.isEmpty && $0 != "0" } ?? false
        guard StandardStreams.errIsTerminal, environment["TERM"] != "dumb" else { return .plain(colour: forced) }
        return .live(colour: forced || environment["NO_COLOR", default: ""].isEmpty)
    }

    /// The last words, to a person at a terminal only.
    static func close(_ lines: [String], _ context: Context, _ options: GlobalOptions) {
        guard StandardStreams.errIsTerminal, !options.quiet else { return }
        for line in lines { context.screen.write(line.withoutControls) }
    }

    func take(_ event: OnboardingEvent) {
        events.take(event)
        state.withLock { state in
            state.facts.take(event)
            switch event.state {
            case .started:
                state.running = Running(step: event.step, askedBefore: screen.timeAsked)
                draw(state)
            case .finished:
                if let text = StepText.finished(event.step, state.facts, on: peer) {
                    succeed(state, text)
                } else {
                    erase()
                }
                state.running = nil
            // What the board hears is told before somebody is asked about it.
            case .progress(.heard(let heard)): succeed(state, StepText.heard(heard.count))
            case .progress(let progress):
                if let text = StepText.progress(progress) { settle(state, mark: "·", colour: "33", text) }
            case .deferred(let why):
                settle(state, mark: "·", colour: "33", "later: \(why)")
            case .failed:
                // The command's error message follows.
                erase()
                state.running = nil
            }
        }
    }

    /// Redraws the live line ten times a second until cancelled. Nothing waits for this.
    func animate() async {
        guard case .live = form else { return }
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(100))
            state.withLock { draw($0) }
        }
        erase()
    }

    private func draw(_ state: State) {
        guard case .live = form, let running = state.running else { return }
        let text = "… \(StepText.running(running.step, on: peer).withoutControls) (\(seconds(running)))"
        let said = boardWords.last
        screen.draw((said.isEmpty ? text : "\(text)  board: \(said)").cut(toColumns: TerminalSize.current.columns - 1))
    }

    private func erase() {
        if case .live = form { screen.draw("") }
    }

    private func succeed(_ state: State, _ text: String) { settle(state, mark: "✓", colour: "32", text) }

    private func settle(_ state: State, mark: String, colour: String, _ text: String) {
        let text = text.withoutControls
        let time = state.running.map { " (\(seconds($0)))" } ?? ""
        switch form {
        case .silent: break
        case .plain(colour: false): screen.write("\(text)\(time)")
        case .plain(let wantsColour), .live(let wantsColour):
            let mark = wantsColour ? "\u{1B}[\(colour)m\(mark)\u{1B}[0m" : mark
            screen.write("\(mark) \(text)\(time)")
        }
    }

    /// How long the step has taken, without the time in which somebody was asked.
    private func seconds(_ running: Running) -> String {
        let taken = running.since.duration(to: .now) - (screen.timeAsked - running.askedBefore)
        let milliseconds = max(0, Int(taken / .milliseconds(1)))
        let hundredths = milliseconds / 10
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) s"
    }
}
