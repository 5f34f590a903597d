// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit

struct NodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "node", abstract: "Show, control, rename and remove the boards in your account.",
        subcommands: [
            NodeList.self, NodeShow.self, NodeStatus.self, NodeConfig.self, NodeParams.self, NodeRename.self,
            NodeRemove.self, NodeTags.self, NodeMetadata.self, NodeSchedule.self, NodeScene.self,
            Shares<SharedNodes>.self, NodeCommands.self, NodeOTA.self, NodeUpdate.self, NodeWatch.self,
            NodeHistory.self,
        ])

    /// Returns a command of ``configuration`` by its name.
    static func command(_ name: String) -> (any ParsableCommand.Type)? {
        switch name {
        case "list": NodeList.self
        case "show": NodeShow.self
        case "status": NodeStatus.self
        case "config": NodeConfig.self
        case "params": NodeParams.self
        case "rename": NodeRename.self
        case "remove": NodeRemove.self
        case "tags": NodeTags.self
        case "metadata": NodeMetadata.self
        case "schedule": NodeSchedule.self
        case "scene": NodeScene.self
        case "share": Shares<SharedNodes>.self
        case "command": NodeCommands.self
        case "ota": NodeOTA.self
        case "update": NodeUpdate.self
        case "watch": NodeWatch.self
        case "history": NodeHistory.self
        default: nil
        }
    }
}

struct NodeRemove: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "remove", abstract: "Remove a board from your account.",
        discussion: """
            Example: rainctl node remove 'Kitchen lamp'

            The cloud does not tell the board that it was removed. The board stays on its Wi-Fi network. Reset the board before you put it \
            into an account again.
            """)

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> NodeRemovedResult {
        let name = node
        let found = try await scene.time.run { try await scene.client.node(named: name) }
        if !yes {
            let id = found.id.rawValue.onOneLine
            let words = found.displayName.map { "\($0.onOneLine) (\(id))" } ?? id
            try scene.confirm(
                "Remove \(words) from your account?", otherwise: "This removes the board \(words) from your account")
        }
        try await scene.time.run { try await scene.cloud.removeMapping(node: found.id) }
        return NodeRemovedResult(nodeID: found.id.rawValue, name: found.shownName)
    }
}

/// Shows a document that the cloud keeps about a board, unchanged.
struct NodeDocumentResult: CommandResult {
    private var values = LabelledValues()

    var text: String { values.text }
    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    init(node: NodeID, member: String, document: JSONValue) {
        values.add(memberOnly: "node_id", node.rawValue)
        values.add(member, document, line: document.readable)
    }
}
