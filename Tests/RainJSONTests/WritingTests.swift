// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Testing

@Suite("Writing JSON")
struct WritingTests {
    private let sample: JSONValue = [
        "b": 1, "a": [1.5, -0.0, 1e20, .number(.leastNonzeroMagnitude), "\u{1}\u{8}\u{1F}\"\\/\n😀é", nil, true],
        "o": .object([]),
        "n": .array([]),
        "i": .integer(.min),
    ]

    @Test("it is compact, in order, and escapes what must be escaped")
    func compact() {
        let expected =
            #"{"b":1,"a":[1.5,-0.0,1e+20,5e-324,"\u0001\b\u001f\"\\/\n😀é",null,true],"o":{},"n":[],"#
            + #""i":-9223372036854775808}"#
        #expect(String(decoding: sample.serialized(), as: UTF8.self) == expected)
    }

    @Test("json-c reads back what was written, pretty or not", arguments: [false, true])
    func roundTrip(pretty: Bool) throws {
        #expect(try JSONValue(parsing: sample.serialized(pretty: pretty)) == sample)
    }

    @Test("pretty text has a member a line")
    func pretty() {
        let value: JSONValue = ["a": [1, ["b": nil]], "e": .array([])]
        let expected = """
            {
              "a": [
                1,
                {
                  "b": null
                }
              ],
              "e": []
            }
            """
        #expect(String(decoding: value.serialized(pretty: true), as: UTF8.self) == expected)
    }

    @Test("a number that is not finite becomes null", arguments: [Double.nan, .infinity, -.infinity])
    func notFinite(number: Double) {
        #expect(JSONValue.number(number).serialized() == Array("null".utf8))
    }
}
