// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// Tags and metadata that users keep with a node.
extension CloudAPI {
    /// The most tags that one node may have; the simulator's own bound.
    static let maximumNodeTags = 64

    /// `PUT user/nodes?node_id=`: tags are added. Metadata is merged member by member: null takes a member away, and null in place of the
    /// object all of it.
    func noteNode(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let node = try ownNode(try call.nodeID(), of: user)
        let body = try call.body()
        let tags = try body.tags()
        let metadata = body.value["metadata"]
        if let metadata { guard metadata.isNull || metadata.members != nil else { throw .invalidBody } }
        if let access = try body.string("grant_admin_access") {
            guard ["READ", "WRITE", "NONE"].contains(access) else { throw .invalidBody }
        } else if tags.isEmpty, metadata == nil {
            throw .invalidBody
        }
        let refusal = try change { state -> APIError? in
            guard var node = state.nodes[node.id] else { return .nodesMissing }
            node.tags += tags.filter { !node.tags.contains($0) }
            guard node.tags.count <= Self.maximumNodeTags else { return .invalidRequest }
            if let metadata {
                let merged = (node.metadata ?? .object([])).merged(with: metadata)
                guard merged.serialized().count <= NodeNotes.maximumMetadata else { return .invalidRequest }
                // `nil` alone would be JSON's null.
                node.metadata = metadata.isNull ? Optional.none : merged
            }
            state.nodes[node.id] = node
            return nil
        }
        if let refusal { throw refusal }
        return success("Node updated successfully")
    }

    /// `DELETE user/nodes?node_id=` with `{"tags":[…]}`: takes these away; one that the node does not have is no error.
    func removeNodeTags(_ call: Call) throws(APIError) -> Response {
        let node = try ownNode(try call.nodeID(), of: try call.caller())
        let tags = try call.body().tags()
        guard !tags.isEmpty else { throw .invalidBody }
        try change { $0.nodes[node.id]?.tags.removeAll { tags.contains($0) } }
        return success("Tags removed successfully")
    }
}
