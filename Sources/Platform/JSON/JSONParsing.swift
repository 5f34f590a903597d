// SPDX-License-Identifier: Apache-2.0
import CRainJSONC

extension JSONValue {
    /// Parses a whole JSON text by RFC 8259: one value with only white space after it, UTF-8 without a byte order mark.
    ///
    /// If an object repeats a name, the last value counts, as in ECMAScript and in json-c. Integers are exact if they fit `Int64`. A longer
    /// integer, or a number beyond the range of `Double`, is kept as its text. So one unusual number does not make a document unreadable,
    /// and does not change when the document is written again.
    public init(parsing text: [UInt8], limits: JSONLimits = .default) throws(JSONError) {
        try self.init(parsing: text, limits: limits, escapingNonASCII: rejectsNonASCII)
    }

    /// - Parameter escapingNonASCII: whether json-c gets an escape for each character that is not ASCII (``rejectsNonASCII``).
    init(parsing text: [UInt8], limits: JSONLimits, escapingNonASCII: Bool) throws(JSONError) {
        do throws(JSONError) {
            self = try Self.parsed(text, limits, escapingNonASCII)
        } catch {
            throw error.located(in: text)
        }
    }

    private static func parsed(
        _ text: [UInt8], _ limits: JSONLimits, _ escapesNonASCII: Bool
    ) throws(JSONError) -> JSONValue {
        guard text.count <= min(limits.maximumBytes, Int(Int32.max) - 1) else {
            throw JSONError(
                .tooLarge, "the text has \(text.count) bytes, but at most \(limits.maximumBytes) are accepted")
        }
        guard !text.starts(with: [0xEF, 0xBB, 0xBF]) else {
            throw JSONError(.malformed, "the text begins with a byte order mark, which JSON does not allow", offset: 0)
        }
        guard let first = text.firstIndex(where: { !isJSONSpace($0) }) else {
            throw JSONError(.truncated, "the text is empty", offset: text.count)
        }
        if let mark = conflictMark(in: text) {
            throw JSONError(.malformed, "a merge conflict is not resolved (<<<<<<<)", offset: mark)
        }
        guard text[first] != UInt8(ascii: "<") else {
            throw JSONError(.markup, "HTML or XML where JSON was expected", offset: first)
        }
        guard String(validating: text, as: UTF8.self) != nil else {
            throw JSONError(.invalidUnicode, "the text is not UTF-8")
        }
        return try text.withUnsafeBufferPointer { buffer throws(JSONError) in
            var check = LexicalCheck(buffer, limits: limits)
            try check.run()
            let escapes = escapesNonASCII && buffer.contains { $0 >= 0x80 }
            guard escapes || !check.longIntegers.isEmpty else { return try parse(buffer, limits: limits) }
            let plain = withExponents(buffer, at: check.longIntegers)
            let text = escapes ? withEscapes(plain) : plain
            guard text.count < Int(Int32.max) else { throw JSONError(.tooLarge, "\(text.count) bytes") }
            do throws(JSONError) {
                return try text.withUnsafeBufferPointer { buffer throws(JSONError) in try parse(buffer, limits: limits)
                }
            } catch {
                var error = error
                if escapes { error.offset = error.offset.map { withoutEscapes($0, in: plain) } }
                throw error
            }
        }
    }
}

/// Whether this machine's json-c rejects all bytes above 0x7F. Version 0.18, which is in Debian 13, does so in strict mode: it compares
/// signed characters (https://github.com/json-c/json-c/issues/875).
let rejectsNonASCII: Bool = {
    guard let tokener = json_tokener_new() else { outOfMemory() }
    defer { json_tokener_free(tokener) }
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT)
    json_object_put(json_tokener_parse_ex(tokener, "\"é\"", -1))
    return json_tokener_get_error(tokener) != json_tokener_success
}()

/// Returns the text with an escape (`\u00e9`) for each character that is not ASCII. The text is valid UTF-8.
private func withEscapes(_ text: [UInt8]) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    var result: [UInt8] = []
    result.reserveCapacity(2 * text.count)
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
        if scalar.isASCII {
            result.append(UInt8(scalar.value))
        } else {
            for unit in Character(scalar).utf16 {
                result += [UInt8(ascii: "\\"), UInt8(ascii: "u")]
                result += (0..<4).map { digits[Int(unit >> (12 - 4 * $0)) & 0xF] }
            }
        }
    }
    return result
}

/// Returns an offset in the text for an offset in the text with escapes.
private func withoutEscapes(_ offset: Int, in text: [UInt8]) -> Int {
    var (own, escaped) = (0, 0)
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
        escaped += scalar.isASCII ? 1 : 6 * UTF16.width(scalar)
        if escaped > offset { break }
        own += UTF8.width(scalar)
    }
    return own
}

/// Returns the position of the first merge conflict that version control has marked: seven times `<` at the start of a line. No JSON has
/// such a line.
private func conflictMark(in text: [UInt8]) -> Int? {
    let less = UInt8(ascii: "<")
    guard let start = text.firstIndex(of: less) else { return nil }
    let mark = [UInt8](repeating: less, count: 7)
    return text.indices[start...].first { index in
        text[index] == less && (index == 0 || text[index - 1] == 0x0A) && text[index...].starts(with: mark)
    }
}

/// Returns the text with `e0` after the integers that end there. json-c clamps long integers, but reads these as doubles.
private func withExponents(_ text: UnsafeBufferPointer<UInt8>, at ends: [Int]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count + 2 * ends.count)
    var start = 0
    for end in ends {
        result += text[start..<end]
        result += [UInt8(ascii: "e"), UInt8(ascii: "0")]
        start = end
    }
    result += text[start...]
    return result
}

private func parse(
    _ text: UnsafeBufferPointer<UInt8>, limits: JSONLimits
) throws(JSONError) -> JSONValue {
    // json-c counts a scalar as a level too. The lexical check has limited the depth; this limits json-c's own memory.
    guard let tokener = json_tokener_new_ex(Int32(clamping: limits.maximumDepth + 1)) else { outOfMemory() }
    defer { json_tokener_free(tokener) }
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT)

    let root = text.withMemoryRebound(to: CChar.self) {
        json_tokener_parse_ex(tokener, $0.baseAddress, Int32($0.count))
    }
    defer { json_object_put(root) }
    switch json_tokener_get_error(tokener) {
    case json_tokener_success:
        return try value(of: root)
    case json_tokener_continue:
        // A number at the very end could continue; the terminator ends it. No other value is open then.
        let terminated = json_tokener_parse_ex(tokener, "", 1)
        defer { json_object_put(terminated) }
        guard json_tokener_get_error(tokener) == json_tokener_success else {
            throw JSONError(.truncated, "the text ends inside a value", offset: text.count)
        }
        return try value(of: terminated)
    case let error:
        let words = String(cString: json_tokener_error_desc(error))
        throw JSONError(.malformed, words, offset: json_tokener_get_parse_end(tokener))
    }
}

/// Copies json-c's tree, whose depth the tokener has limited. json-c still owns its tree.
private func value(of object: OpaquePointer?) throws(JSONError) -> JSONValue {
    switch json_object_get_type(object) {
    case json_type_boolean: return .bool(json_object_get_boolean(object) != 0)
    case json_type_int: return .integer(json_object_get_int64(object))
    case json_type_double:
        let number = json_object_get_double(object)
        return longNumber(object, number) ?? .number(number)
    case json_type_string:
        let length = Int(json_object_get_string_len(object))
        guard let bytes = json_object_get_string(object) else { return .string("") }
        return .string(text(UnsafeBufferPointer(start: bytes, count: length)))
    case json_type_array:
        var elements: [JSONValue] = []
        for index in 0..<json_object_array_length(object) {
            elements.append(try value(of: json_object_array_get_idx(object, index)))
        }
        return .array(elements)
    case json_type_object:
        var members: [JSONValue.Member] = []
        var position = json_object_iter_begin(object)
        var end = json_object_iter_end(object)
        while json_object_iter_equal(&position, &end) == 0 {
            if let name = json_object_iter_peek_name(&position) {
                members.append(.init(String(cString: name), try value(of: json_object_iter_peek_value(&position))))
            }
            json_object_iter_next(&position)
        }
        return .object(members)
    default: return .null
    }
}

/// Returns the text of a number that `Double` cannot hold, which json-c keeps; nil for other numbers.
private func longNumber(_ object: OpaquePointer?, _ number: Double) -> JSONValue? {
    guard number.magnitude >= 0x1p63, let characters = json_object_get_string(object) else { return nil }
    let text = String(cString: characters)
    if number.isInfinite { return .longNumber(.init(text.hasSuffix("e0") ? String(text.dropLast(2)) : text)) }
    // The mark of `withExponents` for an integer.
    guard text.hasSuffix("e0"), !text.dropLast(2).contains(where: { ".eE".contains($0) }) else { return nil }
    return .longNumber(.init(String(text.dropLast(2))))
}

private func text(_ characters: UnsafeBufferPointer<CChar>) -> String {
    characters.withMemoryRebound(to: UInt8.self) { String(decoding: $0, as: UTF8.self) }
}

private func outOfMemory() -> Never { fatalError("json-c could not allocate its tokener") }

/// Limits for the text that a reader accepts.
public struct JSONLimits: Sendable {
    /// The maximum length of the text, in bytes.
    public var maximumBytes: Int
    /// The maximum nesting of arrays and objects. 1 allows `[1]` and refuses `[[1]]`.
    public var maximumDepth: Int
    /// The maximum number of values in the text. A value takes up to a few hundred bytes of memory, even if it is two bytes in the text.
    public var maximumValues: Int

    public init(maximumBytes: Int = 1 << 20, maximumDepth: Int = 32, maximumValues: Int = 100_000) {
        self.maximumBytes = maximumBytes
        self.maximumDepth = maximumDepth
        self.maximumValues = maximumValues
    }

    /// 1 MiB, 32 levels and 100,000 values.
    public static let `default` = JSONLimits()
}

/// Why bytes are not the expected JSON. It names positions and member names, never values, which may be secrets.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of error in the text or the value.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case tooLarge, tooDeep, truncated, malformed, markup, invalidUnicode, numberOutOfRange
            case missing, typeMismatch, unencodable
        }
        private let value: Value
        public var description: String { value.rawValue }

        /// More bytes or more values than ``JSONLimits`` allow.
        public static let tooLarge = Code(value: .tooLarge)
        /// Arrays and objects nested deeper than ``JSONLimits`` allow.
        public static let tooDeep = Code(value: .tooDeep)
        /// The text ends in the middle of a value, or is empty.
        public static let truncated = Code(value: .truncated)
        /// Not JSON by RFC 8259.
        public static let malformed = Code(value: .malformed)
        /// HTML or XML: most likely a proxy or a sign-in page answered instead of the service.
        public static let markup = Code(value: .markup)
        /// Bytes that are not UTF-8, a lone surrogate, or a member's name with U+0000 in it.
        public static let invalidUnicode = Code(value: .invalidUnicode)
        /// An integer that needs more than 64 bits, or a number beyond the range of `Double`.
        public static let numberOutOfRange = Code(value: .numberOutOfRange)
        /// A member that the model requires is absent.
        public static let missing = Code(value: .missing)
        /// A value of another type than the model's.
        public static let typeMismatch = Code(value: .typeMismatch)
        /// A value that JSON cannot express, such as an infinite number.
        public static let unencodable = Code(value: .unencodable)
    }

    /// The kind of error.
    public var code: Code
    /// The error for people. It quotes no value.
    public var message: String
    /// The position in the text, in bytes from its beginning; nil if the error is in a model, not in the text.
    public var offset: Int?
    /// The same position for people, such as `line 2, column 8`, counted from 1.
    private var place: String?

    public init(_ code: Code, _ message: String, offset: Int? = nil) {
        self.code = code
        self.message = message
        self.offset = offset
    }

    /// The message and the place, such as `the text ends inside a value (line 1, column 2)`.
    public var description: String { message + (place.map { " (\($0))" } ?? "") }

    fileprivate func located(in text: [UInt8]) -> JSONError {
        guard let offset, offset <= text.count else { return self }
        let before = text[..<offset]
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let column = String(decoding: before[start...], as: UTF8.self).count + 1
        var error = self
        error.place = "line \(line), column \(column)"
        return error
    }
}

/// Checks a JSON text once for errors that json-c accepts or silently changes.
///
/// json-c 0.16, even when strict, accepts `-01`, `1.`, `NaN`, `Infinity` and raw control characters. It replaces a lone surrogate by
/// U+FFFD, and cuts a member's name at U+0000. It turns an integer beyond 64 bits into the nearest one that fits, and counts an empty array
/// as no level. This check covers only words, numbers, strings, depth and the number of values. json-c checks their order.
struct LexicalCheck {
    private let text: UnsafeBufferPointer<UInt8>
    private let limits: JSONLimits
    private var position = 0
    private var values = 1
    private var depth = 0
    /// The ends of integers that need more than 64 bits.
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
            default: throw JSONError(.malformed, "a character that JSON does not allow", offset: position)
            }
        }
    }

    private mutating func countValue() throws(JSONError) {
        values += 1
        guard values <= limits.maximumValues else {
            throw JSONError(.tooLarge, "more than \(limits.maximumValues) values", offset: position)
        }
        guard depth <= limits.maximumDepth else {
            throw JSONError(.tooDeep, "nested more than \(limits.maximumDepth) levels deep", offset: position)
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
        throw JSONError(.malformed, "a word without quotation marks that is not true, false or null", offset: start)
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
            case 0..<0x20: throw JSONError(.malformed, "an unescaped control character in a string", offset: position)
            default: position += 1
            }
        }
        throw truncatedString
    }

    private var truncatedString: JSONError {
        JSONError(.truncated, "the text ends inside a string", offset: text.count)
    }

    private var loneSurrogate: JSONError { JSONError(.invalidUnicode, "half of a surrogate pair", offset: position) }

    /// Skips one escape sequence. Returns the UTF-16 code unit if it has the form `\u0000`, nil for any other.
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

/// Whether a byte is white space by RFC 8259.
func isJSONSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
