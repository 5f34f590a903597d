// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

@testable import rainctl

/// Encodes a value into the schema of its type. A member that may be absent is known even if the value has it, because the type uses
/// `encodeIfPresent`.
enum SchemaEncoder {
    static func schema(of value: some Encodable) throws -> JSONSchema {
        let box = Box()
        try encode(value, into: box, path: [])
        return box.schema
    }

    /// Where a value is to be put.
    fileprivate final class Box {
        private var value: JSONSchema?
        private var members: [JSONSchema.Member]?
        private var elements: [Box]?

        var schema: JSONSchema {
            if let members { return .object(members) }
            if let elements {
                return .array(elements.map(\.schema).reduce(nil) { $0?.merged(with: $1) ?? $1 })
            }
            return value ?? .object([])
        }

        func set(_ schema: JSONSchema) { value = schema }
        func beginObject() { members = members ?? [] }
        func beginArray() { elements = elements ?? [] }

        /// A member that was written before is replaced.
        func set(_ name: String, _ schema: JSONSchema, isRequired: Bool) {
            let member = JSONSchema.Member(name: name, schema: schema, isRequired: isRequired)
            if let index = members?.firstIndex(where: { $0.name == name }) {
                members?[index] = member
            } else {
                members = (members ?? []) + [member]
            }
        }

        func append() -> Box {
            let box = Box()
            elements = (elements ?? []) + [box]
            return box
        }
    }

    fileprivate static func encode(_ value: any Encodable, into box: Box, path: [any CodingKey]) throws {
        if let known = known(type(of: value)) { return box.set(known) }
        try value.encode(to: Coder(box: box, codingPath: path))
    }

    /// What a type is always written as.
    fileprivate static func known(_ type: any Any.Type) -> JSONSchema? {
        switch type {
        case is String.Type: .string
        case is Bool.Type: .boolean
        case is Double.Type, is Float.Type: .number
        case is any FixedWidthInteger.Type: .integer
        case is JSONValue.Type: .anything
        case is [String].Type: .array(.string)
        default: nil
        }
    }

    fileprivate struct Coder: Encoder {
        let box: Box
        let codingPath: [any CodingKey]
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
            box.beginObject()
            return KeyedEncodingContainer(Keyed<Key>(box: box, codingPath: codingPath))
        }

        func unkeyedContainer() -> any UnkeyedEncodingContainer {
            box.beginArray()
            return Unkeyed(box: box, codingPath: codingPath)
        }

        func singleValueContainer() -> any SingleValueEncodingContainer { Single(box: box, codingPath: codingPath) }
    }

    private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let box: Box
        var codingPath: [any CodingKey]

        mutating func encodeNil(forKey key: Key) throws { box.set(JSONText.name(key), .null, isRequired: true) }

        mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
            try put(value, key, isRequired: true)
        }

        mutating func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
            if let value {
                try put(value, key, isRequired: false)
            } else {
                box.set(JSONText.name(key), SchemaEncoder.known(Value.self) ?? .unseen, isRequired: false)
            }
        }

        mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws {
            box.set(JSONText.name(key), .string, isRequired: false)
        }

        mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
            box.set(JSONText.name(key), .boolean, isRequired: false)
        }

        mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
            box.set(JSONText.name(key), .integer, isRequired: false)
        }

        mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
            box.set(JSONText.name(key), .integer, isRequired: false)
        }

        private func put(_ value: any Encodable, _ key: Key, isRequired: Bool) throws {
            let inner = Box()
            try SchemaEncoder.encode(value, into: inner, path: codingPath + [key])
            box.set(JSONText.name(key), inner.schema, isRequired: isRequired)
        }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy keyType: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> { preconditionFailure("no result nests by hand") }

        mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            preconditionFailure("no result nests by hand")
        }

        mutating func superEncoder() -> any Encoder { preconditionFailure("no result is a class") }
        mutating func superEncoder(forKey key: Key) -> any Encoder { preconditionFailure("no result is a class") }
    }

    private struct Unkeyed: UnkeyedEncodingContainer {
        let box: Box
        var codingPath: [any CodingKey]
        var count = 0

        mutating func encodeNil() throws { box.append().set(.null) }

        mutating func encode<Value: Encodable>(_ value: Value) throws {
            count += 1
            try SchemaEncoder.encode(value, into: box.append(), path: codingPath)
        }

        mutating func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested>
        {
            preconditionFailure("no result nests by hand")
        }

        mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
            preconditionFailure("no result nests by hand")
        }

        mutating func superEncoder() -> any Encoder { preconditionFailure("no result is a class") }
    }

    private struct Single: SingleValueEncodingContainer {
        let box: Box
        var codingPath: [any CodingKey]

        mutating func encodeNil() throws { box.set(.null) }

        mutating func encode<Value: Encodable>(_ value: Value) throws {
            try SchemaEncoder.encode(value, into: box, path: codingPath)
        }
    }
}
