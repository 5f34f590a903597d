// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Testing

private struct Node: Codable, Equatable {
    struct Point: Codable, Equatable { var x: Double, y: Float }
    enum Kind: String, Codable { case light, fan }
    var zulu: Int
    var alpha: String?
    var kind: Kind
    var points: [Point]
    var extra: JSONValue
    var labels: [String: UInt8]
    var code: LenientInteger
    var flags: [Bool?]
}

@Suite("Codable models")
struct CodingTests {
    private let node = Node(
        zulu: -7, alpha: nil, kind: .fan, points: [.init(x: 1.5, y: 2)], extra: ["b": [1, nil], "a": 2],
        labels: ["k": 255],
        code: LenientInteger(101_009), flags: [true, nil, false])

    @Test("a model becomes JSON in the order of its members, and comes back")
    func roundTrip() throws {
        let text = try JSONCoder.encode(node)
        let expected =
            #"{"zulu":-7,"kind":"fan","points":[{"x":1.5,"y":2.0}],"extra":{"b":[1,null],"a":2},"#
            + #""labels":{"k":255},"code":101009,"flags":[true,null,false]}"#
        #expect(String(decoding: text, as: UTF8.self) == expected)
        #expect(try JSONCoder.decode(Node.self, from: text) == node)
    }

    @Test("an integer may be written as a number or as digits, and as nothing else")
    func lenient() throws {
        for text in [#"[101009]"#, #"["101009"]"#] {
            #expect(try JSONCoder.decode([LenientInteger].self, from: Array(text.utf8)) == [LenientInteger(101_009)])
        }
        for text in [#"["10x"]"#, #"[""]"#, #"[true]"#, #"[1.5]"#, #"[null]"#, #"[[]]"#] {
            #expect(throws: JSONError.self) { try JSONCoder.decode([LenientInteger].self, from: Array(text.utf8)) }
        }
    }

    @Test(
        "a text that does not fit says which member, and not its value",
        arguments: [
            (#"{"x":1}"#, JSONError.Code.missing, "\"[0].y\" is missing"),
            (#"{"x":"hunter2","y":1}"#, .typeMismatch, "\"[0].x\" is not a number"),
            (#"{"x":null,"y":1}"#, .missing, "\"[0].x\" is null and should be a number"),
            (#"7"#, .typeMismatch, "\"[0]\" is not an object"),
        ])
    func mismatch(text: String, code: JSONError.Code, message: String) {
        do throws(JSONError) {
            _ = try JSONCoder.decode([Node.Point].self, from: Array("[\(text)]".utf8))
            Issue.record("was accepted")
        } catch {
            #expect(error.code == code)
            #expect(error.message.hasPrefix(message))
            #expect(!error.message.contains("hunter2"))
        }
    }

    @Test("integers that do not fit the model's type are refused", arguments: ["256", "-1", "1.5", "\"1\"", "true"])
    func narrow(text: String) {
        #expect(throws: JSONError.self) { try JSONCoder.decode([UInt8].self, from: Array("[\(text)]".utf8)) }
    }

    @Test("types that can hold an integer beyond Int64 read it, and a model writes it back unchanged")
    func longIntegers() throws {
        let text = Array(#"[18446744073709551615]"#.utf8)
        #expect(try JSONCoder.decode([UInt64].self, from: text) == [.max])
        #expect(throws: JSONError.self) { try JSONCoder.decode([Int64].self, from: text) }
        #expect(throws: JSONError.self) { try JSONCoder.decode([LenientInteger].self, from: text) }
        #expect(try JSONCoder.decode([Double].self, from: text) == [0x1p64])
        #expect(try JSONCoder.encode(JSONCoder.decode([JSONValue].self, from: text)) == text)
        let members = Array(#"{"extra":{"id":-99999999999999999999}}"#.utf8)
        #expect(try JSONCoder.encode(JSONCoder.decode([String: JSONValue].self, from: members)) == members)
    }

    @Test("what JSON cannot express is an error with its place")
    func unencodable() {
        do throws(JSONError) {
            _ = try JSONCoder.encode(["n": [1, Double.nan]])
            Issue.record("was accepted")
        } catch {
            #expect(error == JSONError(.unencodable, "\"n[1]\" cannot be written as JSON"))
        }
        #expect(throws: JSONError.self) { try JSONCoder.encode([UInt64.max]) }
    }

    @Test("a member that the model does not know is ignored, and a repeated one counts last")
    func leniency() throws {
        let text = #"{"x":1,"new":[{}],"y":2,"x":3}"#
        #expect(try JSONCoder.decode(Node.Point.self, from: Array(text.utf8)) == .init(x: 3, y: 2))
    }
}
