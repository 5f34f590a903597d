// SPDX-License-Identifier: Apache-2.0
extension JSONValue {
    /// This value as UTF-8 JSON, the members in their order. It carries no line end of its own.
    ///
    /// Numbers are the shortest text that reads back as the same value, and those that are too long the text that was read; one that is not
    /// finite becomes `null`, as in ECMAScript. Solidus and non-ASCII characters stand as they are, which is what json-c writes with
    /// `JSON_C_TO_STRING_NOSLASHESCAPE`.
    /// - Parameter pretty: one member or element a line, indented by two spaces.
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
