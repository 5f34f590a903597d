// SPDX-License-Identifier: Apache-2.0

/// Reads a model from one value.
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

    /// `2` and `2.0` are both the integer 2; `2.5` and `"2"` are none.
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

    /// As the protocol asks: the position moves on only if there was a null.
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
