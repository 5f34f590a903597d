// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct NodeShow: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a board: whether it is online, its devices and their values.",
        discussion: "Example: rainctl node show 'Kitchen lamp'")

    @Argument(help: .node)
    var node: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> NodeShowResult {
        let name = node
        return NodeShowResult(try await scene.time.run { try await scene.choice.node(name) })
    }
}

extension ArgumentHelp {
    static var node: ArgumentHelp { "The board: its node id, or the name that you gave it." }
}
