// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit

struct NodeMetadata: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metadata", abstract: "What applications keep with a board in the cloud: a JSON object.",
        subcommands: [NodeMetadataGet.self, NodeMetadataSet.self, NodeMetadataDelete.self])
}

struct NodeMetadataGet: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print a board's metadata.",
        discussion: "Example: rainctl node metadata get 'Kitchen lamp'")

    @Argument(help: .node)
    var node: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> NodeDocumentResult {
        let name = node
        let node = try await scene.time.run { try await scene.choice.node(name) }
        return NodeDocumentResult(node: node.id, member: "metadata", document: node.metadata ?? .object([]))
    }
}

struct NodeMetadataSet: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set members of a board's metadata, and keep the others.",
        discussion: """
            Example: rainctl node metadata set 'Kitchen lamp' shelf=3 owner='{"team":"lab"}'

            A value that is JSON is set as such (3, true, null, an object), anything else as text.
            """)

    @Argument(help: .node)
    var node: String

    @Argument(help: ArgumentHelp("Members and their values.", valueName: "key=value"))
    var members: [String] = []

    @Option(
        help: ArgumentHelp("Read a JSON object of members from a file; - is standard input.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        guard members.isEmpty != (file == nil) else {
            throw ValidationError("Give members as KEY=VALUE, or a --file with them.")
        }
        for member in members where (member.firstIndex(of: "=") ?? member.startIndex) == member.startIndex {
            throw ValidationError("\(member.onOneLine) is not a member: they are given as KEY=VALUE.")
        }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let changes = try given(within: scene.time.left)
        let name = node
        return try await scene.time.run {
            let node = try await scene.choice.node(name)
            try await scene.cloud.changeMetadata(changes, of: node.id)
            let names = (changes.members ?? []).map(\.name)
            return ActionResult("set: \(names.joined(separator: ", ").onOneLine)")
                .with("node_id", node.id.rawValue).with("set", names)
        }
    }

    private func given(within limit: Duration) throws(CommandFailure) -> JSONValue {
        guard let file else {
            return .object(
                members.map { member in
                    let equals = member.firstIndex(of: "=")!
                    let text = String(member[member.index(after: equals)...])
                    return .init(
                        String(member[..<equals]), (try? JSONValue(parsing: Array(text.utf8))) ?? .string(text))
                })
        }
        return try Payload.object(file: file, name: "metadata", within: limit)
    }
}

struct NodeMetadataDelete: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Take members of a board's metadata away, or all of it.",
        discussion: "Example: rainctl node metadata delete 'Kitchen lamp' shelf")

    @Argument(help: .node)
    var node: String

    @Argument(help: ArgumentHelp("Members to take away.", valueName: "key"))
    var keys: [String] = []

    @Flag(help: "Take all of it away.")
    var all = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        guard keys.isEmpty == all else { throw ValidationError("Name the members to take away, or give --all.") }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (name, keys) = (node, keys)
        return try await scene.time.run {
            let node = try await scene.choice.node(name)
            if keys.isEmpty {
                try await scene.cloud.removeMetadata(of: node.id)
            } else {
                try await scene.cloud.changeMetadata(.object(keys.map { .init($0, .null) }), of: node.id)
            }
            let gone = keys.isEmpty ? (node.metadata?.members ?? []).map(\.name) : keys
            return ActionResult(gone.isEmpty ? "there was none" : "deleted: \(gone.joined(separator: ", ").onOneLine)")
                .with("node_id", node.id.rawValue).with("deleted", gone)
        }
    }
}
