// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

/// What a claim came to: the node id that the board has from then on, or that there was nothing to claim.
struct ClaimResult: CommandResult {
    let nodeID: String?
    let claimed: Bool
    /// Of a claim by the host: the board's address, where in its flash its credentials are, or the file that has them.
    var mac: String?
    var flashAddress: String?
    var image: String?
    var port: String?

    private enum CodingKeys: String, CodingKey {
        case nodeID = "node_id"
        case claimed, mac, image
        case flashAddress = "flash_address"
    }

    var text: String {
        guard let nodeID else { return "The board has its certificate already: nothing to claim." }
        var lines = ["node id: \(nodeID)"]
        if let mac { lines.append("board: \(mac)") }
        if let image {
            lines.append(
                "image: \(image.onOneLine), with the board's private key; flash it to the partition fctry, then delete it"
            )
        }
        if let port {
            lines.append(
                "The board has its certificate. Next: rainctl provision --port \(port.asShellWord) --ssid NETWORK")
        }
        return lines.joined(separator: "\n")
    }
}

extension ClaimResult {
    init(_ node: OnboardedNode) {
        nodeID = node.claimed ? node.nodeID?.rawValue : nil
        claimed = node.claimed
    }

    /// A claim in the board's place.
    init(node: NodeID, mac: String, image: String?, flashAddress: String?, port: String? = nil) {
        nodeID = node.rawValue
        claimed = true
        (self.mac, self.image, self.flashAddress, self.port) = (mac, image, flashAddress, port)
    }
}
