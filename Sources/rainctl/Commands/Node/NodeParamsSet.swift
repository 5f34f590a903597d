// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit

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
