import Vocabulary

/// Pending mappings in one private file, for the processes of one user. One that cannot be read is an error, and is left as it is:
/// what is in it cannot be had in another way.
public struct FilePendingMappings: PendingMappingStore {
    private let file: RecordFile<StoredMapping>

    public init(path: String) {
        // More than anyone leaves unfinished.
        file = RecordFile(path: path, identity: \.node, maximumEntries: 1000, whenUnreadable: .error)
    }

    public func all() throws(RecordStoreError) -> [PendingMapping] { try file.all().compactMap(\.mapping) }
    public func save(_ mapping: PendingMapping) throws(RecordStoreError) { try file.save(StoredMapping(mapping)) }
    public func remove(node: NodeID) throws(RecordStoreError) { try file.remove(node.rawValue) }
}

/// A pending mapping as it lies in the file.
private struct StoredMapping: Codable {
    var node: String
    var user: String
    var stage: String
    var peer: String
    var secret: String?
    var signature: [UInt8]?
    var request: String?

    init(_ mapping: PendingMapping) {
        node = mapping.node.rawValue
        user = mapping.user.rawValue
        stage = mapping.stage.rawValue
        peer = mapping.peer
        switch mapping.proof {
        case .secret(let secret, let request):
            self.secret = secret.secret.revealString()
            self.request = request?.rawValue
        case .signature(let signature, let request):
            self.signature = signature
            self.request = request.rawValue
        }
    }

    /// Nil for what a later version wrote and this one does not know; it stays in the file.
    var mapping: PendingMapping? {
        guard let stage = PendingMapping.Stage(rawValue: stage) else { return nil }
        let proof: PendingMapping.Proof
        if let secret {
            proof = .secret(MappingSecret(Secret(secret)), request: request.map { RequestID($0) })
        } else if let signature, let request {
            proof = .signature(signature, request: RequestID(request))
        } else {
            return nil
        }
        return PendingMapping(node: NodeID(node), user: UserID(user), proof: proof, stage: stage, peer: peer)
    }
}
