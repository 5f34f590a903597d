import JSON
import PrivateFiles
import Vocabulary

/// Pending mappings in one private file, for the processes of one user.
///
/// Each change reads, changes and replaces the whole file. Two processes that change it in the same instant may lose one of the
/// two entries, which costs the loser a second visit to its board and nothing else.
public struct FilePendingMappings: PendingMappingStore {
    private let file: PrivateFile

    public init(path: String) { file = PrivateFile(path: path) }

    /// More than anyone leaves unfinished.
    private static let maximumEntries = 1000

    public func all() throws(PendingMappingError) -> [PendingMapping] {
        let bytes: [UInt8]?
        do {
            bytes = try file.read()
        } catch {
            throw PendingMappingError(path: file.path, message: "\(error)")
        }
        guard let bytes else { return [] }
        let stored: [StoredMapping]
        do {
            stored = try JSONCoder.decode([StoredMapping].self, from: bytes)
        } catch {
            throw PendingMappingError(path: file.path, message: "it cannot be read (\(error)); remove it to go on")
        }
        return stored.compactMap(\.mapping)
    }

    public func save(_ mapping: PendingMapping) throws(PendingMappingError) {
        var mappings = try all().filter { $0.node != mapping.node }
        mappings.append(mapping)
        try write(mappings.suffix(Self.maximumEntries))
    }

    public func remove(node: NodeID) throws(PendingMappingError) {
        let mappings = try all()
        let rest = mappings.filter { $0.node != node }
        if rest.count != mappings.count { try write(rest) }
    }

    private func write(_ mappings: [PendingMapping]) throws(PendingMappingError) {
        do {
            if mappings.isEmpty {
                try file.remove()
            } else {
                try file.write(JSONCoder.encode(mappings.map { StoredMapping($0) }))
            }
        } catch {
            throw PendingMappingError(path: file.path, message: "\(error)")
        }
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
