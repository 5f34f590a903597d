// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// The body of one request: JSON with placeholders in its texts. Values are put in as JSON values, so that nothing in them can become
/// a member of its own.
struct BodyTemplate: Sendable, Equatable {
    private indirect enum Node: Sendable, Equatable {
        case text(PlaceholderText)
        case array([Node])
        case object([Named])
        case other(JSONValue)
    }

    private struct Named: Sendable, Equatable {
        var name: String
        var value: Node
    }

    private let root: Node
    private(set) var placeholders: [MappingPlaceholder] = []

    init(_ json: JSONValue, member: String) throws(MappingDescriptionProblem) {
        guard json.members != nil else {
            throw MappingDescriptionProblem(member: member, sentence: "it is not an object")
        }
        var placeholders: [MappingPlaceholder] = []
        root = try Self.node(json, member, &placeholders)
        self.placeholders = placeholders
    }

    private static func node(
        _ json: JSONValue, _ member: String, _ found: inout [MappingPlaceholder]
    ) throws(MappingDescriptionProblem) -> Node {
        switch json {
        case .string(let text):
            let content: PlaceholderText
            do throws(PlaceholderText.Unknown) {
                content = try PlaceholderText(text)
            } catch {
                throw MappingDescriptionProblem(
                    member: member, sentence: "there is no placeholder {\(error.name)}")
            }
            for placeholder in content.placeholders where placeholder.standsAlone && content.parts.count > 1 {
                throw MappingDescriptionProblem(
                    member: member, sentence: "{\(placeholder.rawValue)} stands in a text of its own")
            }
            found += content.placeholders
            return .text(content)
        case .array(let values):
            var nodes: [Node] = []
            for (index, value) in values.enumerated() { nodes.append(try node(value, "\(member)[\(index)]", &found)) }
            return .array(nodes)
        case .object(let members):
            var nodes: [Named] = []
            for part in members {
                nodes.append(Named(name: part.name, value: try node(part.value, "\(member).\(part.name)", &found)))
            }
            return .object(nodes)
        default: return .other(json)
        }
    }

    /// A member or an element that is only a placeholder without a value, such as metadata that nobody gave, is left out.
    func filled(with values: MappingValues) -> JSONValue { Self.value(of: root, values) ?? .object([]) }

    private static func value(of node: Node, _ values: MappingValues) -> JSONValue? {
        switch node {
        case .text(let content):
            if content.parts.count == 1, case .placeholder(let only)? = content.parts.first { return values[only] }
            return .string(content.text { values[$0]?.placeholderText ?? "" })
        case .array(let nodes): return .array(nodes.compactMap { value(of: $0, values) })
        case .object(let members):
            return .object(members.compactMap { part in value(of: part.value, values).map { .init(part.name, $0) } })
        case .other(let json): return json
        }
    }
}
