// SPDX-License-Identifier: Apache-2.0

/// Any JSON value. Members of objects keep their order.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits 64 bits.
    case integer(Int64)
    /// Any other number within the range of `Double`.
    case number(Double)
    /// A number beyond both, as its text, so that a document that is read, changed and written keeps it.
    case longNumber(LongNumber)
    /// A text.
    case string(String)
    /// An array: the elements in their order.
    case array([JSONValue])
    /// An object: the members in their order.
    case object([Member])

    /// The text of an integer of more than 64 bits, or of a number beyond the range of `Double`. Only the parser makes it.
    public struct LongNumber: Sendable, Hashable {
        /// The number as RFC 8259 writes it.
        public let text: String

        init(_ text: String) { self.text = text }

        /// The nearest number of this type.
        public var double: Double {
            let number = Double(text) ?? 0
            let greatest = Double.greatestFiniteMagnitude
            return min(max(number, -greatest), greatest)
        }
    }

    /// A name and its value.
    public struct Member: Sendable, Hashable {
        /// The name, which may appear in an object more than once.
        public var name: String
        /// The value of the member.
        public var value: JSONValue
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The member of that name, if this is an object that has one. If a name is repeated, the last member counts.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }
}

extension JSONValue {
    /// The text, if this is a string.
    public var string: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    /// The number, if this is an integer in the text (`1`, not `1.0` and not `"1"`).
    public var integer: Int64? {
        if case .integer(let number) = self { return number }
        return nil
    }

    /// The number, if this is a number of any kind; the nearest one if it is too long.
    public var double: Double? {
        switch self {
        case .number(let number): number
        case .integer(let number): Double(number)
        case .longNumber(let number): number.double
        default: nil
        }
    }

    /// The truth value, if this is one.
    public var bool: Bool? {
        if case .bool(let flag) = self { return flag }
        return nil
    }

    /// The elements, if this is an array.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { return elements }
        return nil
    }

    /// The members in their order, if this is an object.
    public var members: [Member]? {
        if case .object(let members) = self { return members }
        return nil
    }

    /// Whether this is `null`.
    public var isNull: Bool { self == .null }

    /// The value, or nil for a `null`, which most servers mean as absent. (A bare `nil` would become a `null` again.)
    public var unlessNull: JSONValue? { isNull ? Optional.none : self }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Makes an object with the members in the given order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}

/// A model may have a `JSONValue` for a member that holds any value.
extension JSONValue: Codable {
    public init(from decoder: any Decoder) throws {
        guard let json = decoder as? JSONValueDecoder else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a JSONValue is read by JSONCoder only"))
        }
        self = json.value
    }

    public func encode(to encoder: any Encoder) throws {
        guard let json = encoder as? JSONValueEncoder else {
            throw EncodingError.invalidValue(
                self,
                .init(codingPath: encoder.codingPath, debugDescription: "a JSONValue is written by JSONCoder only"))
        }
        json.node.value = self
    }
}

extension JSONValue {
    /// Returns this value as UTF-8 JSON with the members in their order, without a line end after it.
    ///
    /// A number is the shortest text that reads back as the same value; a long number is its original text. A number that is not finite
    /// becomes `null`, as in ECMAScript. Solidus and non-ASCII characters are not escaped, which is what json-c writes with
    /// `JSON_C_TO_STRING_NOSLASHESCAPE`.
    ///
    /// - Parameter pretty: writes one member or element a line, indented by two spaces.
    public func serialized(pretty: Bool = false) -> [UInt8] {
        var writer = JSONWriter(pretty: pretty)
        writer.write(self, depth: 0)
        return writer.text
    }
}

private struct JSONWriter {
    let pretty: Bool
    var text: [UInt8] = []

    init(pretty: Bool) { self.pretty = pretty }

    mutating func write(_ value: JSONValue, depth: Int) {
        switch value {
        case .null: text += "null".utf8
        case .bool(let flag): text += (flag ? "true" : "false").utf8
        case .integer(let number): text += number.description.utf8
        case .number(let number): text += (number.isFinite ? number.description : "null").utf8
        case .longNumber(let number): text += number.text.utf8
        case .string(let string): write(string)
        case .array(let elements):
            list(elements, between: ("[", "]"), depth: depth) { writer, element in
                writer.write(element, depth: depth + 1)
            }
        case .object(let members):
            list(members, between: ("{", "}"), depth: depth) { writer, member in
                writer.write(member.name)
                writer.text += (writer.pretty ? ": " : ":").utf8
                writer.write(member.value, depth: depth + 1)
            }
        }
    }

    private mutating func list<Item>(
        _ items: [Item], between brackets: (String, String), depth: Int, each: (inout Self, Item) -> Void
    ) {
        text += brackets.0.utf8
        for (index, item) in items.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            breakLine(depth: depth + 1)
            each(&self, item)
        }
        if !items.isEmpty { breakLine(depth: depth) }
        text += brackets.1.utf8
    }

    private mutating func breakLine(depth: Int) {
        guard pretty else { return }
        text.append(UInt8(ascii: "\n"))
        text.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }

    private mutating func write(_ string: String) {
        text.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""): text += #"\""#.utf8
            case UInt8(ascii: "\\"): text += #"\\"#.utf8
            case 0x08: text += #"\b"#.utf8
            case 0x09: text += #"\t"#.utf8
            case 0x0A: text += #"\n"#.utf8
            case 0x0C: text += #"\f"#.utf8
            case 0x0D: text += #"\r"#.utf8
            case 0..<0x20:
                text += (byte < 0x10 ? #"\u000"# : #"\u00"#).utf8
                text += String(byte, radix: 16).utf8
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }
}
