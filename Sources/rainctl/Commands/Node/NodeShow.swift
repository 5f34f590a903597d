// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainMaker

struct NodeShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "show", abstract: "Show boards: whether they are online, their devices and their values.",
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

extension NodeShowResult: CommandResult {}

extension NodeShowListResult: CommandResult {
    var text: String { nodes.map(\.text).joined(separator: "\n\n") }
}

extension NodeStatusResult: CommandResult {}

extension ArgumentHelp {
    static var node: ArgumentHelp { "The board: its node id or its name." }
    static var nodes: ArgumentHelp { "One or more boards, by node id or name, separated by commas." }
}

struct NodeStatus: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
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

struct NodeConfig: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
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
