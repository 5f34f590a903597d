// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct NodeTags: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tags", abstract: "Add and remove a board's tags in the cloud, such as room:kitchen.",
        subcommands: [NodeTagsAdd.self, NodeTagsRemove.self])

    /// Whether a text has the form `key:value`.
    static func isTag(_ text: some StringProtocol) -> Bool {
        text.firstIndex(of: ":").map { $0 != text.startIndex && text.index(after: $0) != text.endIndex } ?? false
    }
}

struct NodeTagsAdd: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "add", abstract: "Add tags to a board.",
        discussion: "Example: rainctl node tags add 'Kitchen lamp' room:kitchen floor:0")

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Argument(help: ArgumentHelp("The tags, each as key:value.", valueName: "tag"))
    var tags: [String]

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (name, tags) = (node, tags)
        return try await scene.time.run {
            let node = try await scene.client.node(named: name)
            let (added, already) = try await scene.client.addTags(tags.flatMap { Tags.divided($0) }, to: node)
            let all = node.tags + added
            let words = [
                added.isEmpty ? nil : "Added \(added.joined(separator: ", ")) to the tags of \(node.shownName)",
                already.isEmpty ? nil : "Already there: \(already.joined(separator: ", "))",
            ]
            return ActionResult(words.compactMap { $0?.onOneLine }.joined(separator: "\n"), isChange: !added.isEmpty)
                .with("node_id", node.id.rawValue).with("tags", all).with("added", added).with("already", already)
        }
    }
}

struct NodeTagsRemove: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "remove", abstract: "Remove tags from a board.",
        discussion: "Example: rainctl node tags remove 'Kitchen lamp' floor:0")

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Argument(help: ArgumentHelp("The tags, each as key:value.", valueName: "tag"))
    var tags: [String]

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (name, given) = (node, tags)
        return try await scene.time.run {
            let node = try await scene.client.node(named: name)
            // The cloud may have a tag with a comma.
            let tags = given.flatMap { node.tags.contains($0) ? [$0] : Tags.divided($0) }
            let left = try await scene.client.removeTags(tags, from: node)
            let rest = left.isEmpty ? "no tags are left" : "remaining tags: \(left.joined(separator: ", "))"
            return ActionResult(
                "Removed \(tags.joined(separator: ", ")) from the tags of \(node.shownName); \(rest)".onOneLine
            )
            .with("node_id", node.id.rawValue).with("tags", left)
        }
    }
}

private enum Tags {
    /// Splits `a:b,c:d` into two tags, as `provision --tags` does. A comma within a value (`a:b,c`) splits nothing.
    static func divided(_ text: String) -> [String] {
        let parts = text.split(separator: ",").map(String.init)
        let areTags = parts.allSatisfy { NodeTags.isTag($0) }
        return areTags && !parts.isEmpty ? parts : [text]
    }
}
