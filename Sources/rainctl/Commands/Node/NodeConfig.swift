// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct NodeConfig: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Print all that a board has said of itself, as JSON.",
        discussion: "Example: rainctl node config 'Kitchen lamp'")

    @Argument(help: .node)
    var node: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> NodeDocumentResult {
        let name = node
        let (id, config) = try await scene.time.run {
            let node = try await scene.choice.node(name)
            return (node.id, try await scene.cloud.nodeConfiguration(node.id))
        }
        return NodeDocumentResult(node: id, member: "config", document: config)
    }
}
