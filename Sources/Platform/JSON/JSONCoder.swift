// SPDX-License-Identifier: Apache-2.0

/// Converts `Codable` models to and from JSON, without Foundation.
///
/// ```swift
/// struct Reply: Codable { var status: String }
/// let reply = try JSONCoder.decode(Reply.self, from: response.body)
/// ```
public enum JSONCoder {
    /// Parses `text` and decodes it. Members that the model does not have are ignored.
    public static func decode<Model: Decodable>(
        _ type: Model.Type, from text: [UInt8], limits: JSONLimits = .default
    ) throws(JSONError) -> Model {
        try decode(type, from: JSONValue(parsing: text, limits: limits))
    }

    /// Decodes a value that is already parsed.
    public static func decode<Model: Decodable>(
        _ type: Model.Type, from value: JSONValue
    ) throws(JSONError) -> Model {
        do {
            return try JSONValueDecoder(value: value, codingPath: []).decode(type)
        } catch let error as DecodingError {
            throw JSONError(error)
        } catch let error as JSONError {
            throw error
        } catch {
            throw JSONError(.typeMismatch, "\(type) cannot be read from this JSON")
        }
    }

    /// Returns the model as JSON text. Members appear in the order in which the model encodes them.
    public static func encode(_ model: some Encodable) throws(JSONError) -> [UInt8] {
        try value(of: model).serialized()
    }

    /// Returns the model as a value, for changes or for indented output.
    /// - Parameter name: returns the name of the member for a key.
    public static func value(
        of model: some Encodable, naming name: @escaping (any CodingKey) -> String = { $0.stringValue }
    ) throws(JSONError) -> JSONValue {
        do {
            let node = JSONNode()
            try JSONValueEncoder(node: node, codingPath: [], name: name).encode(model)
            return node.value
        } catch let error as EncodingError {
            throw JSONError(error)
        } catch let error as JSONError {
            throw error
        } catch {
            throw JSONError(.unencodable, "\(type(of: model)) cannot be written as JSON")
        }
    }
}

extension JSONError {
    /// Keeps the path only: a debug description may quote the value.
    init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(.missing, "\(path(context.codingPath + [key])) is missing")
        case .valueNotFound(let type, let context):
            self.init(.missing, "\(path(context.codingPath)) is null and should be \(words(for: type))")
        case .typeMismatch(let type, let context):
            self.init(.typeMismatch, "\(path(context.codingPath)) is not \(words(for: type))")
        case .dataCorrupted(let context):
            self.init(.typeMismatch, "\(path(context.codingPath)) has a value that is not accepted")
        @unknown default: self.init(.typeMismatch, "the JSON does not have the expected structure")
        }
    }

    init(_ error: EncodingError) {
        guard case .invalidValue(_, let context) = error else {
            self.init(.unencodable, "the value cannot be written as JSON")
            return
        }
        self.init(.unencodable, "\(path(context.codingPath)) cannot be written as JSON")
    }
}

/// Returns the JSON name of a Swift type, for people.
private func words(for type: Any.Type) -> String {
    switch "\(type)" {
    case "String": "text"
    case "Bool": "true or false"
    case let name where ["Int", "UInt", "Double", "Float"].contains { name.hasPrefix($0) }: "a number"
    case let name where name.hasPrefix("Array<") || name == "UnkeyedDecodingContainer": "a list"
    default: "an object"
    }
}

private func path(_ keys: [any CodingKey]) -> String {
    guard !keys.isEmpty else { return "the JSON text" }
    var path = ""
    for key in keys {
        if let index = key.intValue {
            path += "[\(index)]"
        } else {
            path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
        }
    }
    return "\"\(path)\""
}

/// A position in an array, or a name that no model declares.
struct JSONKey: CodingKey {
    var stringValue: String
    var intValue: Int?

    init(stringValue: String) { self.stringValue = stringValue }
    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }

    static let `super` = JSONKey(stringValue: "super")
}

/// Decodes a model from one value.
struct JSONValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: JSONValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = value else { throw mismatch([String: JSONValue].self) }
        return KeyedDecodingContainer(KeyedJSONDecoding(members: members, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw mismatch([JSONValue].self) }
        return UnkeyedJSONDecoding(elements: elements, codingPath: codingPath)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { value == .null }
    func decode(_ type: Bool.Type) throws -> Bool { try need(value.bool, type) }
    func decode(_ type: String.Type) throws -> String { try need(value.string, type) }
    func decode(_ type: Double.Type) throws -> Double { try need(value.double, type) }
    func decode(_ type: Float.Type) throws -> Float { Float(try need(value.double, type)) }
    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

    func decode<Model: Decodable>(_ type: Model.Type) throws -> Model {
        if let value = value as? Model { return value }
        return try Model(from: self)
    }

    /// `2` and `2.0` are both the integer 2; `2.5` and `"2"` are not integers.
    private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws -> Integer {
        switch value {
        case .integer(let number): try need(Integer(exactly: number), type)
        case .number(let number): try need(Integer(exactly: number), type)
        case .longNumber(let number): try need(Integer(number.text), type)
        default: throw mismatch(type)
        }
    }

    private func need<Result>(_ result: Result?, _ type: Any.Type) throws -> Result {
        guard let result else { throw mismatch(type) }
        return result
    }

    private func mismatch(_ type: Any.Type) -> DecodingError {
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: "")
        return value == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }
}

struct KeyedJSONDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let values: [String: JSONValue]
    private let names: [String]
    let codingPath: [any CodingKey]

    init(members: [JSONValue.Member], codingPath: [any CodingKey]) {
        values = Dictionary(members.map { ($0.name, $0.value) }) { _, last in last }
        names = members.map(\.name)
        self.codingPath = codingPath
    }

    var allKeys: [Key] { names.compactMap(Key.init(stringValue:)) }
    func contains(_ key: Key) -> Bool { values[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }
    func decode<Model: Decodable>(_ type: Model.Type, forKey key: Key) throws -> Model {
        try decoder(key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        JSONValueDecoder(value: values[JSONKey.super.stringValue] ?? .null, codingPath: codingPath + [JSONKey.super])
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: Key) throws -> JSONValueDecoder {
        guard let value = values[key.stringValue] else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: ""))
        }
        return JSONValueDecoder(value: value, codingPath: codingPath + [key])
    }
}

struct UnkeyedJSONDecoding: UnkeyedDecodingContainer {
    private let elements: [JSONValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(elements: [JSONValue], codingPath: [any CodingKey]) {
        self.elements = elements
        self.codingPath = codingPath
    }

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    /// As the protocol requires, the position moves on only after a null.
    mutating func decodeNil() throws -> Bool {
        guard try current().decodeNil() else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Model: Decodable>(_ type: Model.Type) throws -> Model {
        let model = try current().decode(type)
        currentIndex += 1
        return model
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        let container = try current().container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try current().unkeyedContainer()
        currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try current()
        currentIndex += 1
        return decoder
    }

    private func current() throws -> JSONValueDecoder {
        let path = codingPath + [JSONKey(intValue: currentIndex)]
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(JSONValue.self, .init(codingPath: path, debugDescription: ""))
        }
        return JSONValueDecoder(value: elements[currentIndex], codingPath: path)
    }
}

/// A value that grows while a model is encoded. `Encoder` returns containers that outlive the call that made them.
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

    /// Adds the node of that name. An earlier node of the same name is replaced in its position.
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

/// Encodes a model into one node.
struct JSONValueEncoder: Encoder, SingleValueEncodingContainer {
    let node: JSONNode
    let codingPath: [any CodingKey]
    let name: (any CodingKey) -> String
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeObject()
        return KeyedEncodingContainer(KeyedJSONEncoding(node: node, codingPath: codingPath, name: name))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeArray()
        return UnkeyedJSONEncoding(node: node, codingPath: codingPath, name: name)
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
    let name: (any CodingKey) -> String

    func encodeNil(forKey key: Key) { encoder(key).encodeNil() }
    func encode(_ value: some Encodable, forKey key: Key) throws { try encoder(key).encode(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { encoder(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(key).unkeyedContainer() }

    func superEncoder() -> any Encoder {
        JSONValueEncoder(
            node: node.member(JSONKey.super.stringValue), codingPath: codingPath + [JSONKey.super], name: name)
    }

    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

    private func encoder(_ key: Key) -> JSONValueEncoder {
        JSONValueEncoder(node: node.member(name(key)), codingPath: codingPath + [key], name: name)
    }
}

struct UnkeyedJSONEncoding: UnkeyedEncodingContainer {
    let node: JSONNode
    let codingPath: [any CodingKey]
    let name: (any CodingKey) -> String
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
        return JSONValueEncoder(node: node.append(), codingPath: path, name: name)
    }
}
