// SPDX-License-Identifier: Apache-2.0
import RainKit

/// What an onboarding came to.
struct ProvisionResult: CommandResult {
    let nodeID: String?
    /// The board's address, which is empty where it did not say, and its network; nil where the Wi-Fi was left alone, and the network's name
    /// also where it is not text: `ssidHex` has it always.
    let ip: String?
    let ssid: String?
    let mapping: String
    let claimed: Bool
    let resumed: Bool
    let elapsedMilliseconds: Int64
    let ssidHex: String?
    /// What the board's application has answered; absent where it was sent nothing.
    var customData: [SendResult]?

    private enum CodingKeys: String, CodingKey {
        case nodeID = "node_id"
        case ip, ssid, mapping, claimed, resumed
        case elapsedMilliseconds = "elapsed_ms"
        case ssidHex = "ssid_hex"
        case customData = "custom_data"
    }

    var text: String {
        var lines: [String] = []
        if let nodeID { lines.append("node id: \(nodeID)") }
        if let ip { lines.append("ip: \(ip.isEmpty ? "unknown" : ip)") }
        lines.append("mapping: \(mapping)")
        return lines.joined(separator: "\n")
    }
}

extension ProvisionResult {
    init(_ node: OnboardedNode) {
        nodeID = node.nodeID?.rawValue
        ip = node.network?.address
        ssid = node.network?.ssid.argument
        ssidHex = node.network?.ssid.hex
        mapping = node.mapping.rawValue
        claimed = node.claimed
        resumed = node.resumed
        elapsedMilliseconds = Int64(node.elapsed / .milliseconds(1))
        customData =
            node.customData.isEmpty ? nil : node.customData.map { SendResult($0.endpoint, answered: $0.payload) }
    }
}
