// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import RainMQTT

/// What a node has just said of its values.
public struct NodeReport: Sendable, Equatable {
    /// Who has said it.
    public var node: NodeID
    /// Those that it reported, which are not all it has: `{"Light":{"Power":true}}`.
    public var values: JSONValue
}

/// What happens while nodes are listened to.
public enum LiveEvent: Sendable, Equatable {
    /// From now on what these nodes report arrives. What they reported before is with the cloud: ask it now for what was missed.
    case listening([NodeID])
    /// One of them has reported.
    case report(NodeReport)
    /// The connection for these nodes is gone, and is being made again.
    case interrupted([NodeID], reason: String)
}

extension NodeReport {
    /// The topic on which a node reports: the firmware's, where it does not use AWS IoT's basic ingest, which no program can listen to.
    static func topic(of node: NodeID) -> String { "node/\(node.rawValue)/params/local" }

    /// The largest report that is read: AWS IoT's messages have 128 KiB at most.
    private static let limits = JSONLimits(maximumBytes: 128 << 10, maximumDepth: 16, maximumValues: 20_000)

    /// Nil for what is no report: it is not acted on.
    package init?(_ message: MQTTMessage, of nodes: [NodeID]) {
        guard let node = nodes.first(where: { Self.topic(of: $0) == message.topic }),
            let values = try? JSONValue(parsing: message.payload, limits: Self.limits), values.members != nil
        else { return nil }
        (self.node, self.values) = (node, values)
    }
}

extension Node {
    /// Takes over what the node has reported: values that it does not name stay as they are.
    public mutating func take(_ report: NodeReport) {
        guard report.node == id, let reported = report.values.members else { return }
        var components = parameters?.members ?? []
        for component in reported {
            guard let index = components.firstIndex(where: { $0.name == component.name }),
                var values = components[index].value.members, let changed = component.value.members
            else {
                components.removeAll { $0.name == component.name }
                components.append(component)
                continue
            }
            for value in changed {
                if let place = values.firstIndex(where: { $0.name == value.name }) {
                    values[place] = value
                } else {
                    values.append(value)
                }
            }
            components[index] = .init(component.name, .object(values))
        }
        parameters = .object(components)
    }
}
