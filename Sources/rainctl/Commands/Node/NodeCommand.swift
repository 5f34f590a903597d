// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit

struct NodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "node", abstract: "The boards in your account: see them, switch them, rename and remove them.",
        subcommands: [
            NodeList.self, NodeShow.self, NodeStatus.self, NodeConfig.self, NodeParams.self, NodeRename.self,
            NodeRemove.self, NodeTags.self, NodeMetadata.self, NodeSchedule.self, NodeScene.self,
            Shares<SharedNodes>.self, NodeCommands.self, NodeOTA.self, NodeWatch.self,
        ])
}

struct NodeRemove: CloudCommand {
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

    func result(_ scene: CloudScene) async throws -> NodeRemovedResult {
        let name = node
        let found = try await scene.time.run { try await scene.choice.node(name) }
        if !yes {
            let words = [found.displayName, found.id.rawValue].compactMap { $0?.onOneLine }.joined(separator: ", ")
            try scene.confirm(
                "Take \(words) out of your account?", otherwise: "This takes the board \(words) out of your account")
        }
        try await scene.time.run { try await scene.cloud.removeMapping(node: found.id) }
        return NodeRemovedResult(nodeID: found.id.rawValue)
    }
}

/// What the cloud keeps of a board, as it is.
struct NodeDocumentResult: CommandResult {
    private var values = LabelledValues()

    var text: String { values.text }
    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    init(node: NodeID, member: String, document: JSONValue) {
        values.add(memberOnly: "node_id", node.rawValue)
        values.add(member, document, line: document.readable)
    }
}
