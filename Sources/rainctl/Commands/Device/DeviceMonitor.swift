// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainIO
import RainKit
import Synchronization

/// Shows the output of a board on its cable.
struct DeviceMonitor: AsyncParsableCommand, EndsByInterruption {
    static let configuration = CommandConfiguration.leaf(
        commandName: "monitor", abstract: "Show the log of a board on a cable, and explain its errors.",
        discussion: """
            Example: rainctl device monitor --port /dev/ttyACM0 --restart

            rainctl hides passwords and proofs of possession. Ctrl-C ends the command.
            """)

    @Option(
        help: ArgumentHelp("Use this serial port, such as /dev/ttyUSB0.", valueName: "path"), completion: .serialPorts)
    var port: String?

    @Flag(help: "Restart the board first, to see its log from the start.")
    var restart = false

    @Flag(help: "If the board is not plugged in, or is unplugged later, wait for it.")
    var wait = false

    @Option(help: ArgumentHelp("End with exit code 0 as soon as a line contains this text.", valueName: "text"))
    var until: String?

    @Option(help: ArgumentHelp("End after this time, such as 500ms, 6s or 2m.", valueName: "time"))
    var timeout: DurationArgument?

    @Option(
        help: ArgumentHelp("Write the board's log, without secrets, to this file.", valueName: "file"),
        completion: .file())
    var deviceLog: String?

    @Option(help: ArgumentHelp("Print each event as a line of JSON when it happens.", valueName: "form"))
    var events: Provision.Events?

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if until?.isEmpty == true { throw ValidationError("--until must not be empty.") }
    }

    func run() async throws {
        let context = try Context(options)
        let file = try deviceLog.map { path throws(CommandFailure) in try DeviceLogFile(path) }
        let screen = MonitorScreen(context.output, isStreaming: events != nil, until: until, file: file)
        let hint = Task {
            try await Task.sleep(for: .seconds(3))
            screen.tellOfSilence(mayRestart: !restart)
        }
        defer { hint.cancel() }
        let limit = timeout?.duration
        var monitor = try await context.boardClient()
            .monitor(port, waitsForBoard: wait, within: limit ?? .seconds(86_400))
        monitor.restarts = restart
        let summary = try await monitor.run(
            within: limit, until: { screen.hasFound || screen.isCut }, event: { screen.take($0) })
        if let until, !screen.hasFound, !screen.isCut, !Task.isCancelled {
            throw CommandFailure(
                .deadline,
                message: screen.withoutPort ?? screen.withoutLineEnd ?? screen.whyNotFound(until.onOneLine))
        }
        if events == nil || options.isJSON { context.output.result(MonitorResult(summary, lines: screen.lines)) }
        try Task.checkCancellation()
    }
}

/// The summary of a board's log. In text mode the log itself has been printed.
struct MonitorResult: CommandResult {
    private var values = LabelledValues()

    var text: String { "" }
    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    init(_ summary: DeviceSummary, lines: Int) {
        values.add(memberOnly: "lines", lines)
        values.add(memberOnly: "starts", summary.starts)
        values.add(summary.identity)
        values.add("node_id", summary.nodeID?.rawValue)
        values.add(memberOnly: "troubles", summary.troubles.map { Trouble($0) })
    }

    private struct Trouble: Encodable, Sendable {
        let reason: String
        let message: String

        init(_ trouble: DeviceTrouble) {
            reason = trouble.code
            message = trouble.description.withAdvice(trouble.remedies.filter { $0 != .boardLog })
        }
    }
}

/// Prints the output of `device monitor` as it arrives: the board's lines on standard output, and explanations on standard error. With
/// `--events ndjson` both are lines of JSON. With `--json` alone, only the result is printed.
final class MonitorScreen: Sendable {
    private struct State {
        var lines = 0
        var hasFound = false
        var unfinishedBytes = 0
        /// The open port.
        var port: String?
        /// The port that disappeared.
        var gone: String?
        var troubles: [DeviceTrouble] = []
    }

    /// A limit for memory. A board has few kinds of errors.
    private static let maximumTroubles = 64
    private let output: Output
    private let isStreaming: Bool
    private let wanted: String?
    private let file: DeviceLogFile?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - wanted: the text that ends the command.
    ///   - file: the file to which the lines are also written.
    init(_ output: Output, isStreaming: Bool, until wanted: String?, file: DeviceLogFile?) {
        self.output = output
        self.isStreaming = isStreaming
        self.wanted = wanted
        self.file = file
    }

    /// The number of lines received.
    var lines: Int { state.withLock { $0.lines } }
    /// Whether the wanted text has been received.
    var hasFound: Bool { state.withLock { $0.hasFound } }

    /// Whether nothing more can be printed.
    var isCut: Bool { output.isCut }

    func take(_ event: BoardMonitor.Event) {
        switch event {
        case .line(let line): take(line)
        case .said(.trouble(let trouble)): take(trouble)
        case .said: break
        case .opened(let path):
            state.withLock { ($0.port, $0.gone) = (path, nil) }
            tell(MonitorEvent(event: "opened", port: path), "Listening at \(path.onOneLine).")
        case .unfinished(let bytes): unfinished(bytes)
        case .gone(let path):
            state.withLock { ($0.port, $0.gone) = (nil, path) }
            tell(
                MonitorEvent(event: "gone", port: path), "\(path.onOneLine) has disappeared: waiting until it returns.")
        }
    }

    /// Explains why nothing arrives. Most boards print much when they start, and little afterwards.
    func tellOfSilence(mayRestart: Bool) {
        guard lines == 0, !isStreaming, !output.isJSON else { return }
        let others = state.withLock { $0.port }.map { SerialPort.holders(of: $0) } ?? []
        if let other = others.first {
            let name = "\(other.name.onOneLine) (process \(other.processID))"
            return output.say(
                "Nothing has arrived yet. \(name) also has the port open, and may be reading the board's output: close that program."
            )
        }
        let also = mayRestart ? ", or run this command again with --restart" : ""
        output.say("Nothing has arrived yet. Press the board's RESET button\(also).")
    }

    private func take(_ line: String) {
        let isWanted = wanted.map { line.contains($0) } ?? false
        state.withLock { state in
            state.lines += 1
            if isWanted { state.hasFound = true }
        }
        file?.write(line)
        if isStreaming {
            output.event(TimedDocument(MonitorEvent(event: "line", text: line.withoutControls)))
        } else if !output.isJSON {
            StandardStreams.out(line.withoutControls + "\n")
        }
    }

    /// Reports bytes without a line end. They are not shown, because a secret in them could not be recognized.
    private func unfinished(_ bytes: Int) {
        state.withLock { $0.unfinishedBytes = bytes }
        // With `--until` this is the error.
        guard wanted == nil, let withoutLineEnd else { return }
        output.warn(withoutLineEnd, reason: "no_line_end")
    }

    /// Why nothing more arrived, if the port disappeared for good.
    var withoutPort: String? {
        state.withLock { $0.gone }.map {
            "\($0.onOneLine) disappeared and did not return: check the cable, and that the board has power."
        }
    }

    /// Why nothing was shown, if the board prints but ends no line.
    var withoutLineEnd: String? {
        state.withLock { state in
            guard state.lines == 0, state.unfinishedBytes > 0 else { return nil }
            return
                "\(state.unfinishedBytes) bytes arrived without a line end, so no line can be shown. The board may use another baud rate, or show a prompt."
        }
    }

    /// Why the text that ends the command was not found, as far as the log shows the reason.
    func whyNotFound(_ text: String) -> String {
        let limit = "within the time limit (--timeout)"
        return state.withLock { state in
            if let trouble = state.troubles.last {
                return "\(trouble.description) No line with \"\(text)\" was printed \(limit)."
            }
            guard state.lines > 0 else {
                return
                    "No data arrived from \(state.port?.onOneLine ?? "the board") \(limit), so no line with \"\(text)\" was found."
            }
            return "No line with \"\(text)\" was printed \(limit)."
        }
    }

    private func take(_ trouble: DeviceTrouble) {
        // A board that restarts repeatedly has the same errors each time.
        let isNew = state.withLock { state in
            guard !state.troubles.contains(trouble), state.troubles.count < Self.maximumTroubles else { return false }
            state.troubles.append(trouble)
            return true
        }
        guard isNew else { return }
        // The log itself has been printed.
        let text = trouble.description.withAdvice(trouble.remedies.filter { $0 != .boardLog })
        tell(MonitorEvent(event: "trouble", text: text, reason: trouble.code), "! \(text)")
    }

    private func tell(_ event: MonitorEvent, _ words: String) {
        if isStreaming { output.event(TimedDocument(event)) } else if !output.isJSON { output.say(words) }
    }
}

/// A line of `device monitor --events ndjson`.
struct MonitorEvent: Encodable {
    /// `opened`, `gone`, `line` or `trouble`.
    let event: String
    var port: String?
    var text: String?
    var reason: String?
}
