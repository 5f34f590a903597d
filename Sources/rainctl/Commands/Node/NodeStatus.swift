// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct NodeStatus: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Say whether a board is online, and since when.",
        discussion: "Example: rainctl node status 'Kitchen lamp'")

    @Argument(help: .node)
    var node: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> NodeStatusResult {
        let name = node
        return NodeStatusResult(try await scene.time.run { try await scene.choice.node(name) })
    }
}
