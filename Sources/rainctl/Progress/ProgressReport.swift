// SPDX-License-Identifier: Apache-2.0
import RainKit
import Synchronization

/// Shows the progress of a run: a live line on a terminal, plain lines in a pipe, NDJSON for a program.
///
/// People get a line for each of the few results that matter to them; with `-v`, one for each step, with its time.
final class ProgressReport: Sendable {
    enum Form: Sendable, Equatable {
        case silent
        /// Permanent lines.
        case plain
        /// Also one line that is redrawn in place, with the running step and its time.
        case live
    }

    private struct State {
        var facts = OnboardingFacts()
        var running: Running?
        var lost = LostBoardLines()
    }

    /// A running step, and ``Screen/timeAsked`` when it began.
    private struct Running {
        let step: OnboardingStep
        let since = ContinuousClock.now
        let askedBefore: Duration
    }

    private let form: Form
    private let isDetailed: Bool
    private let isAnotherAttempt: Bool
    private let events: EventStream
    private let peer: String
    private let screen: Screen
    private let boardWords: LastLogLine
    private let state = Mutex(State())

    /// Reports in the form that the options ask for; silent if events go to standard error.
    /// - Parameter isAnotherAttempt: whether this command has found the board before.
    init(
        _ context: Context, _ options: GlobalOptions, events: EventStream, peer: String, isAnotherAttempt: Bool = false
    ) {
        self.isAnotherAttempt = isAnotherAttempt
        form = events.writer != nil && options.isJSON ? .silent : Self.form(options)
        isDetailed = options.verbosity > 0
        self.events = events
        self.peer = peer
        screen = context.screen
        boardWords = context.boardWords
    }

    /// The form that suits standard error.
    static func form(_ options: GlobalOptions) -> Form {
        options.quiet ? .silent : TerminalStyle.ofErrors.isLive ? .live : .plain
    }

    /// Prints the last lines, only to a terminal.
    static func close(_ lines: [String], _ context: Context, _ options: GlobalOptions) {
        guard StandardStreams.errIsTerminal, !options.quiet else { return }
        // A command is not wrapped, so that it can be copied.
        for line in lines { context.screen.write(line.withoutControls, indent: line.hasPrefix(" ") ? nil : 0) }
    }

    func take(_ event: OnboardingEvent) {
        events.writer?.take(event)
        state.withLock { state in
            state.facts.take(event)
            guard state.lost.hasLine(event.step, event.state) || isDetailed else { return }
            switch event.state {
            case .started:
                state.running = Running(step: event.step, askedBefore: screen.timeAsked)
                draw(state)
            case .finished:
                if isDetailed, let text = StepText.finished(event.step, state.facts, on: peer) {
                    succeed(state, text)
                } else if !(isAnotherAttempt && event.step == .identify),
                    let text = StepText.result(of: event.step, state.facts, on: peer)
                {
                    settle("✓", .green, text)
                }
                state.running = nil
                if form == .live { screen.draw("") }
            // The networks are reported before the user is asked about them.
            case .progress(.heard(let heard)):
                if isDetailed { succeed(state, StepText.heard(heard.count)) }
            case .progress(let progress):
                if let text = StepText.progress(progress) { settle("·", .yellow, text) }
            case .deferred(let why): settle("·", .yellow, "later: \(why)")
            case .failed:
                // The command's error message follows.
                state.running = nil
                if form == .live { screen.draw("") }
            }
        }
    }

    /// Redraws the live line ten times a second until cancelled. Nothing waits for this.
    func animate() async {
        guard form == .live else { return }
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(100))
            state.withLock { draw($0) }
        }
        screen.draw("")
    }

    private func draw(_ state: State) {
        guard form == .live, let running = state.running else { return }
        let text = "… \(StepText.running(running.step, on: peer).withoutControls) (\(seconds(running)))"
        let said = boardWords.last
        screen.draw((said.isEmpty ? text : "\(text)  board: \(said)").cut(toColumns: TerminalSize.current.columns - 1))
    }

    private func succeed(_ state: State, _ text: String) {
        settle("✓", .green, text + (state.running.map { " (\(seconds($0)))" } ?? ""))
    }

    private func settle(_ mark: String, _ colour: TerminalStyle.Colour, _ text: String) {
        let style = TerminalStyle.ofErrors
        guard form != .silent else { return }
        let mark = form == .live || style.hasColour ? style.painted(mark, colour) + " " : ""
        screen.write(mark + text.withoutControls, indent: 2)
    }

    /// The time of the step, without the time in which the user was asked.
    private func seconds(_ running: Running) -> String {
        let taken = running.since.duration(to: .now) - (screen.timeAsked - running.askedBefore)
        let milliseconds = max(0, Int(taken / .milliseconds(1)))
        let hundredths = milliseconds / 10
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) s"
    }
}

/// Leaves out lines about a board that is lost while it joins its network, if an earlier or a later line says the same.
struct LostBoardLines: Sendable {
    /// The text of the line about the lost board.
    private var told: String?

    /// Whether people get the event's line.
    mutating func hasLine(_ step: OnboardingStep, _ state: OnboardingEvent.State) -> Bool {
        switch state {
        // The board answers again soon, or it is reported as lost.
        case .progress(.wifi(.unreachable)): return false
        case .progress(.waitingForNode): return told == nil
        case .deferred(let why) where step == .join || step == .connect:
            defer { told = why }
            return told != why
        default: return true
        }
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
        case .customData: "Sending data to the board's application"
        case .join: "Sending the Wi-Fi settings"
        case .connect: "Waiting for the board to join"
        case .confirm: "Waiting for the cloud to confirm"
        case .name: "Waiting for the board to accept its name"
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
        case .join: facts.isAlreadyOnline ? nil : "Wi-Fi settings accepted"
        case .connect: facts.network.map { "connected: \(describe($0))" } ?? "connected, according to the board"
        case .confirm: "mapping: confirmed"
        case .name: "named"
        }
    }

    /// The line for people about a step with a result that matters to them; nil for the other steps.
    static func result(of step: OnboardingStep, _ facts: OnboardingFacts, on peer: String) -> String? {
        switch step {
        case .identify:
            facts.identity.map { identity in
                "Found the board (\(peer.onOneLine))" + (identity.isOnNetwork ? ", already on Wi-Fi" : "")
            }
        case .secure: facts.identity?.security.map { "Secured the connection (Security \($0.version))" }
        case .connect:
            facts.network.map { network in
                "On Wi-Fi: \(network.ssid)" + (network.address.isEmpty ? "" : " (\(network.address))")
            } ?? "On Wi-Fi, according to the board"
        case .confirm: "In your account" + (facts.nodeID.map { " (node \($0))" } ?? "")
        default: nil
        }
    }

    static func heard(_ count: Int) -> String { "found \(count) \(count == 1 ? "network" : "networks")" }

    /// The message if a signal ended the run.
    static func cancelled(_ step: OnboardingStep) -> String {
        // The user is asked after the scan, which is still the last step then.
        if step == .scan { return "Cancelled before Wi-Fi settings were sent to the board." }
        let doing = running(step, on: "the board")
        return "Cancelled while \(doing.prefix(1).lowercased())\(doing.dropFirst())."
    }

    /// The text during a step; nil for no line.
    static func progress(_ progress: OnboardingProgress) -> String? {
        switch progress {
        case .identified, .heard, .connected, .wifi(.connecting): nil
        case .claimInitiated, .certificateRequested, .claimed: nil
        case .cannotListNetworks: "the board's console cannot list networks, so the network's name is needed"
        case .customData(let endpoint, let answer):
            "\(endpoint) answered: \(SendResult(endpoint, answered: answer).text)"
        case .wifi(.occupied):
            "the board refuses the Wi-Fi settings now: it may still be trying an earlier network; waiting for it"
        case .wifi(.attemptFailed(let remaining)):
            "the board could not join the network; it has \(Int(remaining).counting("attempt")) left"
        case .wifi(.unreachable): "the board cannot be reached at the moment"
        case .alreadyOnline(let node):
            "node \(node) is in your account and online already, so nothing is left to do. To change its Wi-Fi, hold the board's BOOT "
                + "button for 3 s first"
        case .resumed(let node): "finished the mapping of node \(node)"
        case .abandoned(let node, let why): "gave up the mapping of node \(node): \(why)"
        case .associationLeftOpen(let why):
            "the board still answers challenges on its network, because switching this off failed: \(why)"
        case .waitingForBoard:
            "the board has not appeared yet; if the board has its own network (PROV_…), join this network"
        case .waitingForCloud: "no answer from the server yet; asking again"
        case .waitingForNode: "the board does not answer; asking the cloud whether the board is online"
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
    /// Whether the board had a network already, and has not been given another.
    var isAlreadyOnline = false

    mutating func take(_ event: OnboardingEvent) {
        if let node = event.nodeID { nodeID = node }
        guard case .progress(let progress) = event.state else { return }
        switch progress {
        case .identified(let identity): self.identity = identity
        case .connected(let network): self.network = network
        case .alreadyOnline: isAlreadyOnline = true
        default: break
        }
    }
}

/// The last line of the board's own log, shown while the command waits.
final class LastLogLine: Sendable {
    private let line = Mutex("")

    /// Stores a line without work. A log may have megabytes a second, and few of its lines are ever shown.
    func take(_ text: String) { line.withLock { $0 = text } }

    /// Empty if the board has printed nothing, and for two kinds of lines. One may hold a secret: RainMaker's examples log the Wi-Fi password.
    /// The other is an answer of protocomm's console, which has only hex digits.
    var last: String {
        let text = line.withLock { $0 }.onOneLine
        let lowered = text.lowercased()
        let isSecret = ["pass", "pop", "proof", "secret", "key"].contains(where: lowered.contains)
        let isAnswer = text.allSatisfy { $0.isHexDigit || $0 == " " }
        return isSecret || isAnswer ? "" : text
    }
}
