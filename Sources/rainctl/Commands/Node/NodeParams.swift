// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainMaker

struct NodeParams: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "params", abstract: "Read and set the values of a board's devices.",
        subcommands: [NodeParamsGet.self, NodeParamsSet.self])
}

struct NodeParamsGet: AsyncParsableCommand, ListCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "get", abstract: "Print the values that a board last reported.",
        discussion: """
            Example: rainctl node params get 'Kitchen lamp' Light.Power

            If you name one value of one board, rainctl prints only the value. For several boards, each line begins with the board's node \
            id or name. With --local, rainctl asks the board itself. NODE must then be the board's node id, or the name that the board \
            announces on the network.
            """)

    @Argument(help: .nodes, completion: .nodes)
    var node: String

    @Argument(
        help: ArgumentHelp("The values to print, such as Light.Power or Light (default: all).", valueName: "path"))
    var paths: [String] = []

    @OptionGroup(title: "Direct connection to the board") var local: LocalOptions

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @Option(help: .listForm) var format = ListForm.text

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if local.isWanted, node.contains(",") {
            throw ValidationError("\(local.local ? "--local" : "--auto") is for one board at a time.")
        }
        if format == .tsv, node.contains(",") {
            throw ValidationError("--format tsv is for one board at a time.")
        }
    }

    func run() async throws {
        let context = try Context(options, list: format)
        let time = TimeBudget(timeout)
        try await local.run {
            try await runLocally(context, time)
        } byCloud: {
            try await runByCloud(context, time)
        }
    }

    private func runByCloud(_ context: Context, _ time: TimeBudget) async throws {
        let client = try context.rainMakerClient()
        let names = node
        let found = try await time.run {
            var found: [(node: Node, values: JSONValue)] = []
            for node in try await client.nodes(listed: names) {
                found.append((node, try await client.rainMakerNodes().parameters(of: node.id)))
            }
            return found
        }
        let results = try found.map { node, values in
            ParamsResult(
                node: node.id, name: node.shownName,
                try ParamsResult.chosen(paths, of: values, node.shownName, NodeConfiguration(node.configuration)))
        }
        if results.count == 1 { return context.output.result(results[0]) }
        context.output.result(ParamsListResult(nodes: results))
    }

    private func runLocally(_ context: Context, _ time: TimeBudget) async throws {
        let node = try await local.session(with: node, context, time) { $0 }
        context.output.result(
            ParamsResult(
                node: node.nodeID,
                try ParamsResult.chosen(paths, of: node.values, node.nodeID.rawValue.onOneLine, node.configuration)))
    }
}

/// One line for each value, such as `Light.Power: true`, or the value alone if a single one was asked for.
extension ParamsResult: CommandResult {
    var text: String { lines.joined(separator: "\n") }

    private var lines: [String] {
        [ParameterChange](reported: params).map { change in
            (isSingle ? change.value.shown : "\(change.path): \(change.value.shown)").withoutControls
        }
    }

    /// The lines, each with the node id in front.
    fileprivate var linesWithID: [String] { lines.map { "\(nodeID.onOneLine)  \($0)" } }
    fileprivate var linesWithName: [String] { lines.map { "\(name ?? nodeID.onOneLine)  \($0)" } }
}

extension ParamsResult: ListResult {
    var table: ListTable { ListTable(member: "params", rows: .values, columns: ["device", "parameter", "value"]) }
}

extension ParamsListResult: CommandResult {
    var text: String { nodes.flatMap(\.linesWithID).joined(separator: "\n") }
}

extension ParamsListResult: TerminalResult {
    func view(columns: Int?, style: TerminalStyle) -> String {
        nodes.flatMap(\.linesWithName).joined(separator: "\n")
    }
}

struct NodeParamsSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "set", abstract: "Set values of one or more boards.",
        discussion: """
            Example: rainctl node params set 'Kitchen lamp' Light.Power=on \\
                         Light.Brightness=40

            rainctl first checks whether the values fit the board's node configuration. The cloud forwards the values, and does not wait \
            for the board. With --wait, rainctl waits until the board has reported the values. Some values are commands, such as a \
            restart. Boards do not report them, so rainctl waits only until the cloud has sent them. With --local, rainctl sends the \
            values directly to the board. NODES must then be the board's node id, or the name that the board announces on the network.
            """)

    @Argument(help: .nodes, completion: .nodes)
    var nodes: String

    @Argument(help: ArgumentHelp("The values to set, such as Light.Power=on.", valueName: "path=value"))
    var changes: [String] = []

    @Option(
        help: ArgumentHelp(
            "Read the values from a JSON file such as {\"Light\":{\"Power\":true}} (- for standard input).",
            valueName: "file"),
        completion: .file())
    var file: String?

    @Flag(help: "Wait until the board has reported the values.")
    var wait = false

    @OptionGroup(title: "Direct connection to the board") var local: LocalOptions

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if local.isWanted, nodes.contains(",") {
            throw ValidationError("\(local.local ? "--local" : "--auto") is for one board at a time.")
        }
        guard changes.isEmpty != (file == nil) else {
            throw ValidationError(
                file == nil
                    ? "Give values as PATH=VALUE, or with --file."
                    : "Give PATH=VALUE or --file, but not both.")
        }
        try GivenValue.validate(changes)
    }

    func run() async throws {
        let context = try Context(options)
        let time = TimeBudget(timeout)
        let given = try fileChanges(within: time.left)
        try await local.run {
            try await runLocally(given, context, time)
        } byCloud: {
            try await runByCloud(given, context, time)
        }
    }

    private func runByCloud(_ given: [ParameterChange]?, _ context: Context, _ time: TimeBudget) async throws {
        let client = try context.rainMakerClient()
        let names = nodes
        let found = try await time.run { try await client.nodes(listed: names) }
        // All values are checked before the first is set.
        let wanted = try found.map { node in (node: node, changes: try checked(given, at: node)) }
        for clash in try await time.run({ try await client.checkNames(Self.names(in: wanted)) }) {
            context.output.warn(clash)
        }
        let report = ReportWait(isRequired: wait, for: found, context, time)
        let outcomes = try await time.run { try await client.set(wanted, waiting: report.limit) }
            .map(report.settled)
        let shown = Dictionary(found.map { ($0.id.rawValue, $0.shownName) }) { first, _ in first }
        try ParamsSetResult(outcomes, names: shown).tell(context)
    }

    private func runLocally(_ given: [ParameterChange]?, _ context: Context, _ time: TimeBudget) async throws {
        let changes = changes
        let outcome = try await local.session(with: nodes, context, time) { node in
            try await node.set { configuration throws(ParameterError) in
                if let given { return given }
                return try GivenValue.changes(changes, by: configuration)
            }
        }
        try ParamsSetResult([outcome], isLocal: true).tell(context)
    }

    /// The names that boards are to get.
    private static func names(in wanted: [(node: Node, changes: [ParameterChange])]) -> [NodeID: String] {
        var names: [NodeID: String] = [:]
        for (node, changes) in wanted {
            guard let path = NodeConfiguration(node.configuration)?.nameParameter else { continue }
            names[node.id] = changes.first { $0.path == path }?.value.string
        }
        return names
    }

    private func fileChanges(within limit: Duration) throws(CommandFailure) -> [ParameterChange]? {
        guard let file else { return nil }
        let json = try Payload.json(file: file, name: "file of values", reason: "bad_values", within: limit)
        guard case .object = json else {
            throw CommandFailure(
                .badData, reason: "bad_values",
                message:
                    "\(Payload.subject(file)) is \(json.kind): give a JSON object such as {\"Light\":{\"Power\":true}}."
            )
        }
        guard let changes = [ParameterChange](json), !changes.isEmpty else {
            throw CommandFailure(
                .badData, reason: "bad_values",
                message:
                    "\(Payload.subject(file)) has no values: give a JSON object such as {\"Light\":{\"Power\":true}}."
            )
        }
        return changes
    }

    private func checked(_ given: [ParameterChange]?, at node: Node) throws(RainKitError) -> [ParameterChange] {
        let configuration = try node.described()
        do throws(ParameterError) {
            if let given {
                return try configuration.checked(given)
            }
            return try GivenValue.changes(changes, by: configuration)
        } catch {
            throw RainKitError(error, at: node.shownName)
        }
    }
}

extension ParamsSetResult: CommandResult {
    var text: String { nodes.map(line).joined(separator: "\n") }

    var isProse: Bool { true }

    var confirmedLines: [Int] {
        nodes.indices.filter { ["reported", "sent"].contains(nodes[$0].state) && !nodes[$0].isOffline }
    }

    private func line(_ entry: Entry) -> String {
        let board = shown(entry)
        let done = newName.map { "Renamed \(board) to \($0.onOneLine)" } ?? "Set the values of \(board)"
        let sent = newName.map { "Sent the name \($0.onOneLine) to \(board)" } ?? "Sent the values to \(board)"
        return switch entry.state {
        case "reported": done + Self.besides(entry.notReported)
        case "sent" where entry.isOffline:
            "\(board) is offline: the cloud has sent "
                + (newName.map { "the name \($0.onOneLine), but the board may not get it" }
                    ?? "the values, but the board may not get them")
        case "sent" where entry.isSentOnly:
            isLocal
                ? "\(sent); the board cannot report them back" : "\(sent); the board does not report them"
        case "unknown": "\(board): it is not known whether the cloud has sent the values"
        case "sent" where entry.isUntold: "\(sent); it is not known whether the board has them"
        case "sent": "\(sent); the board has not answered yet (to wait for the answer, use --wait)"
        case "silent" where isLocal: "\(board) has accepted the values, but does not report them" + entry.instead
        case "silent": "\(board) has not reported the values in time; the cloud has sent them" + entry.instead
        default: "\(board) failed: \(entry.message?.onOneLine ?? "")"
        }
    }

    private static func besides(_ paths: [String]?) -> String {
        guard let paths else { return "" }
        return
            "; not confirmed, because the board does not report them: \(paths.prefix(5).map(\.onOneLine).joined(separator: ", "))"
    }

    /// Prints the result. Throws if a board does not have the wanted values, so that a script notices.
    func tell(_ context: Context) throws(CommandFailure) { try tell(context.output) }

    func tell(_ output: Output) throws(CommandFailure) {
        guard var failure = commandFailure else { return output.result(self) }
        if !output.isJSON { output.result(self) }
        failure.result = self
        throw failure
    }

    /// The failure with the options and commands that help.
    var commandFailure: CommandFailure? {
        guard let error = failure(.ofCommands) else { return nil }
        var failure = CommandFailure(error)
        // The message of an account's error is made from its parts.
        if error.account != nil { failure.message += others(.ofCommands) }
        return failure
    }
}

extension ParamsSetResult.Hints {
    fileprivate static var ofCommands: Self {
        var hints = Self()
        hints.timeLimit = " (--timeout)"
        hints.ofBoards = { ": \(commandLine("node params get \($0.asShellWord)")) shows the values" }
        return hints
    }
}

extension NodeRemovedResult: ConfirmingResult {
    var text: String { "Removed \(name.onOneLine) from your account" }
}
