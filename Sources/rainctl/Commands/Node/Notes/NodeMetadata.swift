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

            A value that is JSON is set as such (3, true, an object), anything else as text. null takes the member away.
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
        var seen: Set<Substring> = []
        for member in members {
            guard let equals = member.firstIndex(of: "="), equals != member.startIndex else {
                throw ValidationError("\(member.onOneLine) is not a member: they are given as KEY=VALUE.")
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
            let node = try await scene.choice.node(name)
            let (nulls, values) = (
                (changes.members ?? []).filter(\.value.isNull).map(\.name),
                (changes.members ?? []).filter { !$0.value.isNull }.map(\.name)
            )
            // Null takes a member away, and where there is none the rest is not set either.
            let absent = nulls.filter { node.metadata?[$0] == nil }
            guard absent.isEmpty else { throw node.lacks(absent) }
            try await scene.cloud.changeMetadata(changes, of: node.id)
            let words = [("set", values), ("deleted", nulls)].filter { !$0.1.isEmpty }
                .map { "\($0): \($1.joined(separator: ", "))".onOneLine }
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
                let absent = keys.filter { node.metadata?[$0] == nil }
                guard absent.isEmpty else { throw node.lacks(absent) }
                try await scene.cloud.changeMetadata(.object(keys.map { .init($0, .null) }), of: node.id)
            }
            let gone = keys.isEmpty ? (node.metadata?.members ?? []).map(\.name) : keys
            return ActionResult(gone.isEmpty ? "there was none" : "deleted: \(gone.joined(separator: ", ").onOneLine)")
                .with("node_id", node.id.rawValue).with("deleted", gone)
        }
    }
}

extension Node {
    /// What is to be taken away is not in its metadata.
    fileprivate func lacks(_ keys: [String]) -> CommandFailure {
        let known = (metadata?.members ?? []).prefix(20).map(\.name).joined(separator: ", ").onOneLine
        return CommandFailure(
            .badData, reason: "no_such_key",
            message: """
                The metadata of \(shownName) has no \(keys.joined(separator: ", ").onOneLine); it has \
                \(known.isEmpty ? "no members" : known). Nothing was changed.
                """)
    }
}
