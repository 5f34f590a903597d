// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// A board with a certificate of this cloud.
struct Node: Codable, Sendable, Equatable {
    enum KeyKind: String, Codable, Sendable { case p256, rsa }

    var id: String
    var keyKind: KeyKind
    /// The node's certificate, PEM. Its key verifies challenges.
    var certificate: String
    /// The configuration that the node last published.
    var config: JSONValue?
    /// The values of its parameters, as last published.
    var params: JSONValue?
    var tags: [String] = []
    /// Data that applications store with the node; an object.
    var metadata: JSONValue?
    var connectivity = Connectivity()

    struct Connectivity: Codable, Sendable, Equatable {
        var isConnected = false
        /// The last change in milliseconds since 1970; 0 if the node was never seen.
        var changedAt: Int64 = 0

        var json: JSONValue { ["connectivity": ["connected": .bool(isConnected), "timestamp": .integer(changedAt)]] }
    }

    /// Merges the values of `update`, device by device and parameter by parameter.
    mutating func merge(params update: JSONValue) {
        guard let devices = update.members else { return }
        var all = params?.members ?? []
        for device in devices {
            guard let index = all.firstIndex(where: { $0.name == device.name }),
                var values = all[index].value.members, let changes = device.value.members
            else {
                all.removeAll { $0.name == device.name }
                all.append(device)
                continue
            }
            for change in changes {
                values.removeAll { $0.name == change.name }
                values.append(change)
            }
            all[index].value = .object(values)
        }
        params = .object(all)
    }
}

/// A node of `--node`: its id, and the kind of its key.
public struct NodeSpecification: Sendable, Equatable {
    var id: String
    var keyKind: Node.KeyKind

    /// Reads `ID` or `ID:rsa`. An id becomes a certificate's name, a topic level and a file name.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 1 || parts.count == 2 && (parts[1] == "rsa" || parts[1] == "p256") else { return nil }
        id = String(parts[0])
        keyKind = parts.count == 2 && parts[1] == "rsa" ? .rsa : .p256
        let allowed = id.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard allowed, (1...64).contains(id.utf8.count) else { return nil }
    }
}

extension Node {
    /// Whether the node's registered key signed this text: ECDSA in DER, or RSASSA-PSS, both with SHA-256.
    func signed(_ text: String, _ signature: [UInt8]) -> Bool {
        guard let key = try? PublicKey(pem: Array(certificate.utf8)) else { return false }
        return key.isValid(signature, for: Array(text.utf8), algorithm: keyKind == .rsa ? .rsaPSS : .ecdsa)
    }
}

/// The data that a user stores with a mapped node.
struct NodeNotes: Sendable {
    /// The maximum size of the metadata as JSON, in bytes; a limit of the simulator.
    static let maximumMetadata = 32 << 10

    /// The tags; the user's place if there are none.
    var tags: [String]
    fileprivate var metadata: JSONValue?

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
    /// Stores the notes. Without notes the node keeps its present ones.
    mutating func take(_ notes: NodeNotes) {
        if !notes.tags.isEmpty { tags = notes.tags }
        if let metadata = notes.metadata { self.metadata = metadata }
    }
}

/// Tags and metadata that users store with a node.
extension CloudAPI {
    /// The maximum number of tags of one node; a limit of the simulator.
    private static let maximumNodeTags = 64

    /// `PUT user/nodes?node_id=`: adds tags. Metadata is merged member by member: null removes a member, and null instead of the object
    /// removes all of it.
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

    /// `DELETE user/nodes?node_id=` with `{"tags":[…]}`: removes these tags. It is not an error if the node does not have one.
    func removeNodeTags(_ call: Call) throws(APIError) -> Response {
        let node = try ownNode(try call.nodeID(), of: try call.caller())
        let tags = try call.body().tags()
        guard !tags.isEmpty else { throw .invalidBody }
        try change { $0.nodes[node.id]?.tags.removeAll { tags.contains($0) } }
        return success("Tags removed successfully")
    }
}
