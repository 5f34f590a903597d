// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainIO
import RainJSON
import RainKit
import Synchronization

/// Shows what boards report, as it comes.
struct NodeWatch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show what boards report, as it changes.",
        discussion: """
            Example: rainctl node watch 'Kitchen lamp'

            The cloud is asked several times a second while something happens, and every two seconds while nothing does. With --live the \
            boards' own reports are listened to as well (MQTT), where the cloud and the firmware let programs do so. With --json each change \
            is a line of JSON. Ctrl-C ends it.
            """)

    @Argument(help: "The board or boards, NODE[,NODE…]: node ids, or the names that you gave them.")
    var nodes: String

    @Flag(help: "Listen to the boards' reports, by MQTT.")
    var live = false

    @Option(help: ArgumentHelp("End with success after so many changes.", valueName: "n"))
    var count: Int?

    @Option(help: ArgumentHelp("End after this time: 6, 6s, 500ms, 2m.", valueName: "time"))
    var timeout: DurationArgument?

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    /// A hundred years, in seconds: without --timeout Ctrl-C ends it.
    private static let longest = 3_153_600_000

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is at least 1.") }
    }

    func run() async throws {
        let context = try Context(options)
        let client = try context.rainMakerClient()
        let names = nodes
        let choice = NodeChoice(client: client)
        let found = try await withTimeout(min(timeout?.duration ?? .seconds(30), .seconds(30))) {
            try await choice.nodes(names)
        }
        let printer = WatchPrinter(context.output, count: count)
        for node in found { printer.start(node) }
        let watch = NodeWatching(cloud: try client.rainMakerNodes())
        let watched = Dictionary(found.map { ($0.id, WatchedNode($0)) }, uniquingKeysWith: { first, _ in first })
        let listening = live ? LiveWatching(client: client, output: context.output) : nil
        let end = timeout.map { ContinuousClock.now + $0.duration }
        // A question that is under way when the time is over is given up.
        let outcome = await withDeadline(
            end.map { ContinuousClock.now.duration(to: $0) } ?? .seconds(Self.longest),
            sleep: { try await Task.sleep(for: $0) }
        ) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (id, node) in watched {
                    group.addTask {
                        try await watch.run(id, node, until: end) { change in printer.take(change) }
                    }
                }
                if let listening {
                    group.addTask { try await listening.run(watched, until: end) { change in printer.take(change) } }
                }
                do {
                    // The first that has seen enough ends the others.
                    for try await _ in group where printer.isDone || printer.isCut { group.cancelAll() }
                } catch {
                    // A question that was under way then ends as cancelled.
                    guard printer.isDone || printer.isCut else { throw error }
                    group.cancelAll()
                }
            }
        }
        if case .failure(let error)? = outcome, end.map({ ContinuousClock.now < $0 }) ?? true { throw error }
        try Task.checkCancellation()
        if let count, !printer.isDone, !printer.isCut {
            throw CommandFailure(
                .deadline, message: "There were fewer than \(count) changes within the time (--timeout).")
        }
    }
}

/// Prints changes of boards, a line each.
final class WatchPrinter: Sendable {
    private let output: Output
    private let count: Int?
    private let seen = Mutex(0)

    init(_ output: Output, count: Int?) {
        self.output = output
        self.count = count
    }

    var isDone: Bool { count.map { seen.withLock(\.self) >= $0 } ?? false }
    /// Whether nothing more can be printed: nobody reads standard output any more, as behind `head -1`.
    var isCut: Bool { StandardStreams.outFailure != nil }

    /// The board as it is when the watching begins.
    func start(_ node: Node) {
        let state = node.connectivity.map { $0.isConnected ? "online" : "offline" } ?? "unknown"
        output.say("watching \(node.shownName) (\(node.id.rawValue), \(state))".onOneLine)
    }

    /// Says whether more is wanted.
    func take(_ change: NodeChange) -> Bool {
        let isWanted = seen.withLock { seen in
            if let count, seen >= count { return false }
            seen += 1
            return true
        }
        guard isWanted else { return false }
        let time = Timestamp.text(Timestamp.now())
        StandardStreams.out(output.isJSON ? JSONText.line(WatchLine(change, at: time)) : text(change, at: time) + "\n")
        return !isDone && !isCut
    }

    private func text(_ change: NodeChange, at time: String) -> String {
        let name = change.name ?? change.node.rawValue
        switch change.what {
        case .connected(let isConnected): return "\(time)  \(name)  \(isConnected ? "online" : "offline")".onOneLine
        case .value(let path, let value, let previous):
            let before = previous.map { "  (was \($0.shown))" } ?? ""
            return "\(time)  \(name)  \(path): \(value.shown)\(before)".onOneLine
        }
    }
}

/// A change as a line of JSON.
struct WatchLine: Encodable {
    private let change: NodeChange
    private let time: String

    init(_ change: NodeChange, at time: String) { (self.change, self.time) = (change, time) }

    private enum CodingKeys: String, CodingKey {
        case time = "ts"
        case nodeID = "node_id"
        case state, path, value, previous
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time, forKey: .time)
        try container.encode(change.node.rawValue, forKey: .nodeID)
        switch change.what {
        case .connected(let isConnected): try container.encode(isConnected ? "online" : "offline", forKey: .state)
        case .value(let path, let value, let previous):
            try container.encode("value", forKey: .state)
            try container.encode("\(path)", forKey: .path)
            try container.encode(value, forKey: .value)
            try container.encodeIfPresent(previous, forKey: .previous)
        }
    }
}
