// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import RainKit
import Testing

@testable import rainctl

/// Nothing that a board, a server or a file says can steer a terminal or turn text around.
@Suite("Shown JSON and text")
struct ShownJSONTests {
    static let obeyed: [Unicode.Scalar] =
        (0..<0x20).compactMap(Unicode.Scalar.init) + (0x7F...0x9F).compactMap(Unicode.Scalar.init)
        + [0x061C, 0x200E, 0x200F].compactMap(Unicode.Scalar.init)
        + (0x2028...0x202E).compactMap(Unicode.Scalar.init) + (0x2066...0x2069).compactMap(Unicode.Scalar.init)
    static let kept = ["é", "Ж", "中文", "🏠", "👩\u{200D}🔬", "می\u{200C}خواهم", "عربي", "עברית"]

    private func isHarmless(_ text: String) -> Bool {
        !text.unicodeScalars.contains { $0 != "\n" && Self.obeyed.contains($0) }
    }

    private static var hostile: String { obeyed.reduce(into: "a") { $0 += "\($1)b" } }

    @Test("documents of nodes and accounts have an escape for each such character, and the same value")
    func documents() throws {
        let document: JSONValue = [
            "text": .string(Self.hostile), "list": [.string(Self.hostile)], "kept": .string(Self.kept.joined()),
        ]
        let member: JSONValue = .object([.init(Self.hostile.filter { $0 != "\0" }, .string("name"))])
        for value in [document, member] {
            let shown = [
                NodeDocumentResult(node: NodeID("N1"), member: "config", document: value).text,
                NodeDocumentResult(node: NodeID("N1"), member: "metadata", document: value).text,
                CustomDataResult(data: value).text, CustomDataValueResult(key: "k", value: value).text, value.compact,
            ]
            for text in shown {
                #expect(isHarmless(text), "\(text.debugDescription)")
                #expect(try JSONValue(parsing: Array(text.utf8)) == value)
            }
            let printed = JSONText.document(CustomDataResult(data: value))
            #expect(isHarmless(printed))
            #expect(try JSONValue(parsing: Array(printed.utf8))["data"] == value)
        }
    }

    @Test("each such character is escaped or a space in plain text", arguments: obeyed)
    func plain(scalar: Unicode.Scalar) {
        let shown = ShownText.plain("a\(scalar)b")
        #expect(isHarmless(shown) && !shown.contains("\n") && shown.hasPrefix("a") && shown.hasSuffix("b"))
        let lines = ShownText.plain("a\(scalar)b\nc", keepsLines: true)
        #expect(isHarmless(lines) && lines.hasSuffix("b\nc"))
        let json = ShownText.json("\"a\(scalar)b\"")
        #expect(scalar.value < 0x20 || isHarmless(json))
    }

    @Test("letters of every language stay as they are", arguments: kept)
    func languages(text: String) {
        #expect(ShownText.plain(text) == text)
    }

    @Test("a command's text is made safe where it is printed, whatever its result is")
    func everyResult() {
        struct Result: CommandResult {
            let text: String
        }
        #expect(isHarmless(Output.shown(Result(text: "one\n\(Self.hostile)\n"))))
        #expect(Output.shown(Result(text: "one\ntwo")) == "one\ntwo\n")
        #expect(Output.shown(Result(text: "")) == "")
    }
}
