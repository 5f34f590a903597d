// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct NodeTags: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tags", abstract: "Tags of a board, such as room:kitchen, which the cloud keeps.",
        subcommands: [NodeTagsAdd.self, NodeTagsRemove.self])
}

struct NodeTagsAdd: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add tags to a board.",
        discussion: "Example: rainctl node tags add 'Kitchen lamp' room:kitchen floor:0")

    @Argument(help: .node)
    var node: String

    @Argument(help: ArgumentHelp("Tags, key:value each.", valueName: "tag"))
    var tags: [String]

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (name, tags) = (node, tags)
        return try await scene.time.run {
            let node = try await scene.choice.node(name)
            var (added, already): ([String], [String]) = ([], [])
            for tag in tags.flatMap({ Tags.divided($0) }) where !added.contains(tag) && !already.contains(tag) {
                if node.tags.contains(tag) { already.append(tag) } else { added.append(tag) }
            }
            if !added.isEmpty { try await scene.cloud.addTags(added, to: node.id) }
            let all = node.tags + added
            let words = already.isEmpty ? "" : "\nthere already: \(already.joined(separator: ", ").onOneLine)"
            return ActionResult("tags: \(all.joined(separator: ", ").onOneLine)\(words)")
                .with("node_id", node.id.rawValue).with("tags", all).with("added", added).with("already", already)
        }
    }
}

struct NodeTagsRemove: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Take tags away from a board.",
        discussion: "Example: rainctl node tags remove 'Kitchen lamp' floor:0")

    @Argument(help: .node)
    var node: String

    @Argument(help: ArgumentHelp("Tags, key:value each.", valueName: "tag"))
    var tags: [String]

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (name, given) = (node, tags)
        return try await scene.time.run {
            let node = try await scene.choice.node(name)
            // The cloud may have one with a comma.
            let tags = given.flatMap { node.tags.contains($0) ? [$0] : Tags.divided($0) }
            let absent = tags.filter { !node.tags.contains($0) }
            // What is no tag at all is refused as such.
            if !absent.isEmpty, absent.allSatisfy({ $0.contains(":") }) {
                throw CommandFailure(
                    .badData, reason: "no_such_tag",
                    message: """
                        \(node.shownName) has no tag \(absent.joined(separator: ", ").onOneLine); it has \
                        \(node.tags.isEmpty ? "none" : node.tags.joined(separator: ", ").onOneLine). Nothing was changed.
                        """)
            }
            try await scene.cloud.removeTags(tags, from: node.id)
            let left = node.tags.filter { !tags.contains($0) }
            return ActionResult(left.isEmpty ? "no tags left" : "tags: \(left.joined(separator: ", ").onOneLine)")
                .with("node_id", node.id.rawValue).with("tags", left)
        }
    }
}

private enum Tags {
    /// `a:b,c:d` is two, as for `provision --tags`; a comma within a value, `a:b,c`, divides nothing.
    static func divided(_ text: String) -> [String] {
        let parts = text.split(separator: ",").map(String.init)
        let areTags = parts.allSatisfy { part in
            part.firstIndex(of: ":").map { $0 != part.startIndex && part.index(after: $0) != part.endIndex } ?? false
        }
        return areTags && !parts.isEmpty ? parts : [text]
    }
}
