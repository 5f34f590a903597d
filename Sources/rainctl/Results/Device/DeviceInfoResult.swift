// SPDX-License-Identifier: Apache-2.0
import RainKit

/// What a board says that it is.
struct DeviceInfoResult: CommandResult {
    let version: String
    /// The security scheme, with its patch and whether it takes a proof of possession: all three, or none where the board did not say.
    let security: Int?
    let patch: Int?
    let proofOfPossession: Bool?
    let nodeID: String?
    let association: String
    /// `null` where the board does not tell.
    @NullIfAbsent var needsClaim: Bool?
    let capabilities: [String]

    private enum CodingKeys: String, CodingKey {
        case version, security, patch
        case proofOfPossession = "proof_of_possession"
        case nodeID = "node_id"
        case association
        case needsClaim = "needs_claim"
        case capabilities
    }

    var text: String {
        var lines = ["version: \(version.isEmpty ? "unknown" : version.onOneLine)"]
        if let security {
            lines.append("security: \(security), \(proofOfPossession == true ? "with" : "without") proof of possession")
        }
        if let nodeID { lines.append("node id: \(nodeID)") }
        lines.append("association: \(association)")
        switch needsClaim {
        case true?: lines.append("needs to be claimed")
        case false?: break
        case nil: lines.append("needs to be claimed: unknown, its console does not tell")
        }
        if !capabilities.isEmpty { lines.append("capabilities: \(capabilities.joined(separator: " ").onOneLine)") }
        return lines.joined(separator: "\n")
    }
}

extension DeviceInfoResult {
    init(_ identity: BoardIdentity) {
        version = identity.version
        security = identity.security?.version
        patch = identity.security?.patch
        proofOfPossession = identity.security?.needsProofOfPossession
        nodeID = identity.nodeID?.rawValue
        association = identity.association.rawValue
        needsClaim = identity.needsClaim
        capabilities = identity.capabilities
    }
}
