// SPDX-License-Identifier: Apache-2.0

/// Returns text as bytes. Comparing `String`s would pull the Unicode tables into a bare-metal image.
func bytes(_ text: StaticString) -> [UInt8] {
    text.withUTF8Buffer { Array($0) }
}

extension [UInt8] {
    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { append(contentsOf: $0) }
    }

    mutating func append(decimal number: UInt64) {
        var digits: [UInt8] = []
        var rest = number
        repeat {
            digits.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        append(contentsOf: digits.reversed())
    }

    /// Appends a JSON string with its quotes (RFC 8259, 7).
    mutating func append(jsonString text: [UInt8]) {
        let digits = bytes("0123456789abcdef")
        append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case 0x0A:
                append("\\n")
            case 0..<0x20:
                append("\\u00")
                append(digits[Int(byte >> 4)])
                append(digits[Int(byte & 15)])
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }

    /// The bytes that C's string functions see.
    var untilNull: [UInt8] {
        guard let end = firstIndex(of: 0) else { return self }
        return Array(self[..<end])
    }
}

/// Returns the text of a string member of a JSON object; nil if `text` is not an object or has no such string.
///
/// It parses only as much of RFC 8259 as a claim needs: the other members may have any value.
func jsonString(_ name: StaticString, in text: [UInt8]) -> [UInt8]? {
    var reader = JSONTextReader(text)
    return reader.member(bytes(name))
}

private struct JSONTextReader {
    private let text: [UInt8]
    private var position = 0

    init(_ text: [UInt8]) { self.text = text }

    mutating func member(_ wanted: [UInt8]) -> [UInt8]? {
        guard skip(UInt8(ascii: "{")) else { return nil }
        var found: [UInt8]?
        repeat {
            guard let name = string(), skip(UInt8(ascii: ":")) else { return nil }
            skipSpace()
            if name == wanted, peek == UInt8(ascii: "\"") {
                guard let value = string() else { return nil }
                found = found ?? value
            } else {
                guard skipValue() else { return nil }
            }
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "}")) else { return nil }
        return found
    }

    private var peek: UInt8? { position < text.count ? text[position] : nil }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || (0x09...0x0D).contains(byte) { position += 1 }
    }

    private mutating func skip(_ byte: UInt8) -> Bool {
        skipSpace()
        guard peek == byte else { return false }
        position += 1
        return true
    }

    /// Skips any value. For arrays and objects it only counts brackets.
    private mutating func skipValue() -> Bool {
        var depth = 0
        var isEmpty = true
        while true {
            skipSpace()
            guard let byte = peek else { return false }
            switch byte {
            case UInt8(ascii: "\""): guard string() != nil else { return false }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","):
                if depth == 0 { return !isEmpty }
                if byte != UInt8(ascii: ",") { depth -= 1 }
                position += 1
            default: position += 1
            }
            isEmpty = false
        }
    }

    private mutating func string() -> [UInt8]? {
        guard skip(UInt8(ascii: "\"")) else { return nil }
        var result: [UInt8] = []
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return result
            case UInt8(ascii: "\\"):
                guard let escaped = escape() else { return nil }
                result.append(contentsOf: escaped)
            default: result.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> [UInt8]? {
        guard let byte = peek else { return nil }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "u"): return codeUnit()
        default: return nil
        }
    }

    /// Returns one unit of UTF-16 as UTF-8. Surrogates do not occur in ids and certificates, and are refused.
    private mutating func codeUnit() -> [UInt8]? {
        guard position + 4 <= text.count else { return nil }
        var value: UInt32 = 0
        for byte in text[position..<position + 4] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        position += 4
        switch value {
        case 0..<0x80: return [UInt8(value)]
        case 0x80..<0x800: return [0xC0 | UInt8(value >> 6), 0x80 | UInt8(value & 0x3F)]
        case 0xD800..<0xE000: return nil
        default: return [0xE0 | UInt8(value >> 12), 0x80 | UInt8(value >> 6 & 0x3F), 0x80 | UInt8(value & 0x3F)]
        }
    }
}
