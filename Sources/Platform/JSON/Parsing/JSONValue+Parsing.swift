// SPDX-License-Identifier: Apache-2.0
import CRainJSONC

extension JSONValue {
    /// The value of a whole JSON text, as RFC 8259 has it: one value, nothing after it but white space, UTF-8 without a mark.
    ///
    /// Where an object repeats a name, the last value counts, as in ECMAScript and in json-c. Integers are exact where they
    /// fit `Int64`. A longer one, and a number beyond the range of `Double`, is kept as its text: one odd number that somebody else wrote
    /// must neither make a whole document unreadable, nor be another one when the document is written again.
    public init(parsing text: [UInt8], limits: JSONLimits = .default) throws(JSONError) {
        guard text.count <= min(limits.maximumBytes, Int(Int32.max) - 1) else {
            throw JSONError(.tooLarge, "\(text.count) bytes, at most \(limits.maximumBytes) are accepted")
        }
        guard let first = text.firstIndex(where: { !isJSONSpace($0) }) else {
            throw JSONError(.truncated, "the text is empty", offset: text.count)
        }
        guard text[first] != UInt8(ascii: "<") else {
            throw JSONError(.markup, "HTML or XML where JSON was expected", offset: first)
        }
        guard String(validating: text, as: UTF8.self) != nil else {
            throw JSONError(.invalidUnicode, "the text is not UTF-8")
        }
        self = try text.withUnsafeBufferPointer { buffer throws(JSONError) in
            var check = LexicalCheck(buffer, limits: limits)
            try check.run()
            guard !check.longIntegers.isEmpty else { return try parse(buffer, limits: limits) }
            let text = withExponents(buffer, at: check.longIntegers)
            guard text.count < Int(Int32.max) else { throw JSONError(.tooLarge, "\(text.count) bytes") }
            return try text.withUnsafeBufferPointer { buffer throws(JSONError) in try parse(buffer, limits: limits) }
        }
    }
}

/// The text with `e0` behind the integers that end there: json-c clamps long integers, and reads these as doubles.
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
    // json-c counts a scalar as a level too. The lexical check has bounded the depth; this bounds json-c's own memory.
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
        // A number at the very end could go on: the terminator tells the tokener that it does not. Nothing else is open then.
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

/// Copies json-c's tree, whose depth the tokener has bounded. The tree stays json-c's.
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

/// json-c keeps the text of a double that it has read. Nil for one that `Double` holds.
private func longNumber(_ object: OpaquePointer?, _ number: Double) -> JSONValue? {
    guard number.magnitude >= 0x1p63, let characters = json_object_get_string(object) else { return nil }
    let text = String(cString: characters)
    if number.isInfinite { return .longNumber(.init(text.hasSuffix("e0") ? String(text.dropLast(2)) : text)) }
    // As `withExponents` marks an integer.
    guard text.hasSuffix("e0"), !text.dropLast(2).contains(where: { ".eE".contains($0) }) else { return nil }
    return .longNumber(.init(String(text.dropLast(2))))
}

private func text(_ characters: UnsafeBufferPointer<CChar>) -> String {
    characters.withMemoryRebound(to: UInt8.self) { String(decoding: $0, as: UTF8.self) }
}

private func outOfMemory() -> Never { fatalError("json-c could not allocate its tokener") }
