// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainMaker

/// A pending mapping as it lies in the file.
struct StoredMapping: Codable {
    var node: String
    var user: String
    var stage: String
    var peer: String
    var label: String?
    var secret: String?
    var signature: StoredBytes?
    var request: String?
    var tags: [String]?
    var metadata: String?
    var since: Double?

    init(_ mapping: PendingMapping) {
        node = mapping.node.rawValue
        user = mapping.user.rawValue
        stage = mapping.stage.rawValue
        peer = mapping.peer
        label = mapping.label
        tags = mapping.notes.tags.isEmpty ? nil : mapping.notes.tags
        metadata = mapping.notes.metadata
        since = mapping.since?.seconds
        switch mapping.proof {
        case .secret(let secret, let request):
            self.secret = secret.secret.revealString()
            self.request = request?.rawValue
        case .signature(let signature, let request):
            self.signature = StoredBytes(bytes: signature)
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
            proof = .signature(signature.bytes, request: RequestID(request))
        } else {
            return nil
        }
        return PendingMapping(
            node: NodeID(node), user: UserID(user), proof: proof, stage: stage, peer: peer, label: label,
            notes: MappingNotes(tags: tags ?? [], metadata: metadata), since: since.map { UnixTime(seconds: $0) })
    }
}
