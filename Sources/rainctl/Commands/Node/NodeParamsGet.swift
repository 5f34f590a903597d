// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit

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
