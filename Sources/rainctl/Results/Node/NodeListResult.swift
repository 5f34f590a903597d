// SPDX-License-Identifier: Apache-2.0
import RainKit

/// The boards in the account.
struct NodeListResult: CommandResult {
    private(set) var nodes: [Entry]

    var text: String { nodes.map(\.line).joined(separator: "\n") }

    struct Entry: Encodable, Sendable {
        let nodeID: String
        let name: String?
        let model: String?
        let role: String?
        let connected: Bool?

        private enum CodingKeys: String, CodingKey {
            case nodeID = "node_id"
            case name, model, role, connected
        }

        fileprivate var line: String {
            let state = connected.map { $0 ? "online" : "offline" } ?? "unknown"
            return "\(nodeID.onOneLine)  \(state)  \((name ?? "").onOneLine)"
        }
    }
}

extension NodeListResult {
    /// Of all that a node has reported only this is kept.
    mutating func append(_ node: Node) {
        nodes.append(
            Entry(
                nodeID: node.id.rawValue, name: node.displayName, model: node.model, role: node.role,
                connected: node.connectivity?.isConnected))
    }
}
