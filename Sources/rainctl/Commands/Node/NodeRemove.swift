// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct NodeRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Take a board out of your account.",
        discussion: """
            Example: rainctl node remove 'Kitchen lamp'

            The board is not told: it stays on its Wi-Fi, and can be put into an account again once it was reset.
            """)

    @Argument(help: .node)
    var node: String

    @Flag(help: "Do not ask whether you mean it.")
    var yes = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let time = TimeBudget(timeout)
        let client = try context.rainMakerClient()
        let choice = NodeChoice(client: client)
        let name = node
        let found = try await time.run { try await choice.node(name) }
        try time.asking { () throws(CommandFailure) in try confirm(found, context) }
        let cloud = try client.rainMakerNodes()
        try await time.run { try await cloud.removeMapping(node: found.id) }
        context.output.result(NodeRemovedResult(nodeID: found.id.rawValue))
    }

    private func confirm(_ found: Node, _ context: Context) throws(CommandFailure) {
        if yes { return }
        let words = [found.displayName, found.id.rawValue].compactMap { $0?.onOneLine }.joined(separator: ", ")
        guard context.mayAsk else {
            throw CommandFailure(
                .usage, reason: "missing_confirmation",
                message: "This takes the board \(words) out of your account: add --yes if you mean it.")
        }
        guard let answer = Terminal.ask("Take \(words) out of your account? Type yes: "), answer.lowercased() == "yes"
        else { throw CommandFailure(.cancelled, message: "Cancelled: nothing was removed.") }
    }
}
