// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct NodeShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a board: whether it is online, its devices and their values.",
        discussion: "Example: rainctl node show 'Kitchen lamp'")

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
        context.output.result(NodeShowResult(found))
    }
}

extension ArgumentHelp {
    static var node: ArgumentHelp { "The board: its node id, or the name that you gave it." }
}
