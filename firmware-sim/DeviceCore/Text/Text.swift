// SPDX-License-Identifier: Apache-2.0

/// Text as bytes, because comparing `String`s would pull the Unicode tables into a bare-metal image.
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

    /// A JSON string with its quotes (RFC 8259, 7).
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

    /// What C's string functions see of these bytes.
    var untilNull: [UInt8] {
        guard let end = firstIndex(of: 0) else { return self }
        return Array(self[..<end])
    }
}
