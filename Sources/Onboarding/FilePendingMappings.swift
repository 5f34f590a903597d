import JSON
import PrivateFiles
import Vocabulary

/// Pending mappings in one private file, for the processes of one user.
///
/// Each change reads, changes and replaces the whole file while it holds its lock, so that processes do not lose each other's.
public struct FilePendingMappings: PendingMappingStore {
    private let file: PrivateFile

    public init(path: String) { file = PrivateFile(path: path) }

    /// More than anyone leaves unfinished.
    private static let maximumEntries = 1000

    public func all() throws(PendingMappingError) -> [PendingMapping] {
        do {
            return try decoded(try file.read())
        } catch {
            throw failure(error)
        }
    }

    public func save(_ mapping: PendingMapping) throws(PendingMappingError) {
        try change { mappings in
            mappings.removeAll { $0.node == mapping.node }
            mappings.append(mapping)
            mappings = mappings.suffix(Self.maximumEntries)
        }
    }

    public func remove(node: NodeID) throws(PendingMappingError) {
        // Nothing is made where nothing is pending.
        guard try all().contains(where: { $0.node == node }) else { return }
        try change { mappings in mappings.removeAll { $0.node == node } }
    }

    private func change(_ body: (inout [PendingMapping]) -> Void) throws(PendingMappingError) {
        do {
            try file.update { bytes in
                var mappings = try decoded(bytes)
                body(&mappings)
                return (mappings.isEmpty ? nil : try JSONCoder.encode(mappings.map { StoredMapping($0) }), ())
            }
        } catch {
            throw failure(error)
        }
    }

    private func decoded(_ bytes: [UInt8]?) throws -> [PendingMapping] {
        guard let bytes else { return [] }
        do {
            return try JSONCoder.decode([StoredMapping].self, from: bytes).compactMap(\.mapping)
        } catch {
            throw PendingMappingError(path: file.path, message: "it cannot be read (\(error)); remove it to go on")
        }
    }

    private func failure(_ error: any Error) -> PendingMappingError {
        (error as? PendingMappingError) ?? PendingMappingError(path: file.path, message: "\(error)")
    }
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

    /// Nil for what a later version wrote and this one does not know.
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
