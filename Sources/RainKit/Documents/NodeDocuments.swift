// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import RainMaker

// The documents of the boards in an account.

/// The boards in the account.
package struct NodeListResult: Encodable, Sendable {
    package private(set) var nodes: [Entry]

    package struct Entry: Encodable, Sendable {
        package let nodeID: String
        package let name: String?
        package let model: String?
        package let role: String?
        package let connected: Bool?
    }

    package init(nodes: [Entry]) { self.nodes = nodes }

    /// Adds a node. Nothing else that it has reported is kept.
    package mutating func append(_ node: Node) {
        nodes.append(
            Entry(
                nodeID: node.id.rawValue, name: node.displayName, model: node.model, role: node.role,
                connected: node.connectivity?.isConnected))
    }
}

/// One board: its description, whether it is online, and the values of its devices.
package struct NodeShowResult: Encodable, Sendable {
    private var values = LabelledValues()

    package var text: String { values.text }

    package func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    package init(_ node: Node, now: UnixTime = SystemWallClock().now) {
        values.add("node_id", node.id.rawValue)
        values.add("name", node.displayName)
        values.add("type", node.type)
        values.add("model", node.model)
        values.add("firmware_version", label: "firmware", node.firmwareVersion)
        values.add("role", node.role)
        values.add(node.connectivity, now: now)
        values.add("tags", node.tags)
        if let metadata = node.metadata { values.add(memberOnly: "metadata", metadata) }
        values.add(memberOnly: "params", node.secretParameters.masked(in: node.parameters ?? .object([])))
        for component in NodeConfiguration(node.configuration)?.components ?? [] where !component.isService {
            values.add(line: "\(component.name)\(component.type.map { " (\($0))" } ?? "")".onOneLine)
            for parameter in component.parameters {
                let value = node.parameters?[component.name]?[parameter.name]?.shown ?? "not reported yet"
                let note = parameter.isWritable ? "" : "  (read only)"
                values.add(line: "  \(component.name).\(parameter.name): \(value)\(note)".withoutControls)
            }
        }
    }
}

/// Several boards, as ``NodeShowResult`` has one.
package struct NodeShowListResult: Encodable, Sendable {
    package let nodes: [NodeShowResult]

    package init(nodes: [NodeShowResult]) { self.nodes = nodes }
}

/// Whether a board is online.
package struct NodeStatusResult: Encodable, Sendable {
    private var values = LabelledValues()

    package var text: String { values.text }

    package func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    package init(_ node: Node, now: UnixTime = SystemWallClock().now) {
        values.add(memberOnly: "node_id", node.id.rawValue)
        values.add(node.connectivity, now: now)
    }
}

extension LabelledValues {
    fileprivate mutating func add(_ connectivity: Node.Connectivity?, now: UnixTime) {
        guard let connectivity else { return add(line: "online: unknown") }
        let since = connectivity.since.flatMap { $0.seconds > 0 ? $0 : nil }
        let state = connectivity.isConnected ? "online" : "offline"
        let time = since.map { PlainTime.span(from: $0, to: now).map { "\(state) for \($0)" } ?? state }
        add("connected", connectivity.isConnected, line: time ?? "\(state), never seen")
        if let since { add(memberOnly: "since", Timestamp.text(since)) }
    }
}

/// Reports that a board is no longer in the account.
package struct NodeRemovedResult: Encodable, Sendable {
    package let nodeID: String
    package let removed = true

    /// The board's name.
    @TextOnly package private(set) var name: String

    package init(nodeID: String, name: String) {
        self.nodeID = nodeID
        self.name = name
    }
}
