// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Synchronization

extension CloudAPI {
    /// The largest message a node may send; the firmware's own buffers are smaller.
    static let maximumMessage = 128 << 10

    /// Takes a message that a node published, under `node/ID/SUFFIX` or with a rule before it
    /// (`$aws/rules/RULE/node/ID/SUFFIX`). The broker has authenticated the node by its certificate.
    func receive(topic: String, payload: [UInt8]) {
        var parts = topic.split(separator: "/", omittingEmptySubsequences: false)
        if parts.starts(with: ["$aws", "rules"]) { parts.removeFirst(min(3, parts.count)) }
        guard parts.count > 2, parts[0] == "node" else { return }
        let node = String(parts[1])
        guard readState({ $0.nodes[node] != nil }) else { return }
        let suffix = parts[2...].joined(separator: "/")
        if suffix == "from-node" { return receiveAnswer(of: node, payload) }
        // What this cloud itself has sent comes back to it.
        if suffix == "to-node" { return }
        let limits = JSONLimits(maximumBytes: Self.maximumMessage, maximumDepth: 16, maximumValues: 20_000)
        guard let message = try? JSONValue(parsing: payload, limits: limits), message.members != nil else {
            return journal.node(node, "ignored")
        }
        // By basic ingest a message reaches the cloud alone, as at AWS.
        if topic.hasPrefix("node/") { live.publish(topic, payload) }
        switch suffix {
        case "config":
            note(node, "config") { $0.nodes[node]?.config = message }
        case "params/local/init", "params/local":
            note(node, "params") { $0.nodes[node]?.merge(params: message) }
            automate(node)
        case "user/mapping":
            reportMapping(of: node, message)
        default: break
        }
    }

    /// Handles the broker's events about a node's connection.
    func setConnected(_ isConnected: Bool, node: String) {
        guard readState({ $0.nodes[node] != nil }) else { return }
        let now = now
        changeTransientState {
            $0.nodes[node]?.connectivity = Node.Connectivity(isConnected: isConnected, changedAt: now)
        }
        journal.node(node, isConnected ? "connected" : "disconnected")
    }

    private func reportMapping(of node: String, _ message: JSONValue) {
        guard let user = message["user_id"]?.string, let secret = message["secret_key"]?.string,
            message["node_id"]?.string.map({ $0 == node }) ?? true
        else { return journal.node(node, "ignored") }
        let isReset = message["reset"]?.bool ?? false
        let now = now
        let changes = try? changeState { state in
            let changes = state.mappings.report(
                nodeID: node, userID: user, secret: secret, isReset: isReset, at: now)
            state.leaveGroups(changes)
            return changes
        }
        record(changes ?? [])
    }

    private func note(_ node: String, _ what: String, _ change: (inout CloudState) -> Void) {
        guard (try? changeState(change)) != nil else { return }
        journal.node(node, what)
    }
}
