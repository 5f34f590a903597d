// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainMaker

struct NodeMetadata: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metadata",
        abstract: "Read and change a board's metadata: a JSON object that the cloud stores for applications.",
        subcommands: [NodeMetadataGet.self, NodeMetadataSet.self, NodeMetadataDelete.self])
}

struct NodeMetadataGet: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "get", abstract: "Print a board's metadata.",
        discussion: "Example: rainctl node metadata get 'Kitchen lamp'")

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> NodeDocumentResult {
        let name = node
        let node = try await scene.time.run { try await scene.client.node(named: name) }
        return NodeDocumentResult(node: node.id, member: "metadata", document: node.metadata ?? .object([]))
    }
}

struct NodeMetadataSet: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "set", abstract: "Set members of a board's metadata, and keep the other members.",
        discussion: """
            Example: rainctl node metadata set 'Kitchen lamp' shelf=3
                     rainctl node metadata set 'Kitchen lamp' owner='{"team":"lab"}'

            rainctl stores a value that is valid JSON as JSON, such as 3, true or an object. rainctl stores any other value as text. The \
            value null deletes the member.
            """)

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Argument(help: ArgumentHelp("The members to set.", valueName: "key=value"))
    var members: [String] = []

    @Option(
        help: ArgumentHelp("Read a JSON object of members from a file (- for standard input).", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        guard members.isEmpty != (file == nil) else {
            throw ValidationError(
                file == nil
                    ? "Give members as KEY=VALUE, or with --file."
                    : "Give KEY=VALUE or --file, but not both.")
        }
        var seen: Set<Substring> = []
        for member in members {
            guard let equals = member.firstIndex(of: "="), equals != member.startIndex else {
                throw ValidationError(
                    "\(member.onOneLine) is not a member of metadata: write each member as KEY=VALUE.")
            }
            guard seen.insert(member[..<equals]).inserted else {
                throw ValidationError("\(String(member[..<equals]).onOneLine) is given twice.")
            }
        }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let changes = try given(within: scene.time.left)
        let name = node
        return try await scene.time.run {
            let node = try await scene.client.node(named: name)
            let (nulls, values) = (
                (changes.members ?? []).filter(\.value.isNull).map(\.name),
                (changes.members ?? []).filter { !$0.value.isNull }.map(\.name)
            )
            try await scene.client.changeMetadata(changes, of: node)
            let words = [("Set", values), ("Deleted", nulls)].filter { !$0.1.isEmpty }
                .map { "\($0) \($1.joined(separator: ", ")) of the metadata of \(node.shownName)".onOneLine }
            return ActionResult(words.joined(separator: "\n"))
                .with("node_id", node.id.rawValue).with("set", values).with("deleted", nulls)
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
        let object = try Payload.object(file: file, name: "metadata", reason: "bad_metadata", within: limit)
        guard object.members?.isEmpty == false else {
            throw CommandFailure(
                .badData, reason: "bad_metadata", message: "The metadata has no members: there is nothing to set.")
        }
        return object
    }
}

struct NodeMetadataDelete: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "delete", abstract: "Delete some or all members of a board's metadata.",
        discussion: "Example: rainctl node metadata delete 'Kitchen lamp' shelf")

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Argument(help: ArgumentHelp("The members to delete.", valueName: "key"))
    var keys: [String] = []

    @Flag(help: "Delete all members.")
    var all = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        guard keys.isEmpty == all else { throw ValidationError("Name the members to delete, or give --all.") }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (name, keys) = (node, keys)
        return try await scene.time.run {
            let node = try await scene.client.node(named: name)
            if keys.isEmpty {
                try await scene.cloud.removeMetadata(of: node.id)
            } else {
                try await scene.client.changeMetadata(.object(keys.map { .init($0, .null) }), of: node)
            }
            let gone = keys.isEmpty ? (node.metadata?.members ?? []).map(\.name) : keys
            let words =
                gone.isEmpty
                ? "\(node.shownName) has no metadata"
                : "Deleted \(gone.joined(separator: ", ")) of the metadata of \(node.shownName)"
            return ActionResult(words.onOneLine, isChange: !gone.isEmpty)
                .with("node_id", node.id.rawValue).with("deleted", gone)
        }
    }
}
