// SPDX-License-Identifier: Apache-2.0

/// One value that grows while a model is encoded: `Encoder` hands out containers that outlive the call that made them.
final class JSONNode {
    private enum Kind { case value, array, object }
    private var kind = Kind.object
    private var single = JSONValue.null
    private var nodes: [JSONNode] = []
    private var names: [String] = []
    private var positions: [String: Int] = [:]

    var value: JSONValue {
        get {
            switch kind {
            case .value: single
            case .array: .array(nodes.map(\.value))
            case .object: .object(zip(names, nodes).map { .init($0, $1.value) })
            }
        }
        set {
            kind = .value
            single = newValue
        }
    }

    func becomeArray() { kind = .array }
    func becomeObject() { kind = .object }
    var count: Int { nodes.count }

    func append() -> JSONNode {
        let node = JSONNode()
        nodes.append(node)
        return node
    }

    /// The node of that name; an earlier one of the same name is replaced where it stands.
    func member(_ name: String) -> JSONNode {
        let node = JSONNode()
        if let position = positions[name] {
            nodes[position] = node
        } else {
            positions[name] = nodes.count
            names.append(name)
            nodes.append(node)
        }
        return node
    }
}

/// Writes a model into one node.
struct JSONValueEncoder: Encoder, SingleValueEncodingContainer {
    let node: JSONNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeObject()
        return KeyedEncodingContainer(KeyedJSONEncoding(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeArray()
        return UnkeyedJSONEncoding(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { node.value = .null }
    func encode(_ value: Bool) { node.value = .bool(value) }
    func encode(_ value: String) { node.value = .string(value) }
    func encode(_ value: Double) throws { try number(value) }
    func encode(_ value: Float) throws { try number(Double(value)) }
    func encode(_ value: Int) throws { try integer(value) }
    func encode(_ value: Int8) throws { try integer(value) }
    func encode(_ value: Int16) throws { try integer(value) }
    func encode(_ value: Int32) throws { try integer(value) }
    func encode(_ value: Int64) throws { try integer(value) }
    func encode(_ value: UInt) throws { try integer(value) }
    func encode(_ value: UInt8) throws { try integer(value) }
    func encode(_ value: UInt16) throws { try integer(value) }
    func encode(_ value: UInt32) throws { try integer(value) }
    func encode(_ value: UInt64) throws { try integer(value) }

    func encode(_ value: some Encodable) throws {
        if let json = value as? JSONValue { node.value = json } else { try value.encode(to: self) }
    }

    private func number(_ value: Double) throws {
        guard value.isFinite else { throw invalid(value) }
        node.value = .number(value)
    }

    private func integer(_ value: some BinaryInteger) throws {
        guard let exact = Int64(exactly: value) else { throw invalid(value) }
        node.value = .integer(exact)
    }

    private func invalid(_ value: Any) -> EncodingError {
        .invalidValue(value, .init(codingPath: codingPath, debugDescription: ""))
    }
}

struct KeyedJSONEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONNode
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) { encoder(key).encodeNil() }
    func encode(_ value: some Encodable, forKey key: Key) throws { try encoder(key).encode(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { encoder(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(key).unkeyedContainer() }

    func superEncoder() -> any Encoder {
        JSONValueEncoder(node: node.member(JSONKey.super.stringValue), codingPath: codingPath + [JSONKey.super])
    }

    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

    private func encoder(_ key: Key) -> JSONValueEncoder {
        JSONValueEncoder(node: node.member(key.stringValue), codingPath: codingPath + [key])
    }
}

struct UnkeyedJSONEncoding: UnkeyedEncodingContainer {
    let node: JSONNode
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    func encodeNil() { encoder().encodeNil() }
    func encode(_ value: some Encodable) throws { try encoder().encode(value) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder() }

    private func encoder() -> JSONValueEncoder {
        let path = codingPath + [JSONKey(intValue: count)]
        return JSONValueEncoder(node: node.append(), codingPath: path)
    }
}
