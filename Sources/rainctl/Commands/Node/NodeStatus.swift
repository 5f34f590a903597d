// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct NodeStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Say whether a board is online, and since when.",
        discussion: "Example: rainctl node status 'Kitchen lamp'")

    @Argument(help: .node)
    var node: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let choice = NodeChoice(client: try context.rainMakerClient())
        let name = node
        let found = try await withTimeout(timeout.duration) { try await choice.node(name) }
        context.output.result(NodeStatusResult(found))
    }
}
