// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// What JSON of a kind looks like, as far as `Encodable` types tell (JSON Schema, draft 2020-12).
indirect enum JSONSchema: Equatable {
    case anything
    /// A member that no example has.
    case unseen
    case null, boolean, integer, number, string
    /// nil where only empty ones were seen.
    case array(JSONSchema?)
    case object([Member])
    case oneOf([JSONSchema])

    struct Member: Equatable {
        var name: String
        var schema: JSONSchema
        /// Whether it is always there.
        var isRequired: Bool
    }

    /// Of values that are like one or the other.
    func merged(with other: JSONSchema) -> JSONSchema {
        switch (self, other) {
        case _ where self == other: self
        case (.unseen, _): other
        case (_, .unseen): self
        case (.anything, _), (_, .anything): .anything
        case (.integer, .number), (.number, .integer): .number
        case (.array(let one), .array(let two)):
            .array(one.map { one in two.map { one.merged(with: $0) } ?? one } ?? two)
        case (.object(let one), .object(let two)): .object(Self.merged(one, two))
        default: .oneOf(Self.alternatives(self, other))
        }
    }

    private static func alternatives(_ one: JSONSchema, _ two: JSONSchema) -> [JSONSchema] {
        var all: [JSONSchema] = []
        for schema in one.flat + two.flat {
            // Of each kind there is one, which holds what all of the kind are like.
            if let index = all.firstIndex(where: { $0.kind == schema.kind }) {
                all[index] = all[index].merged(with: schema)
            } else {
                all.append(schema)
            }
        }
        return all
    }

    private var flat: [JSONSchema] { if case .oneOf(let all) = self { all } else { [self] } }

    private var kind: String {
        switch self {
        case .anything, .unseen: "anything"
        case .null: "null"
        case .boolean: "boolean"
        case .integer, .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        case .oneOf: "oneOf"
        }
    }

    private static func merged(_ one: [Member], _ two: [Member]) -> [Member] {
        var all = one.map { member in
            let same = two.first { $0.name == member.name }
            return Member(
                name: member.name, schema: same.map { member.schema.merged(with: $0.schema) } ?? member.schema,
                isRequired: member.isRequired && same?.isRequired == true)
        }
        for member in two where !one.contains(where: { $0.name == member.name }) {
            all.append(Member(name: member.name, schema: member.schema, isRequired: false))
        }
        return all
    }

    /// As a schema's document has it. Members that are not named are allowed: a result gains members.
    var json: JSONValue {
        switch self {
        case .anything, .unseen: [:]
        case .null, .boolean, .integer, .number, .string: ["type": .string(typeName)]
        case .array(let element): ["type": "array", "items": element?.json ?? [:]]
        case .object(let members):
            .object(
                [.init("type", "object")]
                    + [.init("properties", .object(members.map { .init($0.name, $0.schema.json) }))]
                    + [.init("required", .array(members.filter(\.isRequired).map { .string($0.name) }))])
        case .oneOf(let all): ["anyOf": .array(all.map(\.json))]
        }
    }

    private var typeName: String {
        switch self {
        case .null: "null"
        case .boolean: "boolean"
        case .integer: "integer"
        case .number: "number"
        default: "string"
        }
    }
}
