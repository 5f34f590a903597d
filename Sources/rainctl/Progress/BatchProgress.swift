// SPDX-License-Identifier: Apache-2.0
import RainKit
import Synchronization

/// Shows how far a batch is. A terminal gets a live line with the speed and the time left, and a line for each board that failed. A program
/// gets NDJSON.
final class BatchProgress: Sendable {
    private struct State {
        var counts = BatchCounts()
        /// How many boards this station has ended, and when it began.
        var ended = 0
        var began = ContinuousClock.now
        var isStopping = false
        var writers: [Int64: EventDocument.Writer] = [:]
    }

    private let form: ProgressReport.Form
    private let isDetailed: Bool
    private let output: Output
    private let screen: Screen
    private let runID: String
    private let writesEvents: Bool
    private let state = Mutex(State())

    init(_ context: Context, _ options: GlobalOptions, events: Provision.Events?) {
        form = events != nil && options.isJSON ? .silent : ProgressReport.form(options)
        isDetailed = options.verbosity > 0
        output = context.output
        screen = context.screen
        runID = context.runID
        writesEvents = events != nil
    }

    func begin(_ batch: Batch) { state.withLock { $0.began = .now } }

    /// The user has asked for the end.
    func stopping() {
        state.withLock { $0.isStopping = true }
        guard form != .silent else { return }
        screen.write("Stopping: each board finishes its step. Press Ctrl-C again to end at once.")
    }

    func end() { if form == .live { screen.draw("") } }

    func take(_ event: BatchEvent) {
        switch event {
        case .began(let board):
            if isDetailed { write("·", .yellow, "\(label(board)): begins") }
        case .step(let board, let event): writer(of: board)?.take(event)
        case .again(let board, let error):
            write("·", .yellow, "\(label(board)): trying again, because: \(error.sentence)")
            writer(of: board)?.failed(error, as: "retrying")
        case .done(let board, let node):
            ended(board)
            if isDetailed || form == .plain {
                write("✓", .green, "\(label(board)): done" + (node.nodeID.map { " (node \($0))" } ?? ""))
            }
            writer(of: board)?.done(ProvisionResult(node))
            forget(board)
        case .failed(let board, let error):
            ended(board)
            let failure = CommandFailure(error)
            write("✗", .red, "\(label(board)): \(failure.message)")
            writer(of: board)?.ended(failure)
            forget(board)
        case .stopped(let board), .lost(let board):
            ended(board, counts: false)
            if case .lost = event {
                write(
                    "·", .yellow,
                    "\(label(board)): another station has taken over this board, because this station did not write to the ledger for too long"
                )
            }
            writer(of: board)?.note("stopped")
            forget(board)
        case .alive: break
        case .counts(let counts): state.withLock { $0.counts = counts }
        case .ledgerUnreachable(let error):
            write("·", .yellow, "the ledger cannot be reached, so the boards wait: \(error.message)")
        case .cloudUnreachable(let error):
            write(
                "·", .yellow,
                "the cloud cannot be reached, so no board begins until the cloud answers: \(error.message.asSentence)")
        case .cloudAnswers: write("·", .yellow, "the cloud answers again")
        case .searchFailed(let scheme, let error):
            output.warn(
                "the search for boards \(Self.way(scheme)) failed and will be tried again: \(error.message)",
                reason: error.reason)
        }
    }

    /// Redraws the live line until cancelled.
    func animate() async {
        guard form == .live else { return }
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(200))
            let line = state.withLock { Self.line($0.counts, $0.ended, .now - $0.began, isStopping: $0.isStopping) }
            screen.draw(line.cut(toColumns: TerminalSize.current.columns - 1))
        }
        screen.draw("")
    }

    /// The live line: `12 of 200 done, 50 running, 1 failed, 8.2 a minute, 17 min left`.
    static func line(_ counts: BatchCounts, _ ended: Int, _ time: Duration, isStopping: Bool) -> String {
        var parts = ["\(counts.done) of \(counts.total) done", "\(counts.running) running"]
        if counts.failed > 0 { parts.append("\(counts.failed) failed") }
        let minutes = time / .seconds(60)
        if ended > 0, minutes > 0 {
            let speed = Double(ended) / minutes
            parts.append("\(Int((speed * 10).rounded()) / 10).\(Int((speed * 10).rounded()) % 10) a minute")
            let left = Double(counts.waiting + counts.running) / speed
            if !isStopping {
                parts.append(left < 1 ? "\(Int((left * 60).rounded())) s left" : "\(Int(left.rounded())) min left")
            }
        }
        return "… " + parts.joined(separator: ", ") + (isStopping ? ", stopping" : "")
    }

    private static func way(_ scheme: String) -> String {
        switch scheme {
        case "ble": "over Bluetooth"
        case "softap": "as Wi-Fi networks"
        case "serial": "on cables"
        case "on-network": "on the network"
        default: "over \(scheme.onOneLine)"
        }
    }

    private func ended(_ board: LedgerBoard, counts: Bool = true) {
        if counts { state.withLock { $0.ended += 1 } }
    }

    private func label(_ board: LedgerBoard) -> String { "line \(board.line), \(board.name.onOneLine)" }

    private func write(_ mark: String, _ colour: TerminalStyle.Colour, _ text: String) {
        guard form != .silent else { return }
        let style = TerminalStyle.ofErrors
        let mark = form == .live || style.hasColour ? style.painted(mark, colour) + " " : ""
        screen.write(mark + text.withoutControls, indent: 2)
    }

    /// The events of one board; nil if no events were requested.
    private func writer(of board: LedgerBoard) -> EventDocument.Writer? {
        guard writesEvents else { return nil }
        return state.withLock { state in
            if let known = state.writers[board.id] { return known }
            let writer = EventDocument.Writer(
                run: runID, device: label(board), describing: { RainKitError.Document(CommandFailure($0)) },
                { [output] in output.event($0) })
            state.writers[board.id] = writer
            return writer
        }
    }

    private func forget(_ board: LedgerBoard) { state.withLock { $0.writers[board.id] = nil } }
}
