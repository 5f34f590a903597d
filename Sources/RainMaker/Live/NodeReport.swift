// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

/// A node's report of new values.
public struct NodeReport: Sendable, Equatable {
    /// The node that reported them.
    public var node: NodeID
    /// The values in the report, which are not all values of the node: `{"Light":{"Power":true}}`.
    public var values: JSONValue

    package init(node: NodeID, values: JSONValue) { (self.node, self.values) = (node, values) }
}

/// An event while a program listens to nodes.
public enum LiveEvent: Sendable, Equatable {
    /// From now on the reports of these nodes arrive. Ask the cloud now for values that were reported before.
    case listening([NodeID])
    /// One of the nodes sent a report.
    case report(NodeReport)
    /// One of the nodes raised an alert.
    case alert(NodeAlert)
    /// The deployment does not let this user listen to the alerts of these nodes. Their reports arrive.
    case withoutAlerts([NodeID], reason: String)
    /// The connection for these nodes has ended, and the client is connecting again. There is one such event for each outage, until
    /// ``listening(_:)``.
    case interrupted([NodeID], reason: String)
}

extension NodeReport {
    /// Returns the topic on which a node reports. Firmware uses it unless it uses AWS IoT's basic ingest, which no program can listen to.
    static func topic(of node: NodeID) -> String { "node/\(node.rawValue)/params/local" }

    /// The largest report that is read: AWS IoT's messages have at most 128 KiB.
    private static let limits = JSONLimits(maximumBytes: 128 << 10, maximumDepth: 16, maximumValues: 20_000)

    /// Returns nil for a message that is not a report. Such messages are ignored.
    init?(_ message: MQTTMessage, of nodes: [NodeID]) {
        guard let node = nodes.first(where: { Self.topic(of: $0) == message.topic }),
            let values = try? JSONValue(parsing: message.payload, limits: Self.limits), values.members != nil
        else { return nil }
        (self.node, self.values) = (node, values)
    }
}

/// The parameters whose values are read from a node's reports: those in its configuration. Without a configuration, those for which the
/// cloud has a value.
///
/// Other names are ignored, because a node that keeps reporting new names would use up all memory.
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

    /// Returns the accepted values of a component; nil for an unknown component, and for a value that is not an object.
    fileprivate func values(_ component: JSONValue.Member) -> [JSONValue.Member]? {
        guard let known = names[component.name] else { return nil }
        return component.value.members?.filter { known.contains($0.name) }
    }
}

extension Node {
    /// The limit for all values of a node together, far more than any firmware reports. AWS IoT's messages have 128 KiB.
    static let maximumReported = 1 << 20

    /// Adds the values that the node has reported. Values that the report does not name do not change.
    ///
    /// Devices and parameters that the node's configuration does not name are ignored, and so is a report that would make the values larger
    /// than 1 MiB.
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
    /// The approximate memory size in bytes.
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
