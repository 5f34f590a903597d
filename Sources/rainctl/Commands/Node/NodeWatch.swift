// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainMaker
import Synchronization

/// Shows the reports of boards as they arrive.
struct NodeWatch: AsyncParsableCommand, EndsByInterruption {
    static let configuration = CommandConfiguration.leaf(
        commandName: "watch", abstract: "Show changes when boards report them.",
        discussion: """
            Example: rainctl node watch 'Kitchen lamp'

            rainctl asks the cloud every two seconds, and several times a second while values change. With --live, rainctl also \
            receives reports and alerts of the boards over MQTT. The cloud and the firmware must support this. With --json, each change is \
            one line of JSON. Ctrl-C ends the command.
            """)

    @Argument(help: .nodes, completion: .nodes)
    var nodes: String

    @Flag(help: "Also receive the reports and alerts that the boards send over MQTT.")
    var live = false

    @Option(help: ArgumentHelp("End with exit code 0 after this many changes and alerts.", valueName: "n"))
    var count: Int?

    @Option(help: ArgumentHelp("End after this time, such as 500ms, 6s or 2m.", valueName: "time"))
    var timeout: DurationArgument?

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1.") }
    }

    func run() async throws {
        let context = try Context(options)
        let client = try context.rainMakerClient()
        let names = nodes
        let found = try await withTimeout(min(timeout?.duration ?? .seconds(30), .seconds(30))) {
            try await client.nodes(listed: names)
        }
        let printer = WatchPrinter(context.output, count: count)
        for node in found { printer.start(node) }
        try await client.watch(found, live: live, for: timeout?.duration) { printer.take($0) }
        try Task.checkCancellation()
        if let count, !printer.isDone, !printer.isCut {
            throw CommandFailure(.deadline, message: Self.tooFew(printer.seenChanges, of: count))
        }
    }
}

extension NodeWatch {
    /// The message if the time is over before enough changes have arrived.
    static func tooFew(_ seen: Int, of count: Int) -> String {
        switch seen {
        case 0: "No change was reported within the time limit (--timeout)."
        case 1: "Only one of \(count) changes was reported within the time limit (--timeout)."
        default: "Only \(seen) of \(count) changes were reported within the time limit (--timeout)."
        }
    }
}

/// Prints changes of boards, a line each.
final class WatchPrinter: Sendable {
    private let output: Output
    private let count: Int?
    private let seen = Mutex(0)
    private let names = Mutex<[NodeID: String]>([:])

    init(_ output: Output, count: Int?) {
        self.output = output
        self.count = count
    }

    var seenChanges: Int { seen.withLock(\.self) }
    var isDone: Bool { count.map { seen.withLock(\.self) >= $0 } ?? false }
    /// Whether nothing more can be printed.
    var isCut: Bool { output.isCut }

    /// Prints the board's state at the beginning.
    func start(_ node: Node) {
        names.withLock { $0[node.id] = node.displayName }
        let state = node.connectivity.map { $0.isConnected ? "online" : "offline" } ?? "unknown"
        output.say("watching \(node.displayName ?? node.id.rawValue) (\(node.id.rawValue), \(state))".onOneLine)
    }

    /// Prints an event. Returns whether more events are wanted.
    func take(_ event: NodeWatchEvent) -> Bool {
        switch event {
        case .change(let change): return take(TimedDocument(change), text(change))
        case .alert(let alert): return take(TimedDocument(alert), text(alert))
        case .withoutAlerts(let reason): output.say("note: alerts do not arrive here: \(reason)")
        case .listening: output.say("listening")
        case .interrupted(let reason): output.say("note: connecting again for live changes: \(reason)")
        }
        return !isCut
    }

    private func take(_ document: some Encodable, _ text: String) -> Bool {
        let isWanted = seen.withLock { seen in
            if let count, seen >= count { return false }
            seen += 1
            return true
        }
        guard isWanted else { return false }
        output.piece(document, text: text)
        return !isDone && !isCut
    }

    private var time: String { StandardStreams.outIsTerminal ? LocalTime.now : Timestamp.now }

    private func text(_ alert: NodeAlert) -> String {
        let name = names.withLock { $0[alert.node] } ?? alert.node.rawValue
        return "\(time)  \(name)  alert: \(alert.text)".onOneLine
    }

    private func text(_ change: NodeChange) -> String {
        let time = time
        let name = change.name ?? change.node.rawValue
        switch change.kind {
        case .connected(let isConnected): return "\(time)  \(name)  \(isConnected ? "online" : "offline")".onOneLine
        case .value(let path, let value, let previous):
            let before = previous.map { "  (was \($0.shown))" } ?? ""
            return "\(time)  \(name)  \(path): \(value.shown)\(before)".onOneLine
        }
    }
}
