// SPDX-License-Identifier: Apache-2.0
import RainKit
import Synchronization

/// Shows the progress of a run: a live line on a terminal, plain lines in a pipe, NDJSON for a program.
final class ProgressReport: Sendable {
    enum Form: Sendable {
        case silent
        /// Permanent lines. With `colour`, their marks still have a colour, because the user forced it.
        case plain(colour: Bool)
        /// One line that is redrawn in place. The colour has no meaning of its own.
        case live(colour: Bool)
    }

    private struct State {
        var facts = OnboardingFacts()
        var running: Running?
    }

    /// A running step, and ``Screen/timeAsked`` when it began.
    private struct Running {
        let step: OnboardingStep
        let since = ContinuousClock.now
        let askedBefore: Duration
    }

    private let form: Form
    private let events: EventStream
    private let peer: String
    private let screen: Screen
    private let boardWords: LastLogLine
    private let state = Mutex(State())

    init(form: Form, events: EventStream, peer: String, screen: Screen, boardWords: LastLogLine) {
        self.boardWords = boardWords
        self.form = form
        self.screen = screen
        self.events = events
        self.peer = peer
    }

    /// Reports in the form that the options ask for; silent if events go to standard error.
    convenience init(_ context: Context, _ options: GlobalOptions, events: EventStream, peer: String) {
        let form: Form =
            events.writer != nil && options.json ? .silent : Self.form(options, environment: context.environment)
        self.init(form: form, events: events, peer: peer, screen: context.screen, boardWords: context.boardWords)
    }

    /// The form that suits standard error and the user's wishes (`NO_COLOR`, `CLICOLOR_FORCE`, `TERM=dumb`).
    static func form(_ options: GlobalOptions, environment: [String: String]) -> Form {
        if options.quiet { return .silent }
        let forced = environment["CLICOLOR_FORCE"].map { !$0.isEmpty && $0 != "0" } ?? false
        guard StandardStreams.errIsTerminal, environment["TERM"] != "dumb" else { return .plain(colour: forced) }
        return .live(colour: forced || environment["NO_COLOR", default: ""].isEmpty)
    }

    /// Prints the last lines, only to a terminal.
    static func close(_ lines: [String], _ context: Context, _ options: GlobalOptions) {
        guard StandardStreams.errIsTerminal, !options.quiet else { return }
        for line in lines { context.screen.write(line.withoutControls) }
    }

    func take(_ event: OnboardingEvent) {
        events.writer?.take(event)
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
            // The networks are reported before the user is asked about them.
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

    /// The time of the step, without the time in which the user was asked.
    private func seconds(_ running: Running) -> String {
        let taken = running.since.duration(to: .now) - (screen.timeAsked - running.askedBefore)
        let milliseconds = max(0, Int(taken / .milliseconds(1)))
        let hundredths = milliseconds / 10
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) s"
    }
}

/// The text about each step.
enum StepText {
    /// While the step runs.
    static func running(_ step: OnboardingStep, on peer: String) -> String {
        switch step {
        case .account: "Checking the account"
        case .resume: "Looking for unfinished mappings"
        case .challenge: "Fetching a challenge from the cloud"
        case .identify: "Asking \(peer) for its description"
        case .secure: "Opening a secure session"
        case .claim: "Claiming the board"
        case .reset: "Resetting the board's last Wi-Fi settings"
        case .scan: "Scanning for networks with the board"
        case .associate: "Associating the board with your account"
        case .verify: "Verifying the board with the cloud"
        case .customData: "Sending the board's application its data"
        case .join: "Sending the Wi-Fi settings"
        case .connect: "Waiting for the board to join"
        case .confirm: "Waiting for the cloud to confirm"
        }
    }

    /// The text after the step; nil for no line.
    static func finished(_ step: OnboardingStep, _ facts: OnboardingFacts, on peer: String) -> String? {
        switch step {
        case .account: "signed in"
        case .resume: nil
        case .challenge: "challenge fetched"
        // Without an identity, an earlier run had already finished with the board, which has its own line.
        case .identify: facts.identity.map { "found: \(describe($0, at: peer))" }
        case .secure: facts.identity?.security.map { "secured: Security \($0.version)" } ?? "no session needed"
        case .claim: facts.nodeID.map { "claimed: node \($0)" } ?? "claimed"
        case .reset: "earlier Wi-Fi forgotten"
        // Reported as soon as it is known.
        case .scan: nil
        case .associate: facts.nodeID.map { "associated: node \($0)" } ?? "associated"
        case .verify: "verified by the cloud"
        case .customData: nil
        case .join: "Wi-Fi settings accepted"
        case .connect: facts.network.map { "connected: \(describe($0))" } ?? "connected, according to the board"
        case .confirm: "mapping: confirmed"
        }
    }

    static func heard(_ count: Int) -> String { "heard \(count) \(count == 1 ? "network" : "networks")" }

    /// The message if a signal ended the run.
    static func cancelled(_ step: OnboardingStep) -> String {
        let doing = running(step, on: "the board")
        return "Cancelled while \(doing.prefix(1).lowercased())\(doing.dropFirst())."
    }

    /// The text during a step; nil for no line.
    static func progress(_ progress: OnboardingProgress) -> String? {
        switch progress {
        case .identified, .heard, .connected, .wifi(.connecting): nil
        case .claimInitiated, .certificateRequested, .claimed: nil
        case .customData(let endpoint, let answer):
            "\(endpoint) answered: \(SendResult(endpoint, answered: answer).text)"
        case .wifi(.occupied): "the board is still trying an earlier network; it gets this one next"
        case .wifi(.attemptFailed(let remaining)): "the board's attempt failed; it has \(remaining) left"
        case .wifi(.unreachable): "the board cannot be reached at the moment"
        case .resumed(let node): "finished the mapping of node \(node)"
        case .abandoned(let node, let why): "gave up the mapping of node \(node): \(why)"
        case .associationLeftOpen(let why): "the board continues to answer challenges on its network: \(why)"
        case .waitingForBoard: "the board has not appeared yet; join its network PROV_… if it has one"
        case .waitingForCloud: "no answer from the server yet; asking again"
        case .waitingForNode: "the board is silent; asking the cloud whether it is on its network"
        }
    }

    /// The description with the port, address or name at which the board was found, which the user may not have given.
    private static func describe(_ identity: BoardIdentity, at peer: String) -> String {
        var parts = [peer.onOneLine]
        if !identity.version.isEmpty { parts.append(identity.version.onOneLine) }
        if let security = identity.security { parts.append("Security \(security.version)") }
        if let node = identity.nodeID { parts.append("node \(node)") }
        if identity.isOnNetwork { parts.append("already on its network: its Wi-Fi is not changed") }
        return parts.joined(separator: ", ")
    }

    private static func describe(_ network: JoinedNetwork) -> String {
        network.address.isEmpty ? "\(network.ssid)" : "\(network.ssid) as \(network.address)"
    }
}

/// The facts from the events of a run so far.
struct OnboardingFacts: Sendable {
    var identity: BoardIdentity?
    var network: JoinedNetwork?
    var nodeID: NodeID?

    mutating func take(_ event: OnboardingEvent) {
        if let node = event.nodeID { nodeID = node }
        guard case .progress(let progress) = event.state else { return }
        switch progress {
        case .identified(let identity): self.identity = identity
        case .connected(let network): self.network = network
        default: break
        }
    }
}

/// The last line of the board's own log, shown while the command waits.
final class LastLogLine: Sendable {
    private let line = Mutex("")

    /// Stores a line without work. A log may have megabytes a second, and few of its lines are ever shown.
    func take(_ text: String) { line.withLock { $0 = text } }

    /// Empty if the board has printed nothing, or if its last line may hold a secret: RainMaker's examples log the Wi-Fi password.
    var last: String {
        let text = line.withLock { $0 }.onOneLine
        let lowered = text.lowercased()
        let isSecret = ["pass", "pop", "proof", "secret", "key"].contains(where: lowered.contains)
        return isSecret || text.allSatisfy { $0 == " " } ? "" : text
    }
}
