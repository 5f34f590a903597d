// SPDX-License-Identifier: Apache-2.0

/// Goes through a JSON text once and refuses what json-c would let pass or silently change.
///
/// json-c 0.16, even when strict, accepts `-01`, `1.`, `NaN`, `Infinity` and raw control characters, replaces a lone surrogate by
/// U+FFFD, cuts a member's name at U+0000, turns an integer beyond 64 bits into the nearest one that fits, and counts an empty
/// array as no level. Only words, numbers, strings, depth and the number of values are looked at here; which may follow which
/// is left to json-c.
struct LexicalCheck {
    private let text: UnsafeBufferPointer<UInt8>
    private let limits: JSONLimits
    private var position = 0
    private var values = 1
    private var depth = 0
    /// Where the integers end that need more than 64 bits.
    private(set) var longIntegers: [Int] = []

    init(_ text: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        self.text = text
        self.limits = limits
    }

    mutating func run() throws(JSONError) {
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""): try string()
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): try word()
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                try countValue()
            case UInt8(ascii: ","): try countValue()
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
                position += 1
            case UInt8(ascii: ":"), 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: throw JSONError(.malformed, "a character that JSON does not know", offset: position)
            }
        }
    }

    private mutating func countValue() throws(JSONError) {
        values += 1
        guard values <= limits.maximumValues else {
            throw JSONError(.tooLarge, "more than \(limits.maximumValues) values", offset: position)
        }
        guard depth <= limits.maximumDepth else {
            throw JSONError(.tooDeep, "nested more than \(limits.maximumDepth) deep", offset: position)
        }
        position += 1
    }

    private var byte: UInt8? { position < text.count ? text[position] : nil }

    private func isMemberName() -> Bool {
        var next = position
        while next < text.count, isJSONSpace(text[next]) { next += 1 }
        return next < text.count && text[next] == UInt8(ascii: ":")
    }

    private mutating func word() throws(JSONError) {
        let start = position
        while let byte, byte | 0x20 >= UInt8(ascii: "a"), byte | 0x20 <= UInt8(ascii: "z") { position += 1 }
        let word = text[start..<position]
        let known: [StaticString] = ["true", "false", "null"]
        let isCut = { (name: StaticString) in
            name.utf8CodeUnitCount > word.count
                && word.elementsEqual(UnsafeBufferPointer(start: name.utf8Start, count: word.count))
        }
        if known.contains(where: { $0.utf8CodeUnitCount == word.count && $0.withUTF8Buffer(word.elementsEqual) }) {
            return
        }
        if position == text.count, known.contains(where: isCut) {
            throw JSONError(.truncated, "the text ends inside a word", offset: position)
        }
        throw JSONError(.malformed, "a word other than true, false and null", offset: start)
    }

    // MARK: Numbers (RFC 8259, section 6)

    private mutating func number() throws(JSONError) {
        let start = position
        if byte == UInt8(ascii: "-") { position += 1 }
        let leadingZero = byte == UInt8(ascii: "0")
        let integerDigits = try digits()
        if leadingZero, integerDigits > 1 { throw JSONError(.malformed, "a number begins with 0", offset: start) }
        var isInteger = true
        if byte == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            _ = try digits()
        }
        if let byte, byte | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position += 1
            if self.byte == UInt8(ascii: "+") || self.byte == UInt8(ascii: "-") { position += 1 }
            _ = try digits()
        }
        if isInteger, Int64(String(decoding: text[start..<position], as: UTF8.self)) == nil {
            longIntegers.append(position)
        }
    }

    private mutating func digits() throws(JSONError) -> Int {
        let start = position
        while let byte, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        guard position > start else {
            throw position == text.count
                ? JSONError(.truncated, "the text ends inside a number", offset: position)
                : JSONError(.malformed, "a digit is missing in a number", offset: position)
        }
        return position - start
    }

    // MARK: Strings (RFC 8259, section 7)

    private mutating func string() throws(JSONError) {
        let start = position
        var holdsNull = false
        position += 1
        while let byte {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                if holdsNull, isMemberName() {
                    throw JSONError(.invalidUnicode, "U+0000 in a member's name", offset: start)
                }
                return
            case UInt8(ascii: "\\"):
                guard let unit = try escape() else { continue }
                holdsNull = holdsNull || unit == 0
                if unit & 0xFC00 == 0xD800 {
                    guard let low = try escape(), low & 0xFC00 == 0xDC00 else { throw loneSurrogate }
                } else if unit & 0xFC00 == 0xDC00 {
                    throw loneSurrogate
                }
            case 0..<0x20: throw JSONError(.malformed, "a bare control character in a string", offset: position)
            default: position += 1
            }
        }
        throw truncatedString
    }

    private var truncatedString: JSONError {
        JSONError(.truncated, "the text ends inside a string", offset: text.count)
    }

    private var loneSurrogate: JSONError { JSONError(.invalidUnicode, "half of a surrogate pair", offset: position) }

    /// Skips one escape sequence; gives the UTF-16 code unit if it is of the form `\u0000`, nil for any other.
    private mutating func escape() throws(JSONError) -> UInt16? {
        guard let first = byte else { throw truncatedString }
        guard first == UInt8(ascii: "\\") else { throw loneSurrogate }
        guard position + 1 < text.count else { throw truncatedString }
        switch text[position + 1] {
        case UInt8(ascii: "u"): break
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
            return nil
        default: throw JSONError(.malformed, "an unknown escape in a string", offset: position)
        }
        var unit: UInt16 = 0
        for index in position + 2..<position + 6 {
            guard index < text.count else { throw truncatedString }
            guard let digit = Character(UnicodeScalar(text[index])).hexDigitValue else {
                throw JSONError(.malformed, "an escape with a digit that is not hexadecimal", offset: index)
            }
            unit = unit << 4 | UInt16(digit)
        }
        position += 6
        return unit
    }
}

/// White space as RFC 8259 has it, and no more.
func isJSONSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
