// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Testing

@Suite("Parsing JSON")
struct ParsingTests {
    private func parse(_ text: String, limits: JSONLimits = .default) throws(JSONError) -> JSONValue {
        try JSONValue(parsing: Array(text.utf8), limits: limits)
    }

    private func code(_ text: [UInt8], limits: JSONLimits = .default) -> JSONError.Code? {
        do throws(JSONError) {
            _ = try JSONValue(parsing: text, limits: limits)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("a byte order mark is named")
    func byteOrderMark() {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: [0xEF, 0xBB, 0xBF] + Array("{}".utf8)) }
        #expect(error?.code == .malformed && error?.message.contains("byte order mark") == true)
    }

    @Test("an object keeps the order of its members, and every type keeps its value")
    func everyType() throws {
        let text = #"{"z":1,"a":[true,false,null],"t":"ü\u00fc\ud83d\ude00\/\n","d":-1.5e3,"o":{},"e":""}"#
        let expected: JSONValue = [
            "z": 1, "a": [true, false, nil], "t": "üü😀/\n", "d": -1500.0, "o": .object([]), "e": "",
        ]
        #expect(try parse(text) == expected)
    }

    @Test(
        "integers are exact to both ends of 64 bits",
        arguments: [Int64.min, Int64.max, 0, -1, 9_007_199_254_740_993])
    func exactIntegers(number: Int64) throws {
        #expect(try parse("\(number)") == .integer(number))
        #expect(try parse("[\(number)]") == [.integer(number)])
    }

    @Test("scalars stand alone, with white space around them", arguments: ["1", " 1", "1 ", "\t\r\n1\n"])
    func scalars(text: String) throws {
        #expect(try parse(text) == 1)
    }

    @Test("where a name is repeated the last value counts")
    func repeatedName() throws {
        let value = try parse(#"{"a":1,"b":2,"a":3}"#)
        #expect(value["a"] == 3)
        #expect(value.members?.count == 2)
    }

    @Test("marks of a merge conflict are described as these, and not as markup", arguments: ["", "{\n"])
    func mergeConflict(before: String) {
        let text = before + "<<<<<<< HEAD\n\"a\":1\n=======\n\"a\":2\n>>>>>>> other\n}"
        let error = #expect(throws: JSONError.self) { try parse(text) }
        #expect(error?.code == .malformed && error?.offset == before.utf8.count)
        #expect(error?.message.contains("merge conflict") == true)
    }

    @Test(
        "what is not JSON is refused by its kind",
        arguments: [
            ("", JSONError.Code.truncated), ("  \n", .truncated), ("{", .truncated), (#"{"a""#, .truncated),
            (#"{"a":"#, .truncated), (#"{"a":1"#, .truncated), ("[1,", .truncated), ("tru", .truncated),
            ("-", .truncated), ("1.", .truncated), ("1e", .truncated), ("1e+", .truncated), (#""abc"#, .truncated),
            (#""a\"#, .truncated), (#""\u12"#, .truncated), (#""\ud800"#, .truncated),
            ("<!DOCTYPE html><html>", .markup), ("\n <?xml version='1.0'?>", .markup),
            ("01", .malformed), ("-01", .malformed), ("[1.]", .malformed), (".5", .malformed), ("+1", .malformed),
            ("NaN", .malformed), ("-NaN", .malformed), ("Infinity", .malformed), ("-Infinity", .malformed),
            ("nan", .malformed), ("True", .malformed), ("nulll", .malformed), ("/*c*/1", .malformed),
            ("1//x", .malformed), ("[1,]", .malformed), (#"{"a":1,}"#, .malformed), ("'a'", .malformed),
            ("{a:1}", .malformed), ("[1 2]", .malformed), ("[1,,2]", .malformed), ("{,}", .malformed),
            (#"{"a":1 "b":2}"#, .malformed), (#"{"a","b"}"#, .malformed), ("1 2", .malformed), ("{}x", .malformed),
            ("{}{}", .malformed), ("[}", .malformed), ("]", .malformed), ("\"a\tb\"", .malformed),
            ("\"a\u{0}b\"", .malformed), ("1\u{0}", .malformed), ("\u{0B}1", .malformed), (#""\x""#, .malformed),
            (#""\u00g0""#, .malformed), ("\u{FEFF}{}", .malformed), ("1.5.5", .malformed), ("--1", .malformed),
            (#""\ud800""#, .invalidUnicode), (#""\udc00""#, .invalidUnicode), (#""\ud800\ud800""#, .invalidUnicode),
            (#""\ud800x""#, .invalidUnicode), (#""\ud800\n""#, .invalidUnicode),
            (#"{"user_id\u0000x":"y"}"#, .invalidUnicode), (#"{"a\u0000" : 1}"#, .invalidUnicode),
        ])
    func refused(text: String, expected: JSONError.Code) {
        #expect(code(Array(text.utf8)) == expected)
    }

    @Test("a number that is too long is written as it was read, and keeps nothing else from being read")
    func longNumbers() throws {
        let text =
            #"{"a":9223372036854775808,"b":[-9223372036854775809,18446744073709551615],"#
            + #""c":1e999,"d":-1E+999,"e":7,"f":-0.0}"#
        let value = try parse(text)
        #expect(String(decoding: value.serialized(), as: UTF8.self) == text)
        #expect(value["a"]?.double == 0x1p63 && value["b"]?.array?.first?.double == -0x1p63)
        let largest = Double.greatestFiniteMagnitude
        #expect(value["c"]?.double == largest && value["d"]?.double == -largest && value["e"] == 7)
        #expect(value["a"]?.integer == nil && value["a"]?.string == nil)
        let digits = String(repeating: "9", count: 400)
        #expect(try parse(digits).double == largest)
        #expect(String(decoding: try parse("[\(digits)]").serialized(), as: UTF8.self) == "[\(digits)]")
        #expect(try parse("9223372036854775807") == .integer(.max))
        #expect(try parse("1e20") == .number(1e20), "what is written as a fraction or a power is no long integer")
        #expect(try parse("18446744073709551615") != parse("18446744073709551614"))
    }

    @Test(
        "bytes that are not UTF-8 are refused at every position",
        arguments: [
            [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xFF, 0x22], [0x7B, 0x7D, 0x80],
        ])
    func invalidUTF8(text: [UInt8]) {
        #expect(code(text) == .invalidUnicode)
    }

    @Test("U+0000 in a string value is kept")
    func nullCharacter() throws {
        #expect(try parse(#"["a\u0000b"]"#) == ["a\u{0}b"])
    }

    @Test("depth, bytes and values have a bound that is exact")
    func bounds() {
        let nested = { (depth: Int) in [UInt8](repeating: 0x5B, count: depth) + [UInt8](repeating: 0x5D, count: depth) }
        #expect(code(nested(32)) == nil)
        #expect(code(nested(33)) == .tooDeep)
        #expect(code(nested(400_000), limits: JSONLimits(maximumValues: 1_000_000)) == .tooDeep)
        #expect(code(nested(1), limits: JSONLimits(maximumDepth: 1)) == nil)
        #expect(code(nested(2), limits: JSONLimits(maximumDepth: 1)) == .tooDeep)
        #expect(code(Array("[1]".utf8), limits: JSONLimits(maximumBytes: 3)) == nil)
        #expect(code(Array("[1] ".utf8), limits: JSONLimits(maximumBytes: 3)) == .tooLarge)
        let flat = Array(("[" + String(repeating: "{},", count: 99_998) + "{}]").utf8)
        #expect(code(flat) == .tooLarge)
        #expect(code(flat, limits: JSONLimits(maximumValues: 300_000)) == nil)
    }

    @Test("every truncation of an object is refused, with the cause")
    func truncations() {
        let text = Array(#"{"status":"succ\u00e4ss\n","error_code":-10.5e+3,"n":[null,true,{"x":false}]}"#.utf8)
        #expect(code(text) == nil)
        for length in 0..<text.count {
            #expect(code(Array(text[..<length])) == .truncated, "the first \(length) bytes")
        }
    }

    @Test("an error does not quote the text")
    func noQuotes() {
        let planted = #"{"refreshtoken":"hunter2-planted" hunter2-planted}"#
        do throws(JSONError) {
            _ = try JSONValue(parsing: Array(planted.utf8))
            Issue.record("was accepted")
        } catch {
            #expect(!error.description.contains("hunter2"))
        }
    }
}
