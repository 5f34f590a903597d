// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RainJSON

/// json-c 0.18 (Debian 13) rejects all bytes above 0x7F, so it gets escapes. Any json-c reads both forms.
@Suite("JSON that is not ASCII, for json-c 0.18")
struct EscapedTextTests {
    private func parsed(_ text: String, escaping: Bool) throws(JSONError) -> JSONValue {
        try JSONValue(parsing: Array(text.utf8), limits: .default, escapingNonASCII: escaping)
    }

    @Test(
        "the value is that of the text itself",
        arguments: [
            #"{"Küche": "🛋️ Sofa", "n": 12345678901234567890, "a": "\u00e9\ud83d\ude00é"}"#, #""é""#,
            #"["…", 1, "\\é"]"#,
            "{\"a\": \"\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}\"}",
        ])
    func values(text: String) throws {
        let value = try parsed(text, escaping: true)
        #expect(try value == parsed(text, escaping: rejectsNonASCII))
        #expect(try JSONValue(parsing: value.serialized(), limits: .default, escapingNonASCII: true) == value)
    }

    @Test(
        "an error is at its place in the text itself", arguments: [#"{"é😀": "ü" "b": 1}"#, "[\"é\",\n \"ü\" 2]", "[é]"])
    func places(text: String) throws {
        let escaped = #expect(throws: JSONError.self) { try parsed(text, escaping: true) }
        let own = #expect(throws: JSONError.self) { try parsed(text, escaping: false) }
        #expect(escaped?.message == own?.message && escaped?.offset == own?.offset, "\(String(describing: escaped))")
    }
}
