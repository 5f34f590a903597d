// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit
import RainMaker

struct NodeList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the boards in your account.",
        discussion: "Example: rainctl node list --json")

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let client = try context.rainMakerClient()
        let list = try await withTimeout(timeout.duration) {
            var list = NodeListResult(nodes: [])
            try await client.eachNode { list.append($0) }
            return list
        }
        context.output.result(list)
        // A note, because the result has one line for each board.
        if list.nodes.isEmpty, !options.json {
            context.output.say("note: This account has no boards yet. To set one up: rainctl provision")
        }
    }
}

/// The boards in the account.
struct NodeListResult: CommandResult {
    private(set) var nodes: [Entry]

    var text: String { nodes.map(\.line).joined(separator: "\n") }

    struct Entry: Encodable, Sendable {
        let nodeID: String
        let name: String?
        let model: String?
        let role: String?
        let connected: Bool?

        fileprivate var line: String {
            let state = connected.map { $0 ? "online" : "offline" } ?? "unknown"
            return "\(nodeID.onOneLine)  \(state)  \((name ?? "").onOneLine)"
        }
    }
}

extension NodeListResult {
    /// Adds a node. Nothing else that it has reported is kept.
    mutating func append(_ node: Node) {
        nodes.append(
            Entry(
                nodeID: node.id.rawValue, name: node.displayName, model: node.model, role: node.role,
                connected: node.connectivity?.isConnected))
    }
}
