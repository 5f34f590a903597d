// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainMaker

struct NodeShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show boards: whether they are online, their devices and the values.",
        discussion: "Example: rainctl node show 'Kitchen lamp'")

    @Argument(help: .nodes, completion: .nodes)
    var node: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let client = try context.rainMakerClient()
        let names = node
        let nodes = try await withTimeout(timeout.duration) { try await client.nodes(listed: names) }
        if nodes.count == 1 { return context.output.result(NodeShowResult(nodes[0])) }
        context.output.result(NodeShowListResult(nodes: nodes.map { NodeShowResult($0) }))
    }
}

/// Several boards, as `node show` shows one.
struct NodeShowListResult: CommandResult {
    let nodes: [NodeShowResult]

    var text: String { nodes.map(\.text).joined(separator: "\n\n") }
}

extension ArgumentHelp {
    static var node: ArgumentHelp { "The board: its node id or its name." }
    static var nodes: ArgumentHelp { "The board or boards, NODE[,NODE…]: node ids or names." }
}

struct NodeStatus: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show whether a board is online, and since when.",
        discussion: "Example: rainctl node status 'Kitchen lamp'")

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> NodeStatusResult {
        let name = node
        return NodeStatusResult(try await scene.time.run { try await scene.client.node(named: name) })
    }
}

/// One board: its description, whether it is online, and the values of its devices.
struct NodeShowResult: CommandResult {
    private var values = LabelledValues()

    var text: String { values.text }
    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    init(_ node: Node, now: UnixTime = SystemWallClock().now) {
        values.add("node_id", node.id.rawValue)
        values.add("name", node.displayName)
        values.add("type", node.type)
        values.add("model", node.model)
        values.add("firmware_version", label: "firmware", node.firmwareVersion)
        values.add("role", node.role)
        values.add(node.connectivity, now: now)
        values.add("tags", node.tags)
        if let metadata = node.metadata { values.add(memberOnly: "metadata", metadata) }
        values.add(memberOnly: "params", node.secretParameters.masked(in: node.parameters ?? .object([])))
        for component in NodeConfiguration(node.configuration)?.components ?? [] where !component.isService {
            values.add(line: "\(component.name)\(component.type.map { " (\($0))" } ?? "")".onOneLine)
            for parameter in component.parameters {
                let value = node.parameters?[component.name]?[parameter.name]?.shown ?? "not reported yet"
                let note = parameter.isWritable ? "" : "  (read only)"
                values.add(line: "  \(component.name).\(parameter.name): \(value)\(note)".withoutControls)
            }
        }
    }
}

/// Whether a board is online.
struct NodeStatusResult: CommandResult {
    private var values = LabelledValues()

    var text: String { values.text }
    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    init(_ node: Node, now: UnixTime = SystemWallClock().now) {
        values.add(memberOnly: "node_id", node.id.rawValue)
        values.add(node.connectivity, now: now)
    }
}

extension LabelledValues {
    mutating func add(_ connectivity: Node.Connectivity?, now: UnixTime) {
        guard let connectivity else { return add(line: "online: unknown") }
        let since = connectivity.since.flatMap { $0.seconds > 0 ? $0 : nil }
        let state = connectivity.isConnected ? "online" : "offline"
        let time = since.map { PlainTime.span(from: $0, to: now).map { "\(state) for \($0)" } ?? state }
        add("connected", connectivity.isConnected, line: time ?? "\(state), never seen")
        if let since { add(memberOnly: "since", Timestamp.text(since)) }
    }
}

struct NodeConfig: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Print a board's node configuration as JSON.",
        discussion: "Example: rainctl node config 'Kitchen lamp'")

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> NodeDocumentResult {
        let name = node
        let (id, config) = try await scene.time.run {
            let node = try await scene.client.node(named: name)
            return (node.id, try await scene.cloud.nodeConfiguration(node.id))
        }
        return NodeDocumentResult(node: id, member: "config", document: config)
    }
}
