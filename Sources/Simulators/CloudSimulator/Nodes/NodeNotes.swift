// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// What a user wants to be kept with a node that is mapped.
struct NodeNotes: Sendable {
    /// Largest metadata, as JSON, in bytes; the simulator's own bound.
    static let maximumMetadata = 32 << 10

    /// The user's place where no tags are given.
    var tags: [String]
    var metadata: JSONValue?

    init(_ body: Fields, of user: User) throws(APIError) {
        let given = try body.tags()
        tags = given.isEmpty ? user.placeTags : given
        guard body.has("metadata"), let metadata = body.value["metadata"] else { return }
        guard metadata.members != nil else { throw .invalidBody }
        guard metadata.serialized().count <= Self.maximumMetadata else { throw .invalidRequest }
        self.metadata = metadata
    }
}

extension Node {
    /// Without notes it keeps those that it has.
    mutating func take(_ notes: NodeNotes) {
        if !notes.tags.isEmpty { tags = notes.tags }
        if let metadata = notes.metadata { self.metadata = metadata }
    }
}
