// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import RainMaker

/// Tags and metadata: what the cloud keeps for a node, and the node does not know.
extension RainKitClient {
    /// Adds tags to a node.
    ///
    /// - Parameter tags: such as `room:kitchen`.
    /// - Returns: the tags that were added, and those that the node had already.
    /// - Throws: `RainKitError`: `invalid_tag`; the cloud's refusals.
    @discardableResult
    public func addTags(_ tags: [String], to node: Node) async throws -> (added: [String], already: [String]) {
        var (added, already): ([String], [String]) = ([], [])
        for tag in tags where !added.contains(tag) && !already.contains(tag) {
            if node.tags.contains(tag) { already.append(tag) } else { added.append(tag) }
        }
        if !added.isEmpty {
            try await asking { cloud throws(AccountError) in try await cloud.addTags(added, to: node.id) }
        }
        return (added, already)
    }

    /// Removes tags from a node.
    ///
    /// - Returns: the tags that are left.
    /// - Throws: `RainKitError`: `no_such_tag`, and then no tag is removed; `invalid_tag`; the cloud's refusals.
    @discardableResult
    public func removeTags(_ tags: [String], from node: Node) async throws -> [String] {
        let absent = tags.filter { !node.tags.contains($0) }
        // A text without a colon is not a tag, and is refused as such.
        if !absent.isEmpty, absent.allSatisfy({ $0.contains(":") }) {
            throw RainKitError(
                .request(.badData, reason: "no_such_tag"),
                message: """
                    \(node.shownName) has no tag \(absent.joined(separator: ", ").onOneLine); it has \
                    \(node.tags.isEmpty ? "none" : node.tags.joined(separator: ", ").onOneLine). Nothing was changed.
                    """)
        }
        try await asking { cloud throws(AccountError) in try await cloud.removeTags(tags, from: node.id) }
        return node.tags.filter { !tags.contains($0) }
    }

    /// Changes members of a node's metadata, and keeps the others.
    ///
    /// - Parameter changes: an object. A member that is null is removed.
    /// - Throws: `RainKitError`: `no_such_key` for a member to remove that does not exist, and then nothing is changed; the cloud's refusals.
    public func changeMetadata(_ changes: JSONValue, of node: Node) async throws {
        // The cloud sets nothing if a member to remove does not exist.
        let absent = (changes.members ?? []).filter { $0.value.isNull && node.metadata?[$0.name] == nil }.map(\.name)
        guard absent.isEmpty else {
            let known = (node.metadata?.members ?? []).prefix(20).map(\.name).joined(separator: ", ").onOneLine
            throw RainKitError(
                .request(.badData, reason: "no_such_key"),
                message: """
                    The metadata of \(node.shownName) has no \(absent.joined(separator: ", ").onOneLine); it has \
                    \(known.isEmpty ? "no members" : known). Nothing was changed.
                    """)
        }
        try await asking { cloud throws(AccountError) in try await cloud.changeMetadata(changes, of: node.id) }
    }
}
