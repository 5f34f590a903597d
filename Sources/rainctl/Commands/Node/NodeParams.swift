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
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the values that a board last reported.",
        discussion: """
            Example: rainctl node params get 'Kitchen lamp' Light.Power

            With exactly one path, only its value is printed. For several boards, each line begins with the board's node id. With --local, \
            rainctl asks the board itself; NODE is then its node id or the name that it announces.
            """)

    @Argument(help: .nodes, completion: .nodes)
    var node: String

    @Argument(
        help: ArgumentHelp("The values to print, such as Light.Power or Light (default: all).", valueName: "path"))
    var paths: [String] = []

    @OptionGroup(title: "Directly to the board") var local: LocalOptions

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup var list: ListOptions

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if local.isWanted, node.contains(",") {
            throw ValidationError("\(local.local ? "--local" : "--auto") is for one board at a time.")
        }
        if list.format == .tsv, node.contains(",") {
            throw ValidationError("--format tsv is for one board at a time.")
        }
    }

    func run() async throws {
        let context = try Context(options, list: list)
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

/// Values that a board has reported: one line each, such as `Light.Power: true`, or the value alone if a single one was asked for.
struct ParamsResult: CommandResult {
    let nodeID: String
    let params: JSONValue
    @TextOnly private var lines: [String]
    /// The board's name, for people.
    @TextOnly private var name: String?

    var text: String { lines.joined(separator: "\n") }

    /// The lines, each with the node id in front.
    fileprivate var linesWithID: [String] { lines.map { "\(nodeID.onOneLine)  \($0)" } }
    fileprivate var linesWithName: [String] { lines.map { "\(name ?? nodeID.onOneLine)  \($0)" } }

    /// The requested part of all values.
    struct Chosen {
        var params: JSONValue
        /// Whether one path was given and it leads to one value.
        var isSingle: Bool
    }

    init(node: NodeID, name: String? = nil, _ chosen: Chosen) {
        self.name = name
        nodeID = node.rawValue
        params = chosen.params
        let changes = [ParameterChange](reported: chosen.params)
        lines =
            chosen.isSingle
            ? changes.map { $0.value.shown.withoutControls }
            : changes.map { "\($0.path): \($0.value.shown)".withoutControls }
    }

    /// Selects the requested values. A secret is shown only if its whole path is given.
    ///
    /// - Parameters:
    ///   - paths: `Light` or `Light.Power`; all values if empty. Throws `bad_data` for a path that the board has not reported.
    ///   - configuration: the node configuration that the board has reported.
    static func chosen(
        _ paths: [String], of values: JSONValue, _ node: String, _ configuration: NodeConfiguration?
    ) throws(CommandFailure) -> Chosen {
        let secrets = SecretParameters(of: configuration)
        guard !paths.isEmpty else { return Chosen(params: secrets.masked(in: values), isSingle: false) }
        let all = [ParameterChange](reported: values)
        var wanted: [ParameterChange] = []
        for path in paths {
            let found = all.filter { "\($0.path)" == path || $0.path.component == path }
            guard !found.isEmpty else {
                if let lack = Self.unreported(path, configuration) {
                    throw CommandFailure(
                        .badData, reason: "no_such_parameter", message: "\(node): \(path.onOneLine) \(lack).")
                }
                let known = all.prefix(20).map { "\($0.path)".onOneLine }.joined(separator: ", ")
                throw CommandFailure(
                    .badData, reason: "no_such_parameter",
                    message:
                        "\(node) has not reported \(path.onOneLine); it has reported "
                        + "\(known.isEmpty ? "nothing" : known).")
            }
            let isNamed = Self.isNamed(path, all)
            let shown = isNamed ? found : [ParameterChange](reported: secrets.masked(in: found.json))
            wanted += shown.filter { !wanted.contains($0) }
        }
        return Chosen(params: wanted.json, isSingle: paths.count == 1 && isNamed(paths[0], all))
    }

    /// Why the reported values do not include a parameter of the board; nil if the board does not have this parameter.
    private static func unreported(_ path: String, _ configuration: NodeConfiguration?) -> String? {
        guard let configuration, let found = try? configuration.path(path),
            let parameter = configuration.component(found.component)?.parameter(found.parameter)
        else { return nil }
        return parameter.isReadable ? "has not been reported yet" : "can only be set: the board does not report it"
    }

    /// Whether the path leads to a value and not to a device. A device's name may also contain a dot.
    private static func isNamed(_ path: String, _ all: [ParameterChange]) -> Bool {
        all.contains { "\($0.path)" == path }
    }
}

extension ParamsResult: ListResult {
    var table: ListTable { ListTable(member: "params", rows: .values, columns: ["device", "parameter", "value"]) }
}

/// Values that several boards have reported.
struct ParamsListResult: CommandResult {
    let nodes: [ParamsResult]

    var text: String { nodes.flatMap(\.linesWithID).joined(separator: "\n") }
}

extension ParamsListResult: TerminalResult {
    func view(columns: Int?, style: TerminalStyle) -> String {
        nodes.flatMap(\.linesWithName).joined(separator: "\n")
    }
}

struct NodeParamsSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set values of one or more boards.",
        discussion: """
            Example: rainctl node params set 'Kitchen lamp' Light.Power=on \\
                         Light.Brightness=40

            Names, types and bounds are checked against the board's node configuration before anything is sent. The cloud forwards the \
            values, and does not wait for the board. With --wait, rainctl waits until the board has reported the values. Values that the \
            board never reports, such as a restart, count as done when the cloud has sent them. With --local, rainctl sends the values \
            directly to the board. NODE is then the board's node id, or the name that it announces on the network.
            """)

    @Argument(help: .nodes, completion: .nodes)
    var nodes: String

    @Argument(help: ArgumentHelp("The values to set, such as Light.Power=on.", valueName: "path=value"))
    var changes: [String] = []

    @Option(
        help: ArgumentHelp(
            "Read the values from a JSON file such as {\"Light\":{\"Power\":true}}; - is standard input.",
            valueName: "file"),
        completion: .file())
    var file: String?

    @Flag(help: "Wait until the board has reported the values.")
    var wait = false

    @OptionGroup(title: "Directly to the board") var local: LocalOptions

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
                    : "PATH=VALUE and --file were both given: give only one of them.")
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

/// The outcome of setting values, board by board.
struct ParamsSetResult: CommandResult {
    let nodes: [Entry]
    /// Whether the board itself was asked, without the cloud.
    @TextOnly private var isLocal: Bool
    /// Why the cloud did not show whether boards have reported the values.
    @TextOnly private var untold: AccountError?
    /// The boards' names by their ids.
    @TextOnly private var names: [String: String]
    /// The name that a renamed board gets.
    @TextOnly private var newName: String?

    struct Entry: Encodable, Sendable {
        let nodeID: String
        /// `reported` by the board, `sent` by the cloud, `silent` if the board did not report in time, or `failed`. `unknown` if the cloud did
        /// not show whether it has sent the values.
        let state: String
        /// The reason of a failure, or what the board reports instead.
        let message: String?
        let errorCode: Int?
        /// Paths whose values boards never report as they were set. It is only known that they were sent.
        let notReported: [String]?
        /// Whether all paths are in `notReported`.
        @TextOnly fileprivate var isSentOnly: Bool
        /// Whether the cloud did not show if the board has the values.
        @TextOnly fileprivate var isUntold: Bool
        /// Whether the board was offline when the values were sent, and nobody waited for it.
        @TextOnly private(set) var isOffline: Bool
    }

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
                ? "\(sent); they cannot be read back" : "\(sent); the board does not report them"
        case "unknown": "\(board): it is not known whether the cloud has sent the values"
        case "sent" where entry.isUntold: "\(sent); it is not known whether the board has them"
        case "sent": "\(sent); the board has not answered yet (--wait waits for that)"
        case "silent" where isLocal: "\(board) has accepted the values, but does not report them" + Self.instead(entry)
        case "silent": "\(board) has not reported the values in time; the cloud has sent them" + Self.instead(entry)
        default: "\(board) failed: \(entry.message?.onOneLine ?? "")"
        }
    }

    private static func besides(_ paths: [String]?) -> String {
        guard let paths else { return "" }
        return "; sent, but cannot be read back: \(paths.prefix(5).map(\.onOneLine).joined(separator: ", "))"
    }

    private static func instead(_ entry: Entry) -> String { entry.message.map { "; it \($0.onOneLine)" } ?? "" }

    /// - Parameters:
    ///   - names: the boards' names by their ids, for messages.
    ///   - newName: the name that a board gets, if the values are only that.
    init(
        _ outcomes: [ParameterSetOutcome], names: [String: String] = [:], newName: String? = nil, isLocal: Bool = false
    ) {
        // Boards with one name are reported apart by their ids.
        let counts = Dictionary(grouping: names.values) { $0.lowercased() }.mapValues(\.count)
        self.names = names.filter { counts[$0.value.lowercased()] == 1 }
        self.newName = newName
        self.isLocal = isLocal
        untold = outcomes.lazy.compactMap(\.unknown).first
        nodes = outcomes.map { outcome in
            let state =
                if outcome.failure != nil { "failed" } else if outcome.isSendingUnknown { "unknown" } else {
                    switch outcome.isReported {
                    case true?: "reported"
                    case false?: "silent"
                    case nil: "sent"
                    }
                }
            let unreported = outcome.unreported.map { "\($0)" }
            return Entry(
                nodeID: outcome.node.rawValue, state: state,
                message: outcome.failure ?? outcome.unknown?.message ?? outcome.seen, errorCode: outcome.serverCode,
                notReported: unreported.isEmpty ? nil : unreported, isSentOnly: outcome.isSentOnly,
                isUntold: outcome.unknown != nil,
                isOffline: state == "sent" && outcome.unknown == nil && outcome.seen != nil)
        }
    }

    /// Prints the result. Throws if a board does not have the wanted values, so that a script notices.
    func tell(_ context: Context) throws(CommandFailure) { try tell(context.output) }

    func tell(_ output: Output) throws(CommandFailure) {
        guard var failure else { return output.result(self) }
        if !output.isJSON { output.result(self) }
        failure.result = self
        throw failure
    }

    private func shown(_ entry: Entry) -> String { (names[entry.nodeID] ?? entry.nodeID).onOneLine }

    /// Why not all boards have the values; nil if they have them.
    var failure: CommandFailure? {
        let (failed, silent) = (nodes.filter { $0.state == "failed" }, nodes.filter { $0.state == "silent" })
        let names = silent.prefix(5).map { entry in
            shown(entry) + (entry.message.map { " (it \($0.onOneLine))" } ?? "")
        }.joined(separator: ", ")
        let late = silent.isEmpty ? "" : " Not reported in time by \(names)."
        guard !failed.isEmpty else {
            if let untold {
                var failure = CommandFailure(untold)
                failure.message += unknown + late
                return failure
            }
            guard !silent.isEmpty else { return nil }
            let only = shown(silent[0])
            let seen = silent[0].message.map { "\($0.onOneLine), and " } ?? ""
            let message =
                switch (isLocal, nodes.count) {
                case (true, _): "\(only) has accepted the values, but does not report them\(Self.instead(silent[0]))."
                case (false, 1):
                    "\(only) \(seen)has not reported the values in time (--timeout). The cloud has sent them."
                default:
                    "The cloud has sent the values, but these boards have not reported them in time (--timeout): \(names)."
                }
            if nodes.count == silent.count { return CommandFailure(.deadline, message: message) }
            return CommandFailure(.batchPartial, reason: "some_silent", message: message)
        }
        let words = failed.prefix(5).map { "\(shown($0)): \($0.message?.onOneLine ?? "")" }
            .joined(separator: "; ")
        return CommandFailure(
            .batchPartial, reason: failed.count == nodes.count ? "all_failed" : "some_failed",
            message: "The values were not set on \(failed.count) of \(nodes.count) boards: \(words).\(unknown)\(late)")
    }

    /// Sentences about boards for which the cloud did not show whether it has sent the values, or whether they were reported.
    private var unknown: String {
        let untold = nodes.filter(\.isUntold)
        let (unsure, sent) = (untold.filter { $0.state == "unknown" }, untold.filter { $0.state != "unknown" })
        return sentence("It is not known whether the cloud has sent the values to", unsure)
            + sentence(
                "The cloud has sent the values, but did not show whether these boards have reported them:", sent)
    }

    private func sentence(_ words: String, _ entries: [Entry]) -> String {
        let names = entries.prefix(5).map(shown)
        guard let first = entries.first?.nodeID.asShellWord else { return "" }
        return
            " \(words) \(names.joined(separator: ", ")): \(commandLine("node params get \(first)")) shows the values."
    }
}

/// Reports that a board is no longer in the account.
struct NodeRemovedResult: ConfirmingResult {
    let nodeID: String
    let removed = true

    /// The board's name.
    @TextOnly var name: String

    init(nodeID: String, name: String) {
        self.nodeID = nodeID
        self.name = name
    }

    var text: String { "Removed \(name.onOneLine) from your account" }
}
