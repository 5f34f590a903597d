// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct NodeConfig: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Print all that a board has said of itself, as JSON.",
        discussion: "Example: rainctl node config 'Kitchen lamp'")

    @Argument(help: .node)
    var node: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let client = try context.rainMakerClient()
        let choice = NodeChoice(client: client)
        let name = node
        let (id, config) = try await withTimeout(timeout.duration) {
            let node = try await choice.node(name)
            return (node.id, try await client.rainMakerNodes().nodeConfiguration(node.id))
        }
        context.output.result(NodeDocumentResult(node: id, member: "config", document: config))
    }
}
