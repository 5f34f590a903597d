// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// One board: what it is, whether it is online, and what its devices have.
struct NodeShowResult: CommandResult {
    private var values = LabelledValues()

    var text: String { values.text }
    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    init(_ node: Node) {
        values.add("node_id", node.id.rawValue)
        values.add("name", node.displayName)
        values.add("type", node.type)
        values.add("model", node.model)
        values.add("firmware_version", label: "firmware", node.firmwareVersion)
        values.add("role", node.role)
        values.add(node.connectivity)
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

/// Whether a board is online.
struct NodeStatusResult: CommandResult {
    private var values = LabelledValues()

    var text: String { values.text }
    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    init(_ node: Node) {
        values.add(memberOnly: "node_id", node.id.rawValue)
        values.add(node.connectivity)
    }
}

extension LabelledValues {
    mutating func add(_ connectivity: Node.Connectivity?) {
        guard let connectivity else { return add(line: "online: unknown") }
        let since = connectivity.since.flatMap { $0.seconds > 0 ? Timestamp.text($0) : nil }
        let state = connectivity.isConnected ? "online" : "offline"
        add("connected", connectivity.isConnected, line: since.map { "\(state) since \($0)" } ?? "\(state), never seen")
        if let since { add(memberOnly: "since", since) }
    }
}

extension JSONValue {
    /// A value as a person reads it: a text without its quotes, anything else as JSON.
    var shown: String { string ?? compact }
}
