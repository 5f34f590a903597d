// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Python's `json` is a parser of other people's: it must accept what we accept, with the same values.
@Suite("Agreement with Python")
struct PythonAgreementTests {
    private static let texts = [
        "0", "-0.0", "1e5", "1E-7", "123456789012345678", "18446744073709551615", "[-9223372036854775809]", "0.1",
        "1e22", "3.14159265358979", "true", "null", #""""#,
        #""\u00e9\u20ac\ud834\udd1e\/\b\f\n\r\t""#, "\"é€𝄞\u{7F}\u{2028}\"", "[]", "{}", "[[],{},[{}]]",
        #"{"b":1,"a":{"c":[1,2.5,"x"]},"é":"ü"}"#, #"{"a":1,"b":2,"a":3}"#, #"{"":{"":""}}"#, " [ 1 , 2 ] ",
        "[1,]", "{\"a\":1,}", "01", "1.", ".1", "+1", "1e", "[1 2]", "{a:1}", "'a'", "\"\t\"", "\"\\x\"", "tru", "[1}",
        "{\"a\"}", "\"", "", "//", "{}{}", "1 2", "\u{FEFF}1", "\u{B}1", "-", "--1", "0x10", "1_000", "[,]", "[1,,2]",
        #"{"a":1,,"b":2}"#, #"{"a"::1}"#, #"{1:1}"#, #""\u12g4""#, "nul", "nulll", "TRUE",
    ]

    @Test("both accept and refuse the same texts, and read the same values")
    func agreement() async throws {
        let script = """
            import json, sys
            def refuse(_): raise ValueError
            for text in json.load(sys.stdin):
                try: print(json.dumps(json.loads(text, parse_constant=refuse), ensure_ascii=False, separators=(",", ":")))
                except ValueError: print("refused")
            """
        let texts = JSONValue.array(Self.texts.map(JSONValue.string))
        let finished = try await run(
            "python3", ["-c", script], environment: ["PYTHONIOENCODING": "utf-8"],
            input: .text(String(decoding: texts.serialized(), as: UTF8.self)))
        let lines = finished.standardOutput.split(separator: "\n").map(String.init)
        try #require(lines.count == Self.texts.count)
        for (text, line) in zip(Self.texts, lines) {
            let ours = try? JSONValue(parsing: Array(text.utf8)).serialized()
            #expect(ours.map { String(decoding: $0, as: UTF8.self) } ?? "refused" == line, "\(text)")
        }
    }
}
