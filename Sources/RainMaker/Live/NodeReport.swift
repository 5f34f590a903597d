// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

/// What a node has just said of its values.
public struct NodeReport: Sendable, Equatable {
    /// Who has said it.
    public var node: NodeID
    /// Those that it reported, which are not all it has: `{"Light":{"Power":true}}`.
    public var values: JSONValue

    package init(node: NodeID, values: JSONValue) { (self.node, self.values) = (node, values) }
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

/// The parameters whose values are taken from a node's reports: those that its configuration names. Without a configuration, those that the
/// cloud has a value of.
///
/// Other names are ignored: a node that keeps reporting new ones would use up all memory.
package struct ReportedParameters: Sendable, Equatable {
    private var names: [String: Set<String>] = [:]

    package init(of node: Node) {
        if let configuration = NodeConfiguration(node.configuration) {
            for component in configuration.components {
                names[component.name, default: []].formUnion(component.parameters.map(\.name))
            }
        } else {
            for component in node.parameters?.members ?? [] {
                names[component.name] = Set((component.value.members ?? []).map(\.name))
            }
        }
    }

    /// What of a component's values counts; nil for a component that does not, and for what is not an object.
    fileprivate func values(_ component: JSONValue.Member) -> [JSONValue.Member]? {
        guard let known = names[component.name] else { return nil }
        return component.value.members?.filter { known.contains($0.name) }
    }
}

extension Node {
    /// All values of a node together: far more than any firmware reports. AWS IoT's messages have 128 KiB.
    static let maximumReported = 1 << 20

    /// Takes over what the node has reported: values that it does not name stay as they are.
    ///
    /// Only devices and parameters that the node's configuration names are taken, and no report that would make the values larger than 1 MiB.
    public mutating func take(_ report: NodeReport) { take(report, of: ReportedParameters(of: self)) }

    package mutating func take(_ report: NodeReport, of known: ReportedParameters) {
        guard report.node == id, let reported = report.values.members else { return }
        var components = parameters?.members ?? []
        for component in reported {
            guard let changed = known.values(component), !changed.isEmpty else { continue }
            guard let index = components.firstIndex(where: { $0.name == component.name }) else {
                components.append(.init(component.name, .object(changed)))
                continue
            }
            var values = components[index].value.members ?? []
            for value in changed {
                if let place = values.firstIndex(where: { $0.name == value.name }) {
                    values[place] = value
                } else {
                    values.append(value)
                }
            }
            components[index] = .init(component.name, .object(values))
        }
        let merged = JSONValue.object(components)
        if merged.weight <= Self.maximumReported { parameters = merged }
    }
}

extension JSONValue {
    /// About how many bytes of memory it takes.
    package var weight: Int {
        switch self {
        case .null, .bool, .integer, .number: 32
        case .longNumber(let number): 32 + number.text.utf8.count
        case .string(let text): 32 + text.utf8.count
        case .array(let elements): elements.reduce(32) { $0 + $1.weight }
        case .object(let members): members.reduce(32) { $0 + 16 + $1.name.utf8.count + $1.value.weight }
        }
    }
}
