// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit

struct NodeParams: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "params", abstract: "The values of a board's devices: read them, set them.",
        subcommands: [NodeParamsGet.self, NodeParamsSet.self])
}

struct NodeParamsGet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the values that a board last reported.",
        discussion: """
            Example: rainctl node params get 'Kitchen lamp' Light.Power

            With one path its value alone is printed. With --local the board is asked itself: NODE is its node id then, or what it announces.
            """)

    @Argument(help: .node)
    var node: String

    @Argument(
        help: ArgumentHelp("The values wanted, such as Light.Power or Light; all if none is named.", valueName: "path"))
    var paths: [String] = []

    @OptionGroup(title: "Without the cloud") var local: LocalOptions

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        if local.local { return try await runLocally(context) }
        let client = try context.rainMakerClient()
        let choice = NodeChoice(client: client)
        let name = node
        let (node, values) = try await withTimeout(timeout.duration) {
            let node = try await choice.node(name)
            return (node, try await client.rainMakerNodes().parameters(of: node.id))
        }
        context.output.result(
            ParamsResult(
                node: node.id,
                try ParamsResult.chosen(paths, of: values, node.shownName, NodeConfiguration(node.configuration))))
    }

    private func runLocally(_ context: Context) async throws {
        let node = LocalNode(node, local, context, TimeBudget(timeout))
        let session = try await node.session { $0 }
        context.output.result(
            ParamsResult(
                node: NodeID(session.nodeID),
                try ParamsResult.chosen(paths, of: session.values, session.nodeID.onOneLine, session.described)))
    }
}

/// Values that a board has reported: `Light.Power: true` a line, or a single value alone.
struct ParamsResult: CommandResult {
    let nodeID: String
    let params: JSONValue
    private let lines: [String]

    private enum CodingKeys: String, CodingKey {
        case nodeID = "node_id"
        case params
    }

    var text: String { lines.joined(separator: "\n") }

    /// What was asked for of all values.
    struct Chosen {
        var params: JSONValue
        /// One path was named, and it leads to one value.
        var isSingle: Bool
    }

    init(node: NodeID, _ chosen: Chosen) {
        nodeID = node.rawValue
        params = chosen.params
        let changes = [ParameterChange](reported: chosen.params)
        lines =
            chosen.isSingle
            ? changes.map { $0.value.shown.withoutControls }
            : changes.map { "\($0.path): \($0.value.shown)".withoutControls }
    }

    /// A secret is shown only where its whole path is named.
    ///
    /// - Parameters:
    ///   - paths: `Light` or `Light.Power`; all if there are none. Throws `bad_data` for one that the board has not reported.
    ///   - configuration: what the board has said of itself.
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
                let known = all.prefix(20).map { "\($0.path)".onOneLine }.joined(separator: ", ")
                throw CommandFailure(
                    .badData, reason: "no_such_parameter",
                    message:
                        "\(node) has reported no \(path.onOneLine); it has "
                        + "\(known.isEmpty ? "reported nothing" : known).")
            }
            let isNamed = Self.isNamed(path, all)
            let shown = isNamed ? found : [ParameterChange](reported: secrets.masked(in: found.json))
            wanted += shown.filter { !wanted.contains($0) }
        }
        return Chosen(params: wanted.json, isSingle: paths.count == 1 && isNamed(paths[0], all))
    }

    /// Whether it leads to a value, and not to a device, whose name may have a dot, too.
    private static func isNamed(_ path: String, _ all: [ParameterChange]) -> Bool {
        all.contains { "\($0.path)" == path }
    }
}

struct NodeParamsSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set values of one board, or of several.",
        discussion: """
            Example: rainctl node params set 'Kitchen lamp' Light.Power=on Light.Brightness=40

            Names, types and bounds are checked by what the board has said of itself before anything is sent. The cloud hands the values on \
            and does not wait for the board: --wait does, until the board has reported them; what it never reports, such as a restart, counts \
            as done once it is sent. With --local the board is told itself: NODE is its \
            node id then, or what it announces.
            """)

    @Argument(help: "The board or boards, NODE[,NODE…]: node ids, or the names that you gave them.")
    var nodes: String

    @Argument(help: ArgumentHelp("What is to have which value, such as Light.Power=on.", valueName: "path=value"))
    var changes: [String] = []

    @Option(
        help: ArgumentHelp(
            "Read the values from a JSON file, {\"Light\":{\"Power\":true}}; - is standard input.", valueName: "file"),
        completion: .file())
    var file: String?

    @Flag(help: "Wait until the board has reported the values.")
    var wait = false

    @OptionGroup(title: "Without the cloud") var local: LocalOptions

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if local.local, nodes.contains(",") { throw ValidationError("--local is for one board at a time.") }
        guard changes.isEmpty != (file == nil) else {
            throw ValidationError("Give values as PATH=VALUE, or a --file with them.")
        }
        try GivenValue.validate(changes)
    }

    func run() async throws {
        let context = try Context(options)
        let time = TimeBudget(timeout)
        let given = try fileChanges(within: time.left)
        if local.local { return try await runLocally(given, context, time) }
        let client = try context.rainMakerClient()
        let cloud = try client.rainMakerNodes()
        let choice = NodeChoice(client: client)
        let names = nodes
        let found = try await time.run { try await choice.nodes(names) }
        // All are checked before the first is set.
        let wanted = try found.map { node in (node: node, changes: try checked(given, at: node)) }
        let nameCheck = NameCheck(client: client, output: context.output)
        try await time.run { try await nameCheck.check(Self.names(in: wanted)) }
        let setter = ParameterSetter(cloud: cloud, wait: wait ? time.leftForWaiting : nil)
        let outcomes = try await time.run { try await setter.set(wanted) }
        try ParamsSetResult(outcomes).tell(context)
    }

    private func runLocally(_ given: [ParameterChange]?, _ context: Context, _ time: TimeBudget) async throws {
        let node = LocalNode(nodes, local, context, time)
        let changes = changes
        let outcome = try await node.session { session -> ParameterSetter.Outcome in
            let wanted: [ParameterChange]
            do throws(ParameterError) {
                guard let configuration = session.described else {
                    throw ParameterError(.noConfiguration, message: "The board has not said what it consists of.")
                }
                if let given {
                    wanted = try configuration.checked(given)
                } else {
                    wanted = try GivenValue.changes(changes, by: configuration)
                }
            } catch {
                throw CommandFailure(error, of: session.nodeID.onOneLine)
            }
            try await session.control.set(session.parameters, to: wanted.json.serialized())
            var outcome = ParameterSetter.Outcome(node: NodeID(session.nodeID))
            outcome.leaveOut(wanted.unreported(by: session.described), of: wanted)
            // A board that restarts now could not be asked.
            guard !outcome.isSentOnly else { return outcome }
            // The node has taken them; it says itself what it has now.
            let now = try await session.control.property("params").value
            let values = try Self.values(now, of: session.nodeID)
            let reported = wanted.reported(by: session.described)
            outcome.isReported = ParameterSetter.holds(reported, in: values)
            outcome.seen = ParameterSetter.others(reported, in: values, session.described)
            return outcome
        }
        try ParamsSetResult([outcome], isLocal: true).tell(context)
    }

    private static func values(_ report: [UInt8], of node: String) throws(CommandFailure) -> JSONValue {
        if let values = try? JSONValue(parsing: report) { return values }
        throw CommandFailure(
            .badData,
            message: "\(node.onOneLine) has taken the values; what it says that it has now cannot be read.")
    }

    /// What boards are to be called.
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
                    "\(Payload.subject(file)) has no values: they are a JSON object such as {\"Light\":{\"Power\":true}}."
            )
        }
        return changes
    }

    private func checked(_ given: [ParameterChange]?, at node: Node) throws(CommandFailure) -> [ParameterChange] {
        let configuration = try node.described()
        do throws(ParameterError) {
            if let given {
                return try configuration.checked(given)
            }
            return try GivenValue.changes(changes, by: configuration)
        } catch {
            throw CommandFailure(error, at: node)
        }
    }
}

/// What became of values that were to be set, board by board.
struct ParamsSetResult: CommandResult {
    let nodes: [Entry]
    /// The board was asked itself, and no cloud.
    private let isLocal: Bool
    /// Why it is not known whether boards have reported them.
    private let untold: AccountError?

    private enum CodingKeys: String, CodingKey { case nodes }

    struct Entry: Encodable, Sendable {
        let nodeID: String
        /// `reported` by the board, `sent` by the cloud, `silent` where the board was waited for in vain, `unknown` where the cloud did not
        /// tell whether it has sent them, or `failed`.
        let state: String
        /// Why not, or what the board reports instead.
        let message: String?
        let errorCode: Int?
        /// Paths whose values no board reports as they were set: that they were sent is all that is known of them.
        let notReported: [String]?
        /// There are no others.
        fileprivate let isSentOnly: Bool
        /// The cloud does not tell whether the board has them.
        fileprivate let isUntold: Bool

        private enum CodingKeys: String, CodingKey {
            case nodeID = "node_id"
            case state, message
            case errorCode = "error_code"
            case notReported = "not_reported"
        }
    }

    var text: String {
        nodes.map { entry in
            let words =
                switch entry.state {
                case "reported": "has it" + Self.besides(entry.notReported)
                case "sent" where entry.isSentOnly:
                    isLocal
                        ? "has taken it; it cannot be read back"
                        : "sent by the cloud; the board does not report it back"
                case "unknown": "whether the cloud has sent it is not known"
                case "sent" where entry.isUntold: "sent by the cloud; whether the board has it is not known"
                case "sent": "sent by the cloud; the board has not answered yet (--wait waits for that)"
                case "silent" where isLocal: "has taken it, and does not report it" + Self.instead(entry)
                case "silent": "sent by the cloud; the board has not reported it in time" + Self.instead(entry)
                default: "failed: \(entry.message?.onOneLine ?? "")"
                }
            return "\(entry.nodeID.onOneLine)  \(words)"
        }.joined(separator: "\n")
    }

    private static func besides(_ paths: [String]?) -> String {
        guard let paths else { return "" }
        return "; \(paths.prefix(5).map(\.onOneLine).joined(separator: ", ")) was sent, and cannot be read back"
    }

    private static func instead(_ entry: Entry) -> String { entry.message.map { "; it \($0.onOneLine)" } ?? "" }

    init(_ outcomes: [ParameterSetter.Outcome], isLocal: Bool = false) {
        self.isLocal = isLocal
        untold = outcomes.lazy.compactMap(\.untold).first
        nodes = outcomes.map { outcome in
            let state =
                if outcome.failure != nil { "failed" } else if outcome.isSendingUntold { "unknown" } else {
                    switch outcome.isReported {
                    case true?: "reported"
                    case false?: "silent"
                    case nil: "sent"
                    }
                }
            let unreported = outcome.unreported.map { "\($0)" }
            return Entry(
                nodeID: outcome.node.rawValue, state: state,
                message: outcome.failure ?? outcome.untold?.message ?? outcome.seen, errorCode: outcome.serverCode,
                notReported: unreported.isEmpty ? nil : unreported, isSentOnly: outcome.isSentOnly,
                isUntold: outcome.untold != nil)
        }
    }

    /// Prints it; throws where not all boards have what was wanted, so that a script notices.
    func tell(_ context: Context) throws(CommandFailure) { try tell(context.output) }

    func tell(_ output: Output) throws(CommandFailure) {
        guard var failure else { return output.result(self) }
        if !output.isJSON { output.result(self) }
        failure.result = self
        throw failure
    }

    private var failure: CommandFailure? {
        let (failed, silent) = (nodes.filter { $0.state == "failed" }, nodes.filter { $0.state == "silent" })
        let names = silent.prefix(5).map { entry in
            entry.nodeID.onOneLine + (entry.message.map { " (it \($0.onOneLine))" } ?? "")
        }.joined(separator: ", ")
        let late = silent.isEmpty ? "" : " Not reported in time by \(names)."
        guard !failed.isEmpty else {
            if let untold {
                var failure = CommandFailure(untold)
                failure.message += unknown + late
                return failure
            }
            guard !silent.isEmpty else { return nil }
            let message =
                isLocal
                ? "\(silent[0].nodeID.onOneLine) has taken the values, and does not report them\(Self.instead(silent[0]))."
                : "The cloud has sent the values, and they were not reported in time (--timeout) by \(names)."
            if nodes.count == silent.count { return CommandFailure(.deadline, message: message) }
            return CommandFailure(.batchPartial, reason: "some_silent", message: message)
        }
        let words = failed.prefix(5).map { "\($0.nodeID.onOneLine): \($0.message?.onOneLine ?? "")" }
            .joined(separator: "; ")
        return CommandFailure(
            .batchPartial, reason: failed.count == nodes.count ? "all_failed" : "some_failed",
            message: "\(failed.count) of \(nodes.count) boards were not set: \(words).\(unknown)\(late)")
    }

    /// That values are out of which the cloud does not tell whether they have come, or may be out.
    private var unknown: String {
        let untold = nodes.filter(\.isUntold)
        let (unsure, sent) = (untold.filter { $0.state == "unknown" }, untold.filter { $0.state != "unknown" })
        return Self.sentence("It is not known whether the cloud has sent the values to", unsure)
            + Self.sentence("The cloud has sent the values, and does not tell whether they were reported by", sent)
    }

    private static func sentence(_ words: String, _ entries: [Entry]) -> String {
        let names = entries.prefix(5).map(\.nodeID.onOneLine)
        guard let first = entries.first?.nodeID.asShellWord else { return "" }
        return " \(words) \(names.joined(separator: ", ")): rainctl node params get \(first) shows that."
    }
}

/// A board is no longer in the account.
struct NodeRemovedResult: CommandResult {
    let nodeID: String
    let removed = true

    private enum CodingKeys: String, CodingKey {
        case nodeID = "node_id"
        case removed
    }

    var text: String { "\(nodeID.onOneLine) is no longer in your account." }
}
