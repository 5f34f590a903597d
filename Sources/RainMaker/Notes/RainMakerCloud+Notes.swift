// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// What users and applications keep with a node in the cloud. The node itself is not told.
extension RainMakerCloud {
    /// Adds tags, `key:value` each. Throws `invalidTag` before anything is sent for one of another form.
    public func addTags(_ tags: [String], to node: NodeID) async throws(AccountError) {
        for tag in tags { try check(tag) }
        try await note(["tags": .array(tags.map { .string($0) })], node)
    }

    /// Takes tags away. One that the node does not have is no error.
    public func removeTags(_ tags: [String], from node: NodeID) async throws(AccountError) {
        for tag in tags { try check(tag) }
        try await call(
            RainMakerCall(
                .delete, "user/nodes", query: [("node_id", node.rawValue)],
                body: ["tags": .array(tags.map { .string($0) })]))
    }

    /// Changes members of a node's metadata and keeps all others, objects within it too; null takes a member away.
    ///
    /// - Parameter changes: an object.
    public func changeMetadata(_ changes: JSONValue, of node: NodeID) async throws(AccountError) {
        guard changes.members != nil else {
            throw AccountError(.invalidInput, message: "metadata is a JSON object")
        }
        try await note(["metadata": changes], node)
    }

    /// Takes all of a node's metadata away.
    public func removeMetadata(of node: NodeID) async throws(AccountError) { try await note(["metadata": .null], node) }

    private func note(_ body: JSONValue, _ node: NodeID) async throws(AccountError) {
        try await call(RainMakerCall(.put, "user/nodes", query: [("node_id", node.rawValue)], body: body))
    }

    private func check(_ tag: String) throws(AccountError) {
        let parts = tag.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
            throw AccountError(
                .invalidTag, message: "a tag has the form key:value, such as room:kitchen; this is \(presentable(tag))")
        }
    }
}
