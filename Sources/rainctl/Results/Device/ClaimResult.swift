// SPDX-License-Identifier: Apache-2.0
import RainKit

/// What a claim came to: the node id that the board has from then on, or that there was nothing to claim.
struct ClaimResult: CommandResult {
    let nodeID: String?
    let claimed: Bool

    private enum CodingKeys: String, CodingKey {
        case nodeID = "node_id"
        case claimed
    }

    var text: String {
        nodeID.map { "node id: \($0)" } ?? "The board has its certificate already: nothing to claim."
    }
}

extension ClaimResult {
    init(_ node: OnboardedNode) {
        nodeID = node.claimed ? node.nodeID?.rawValue : nil
        claimed = node.claimed
    }
}
