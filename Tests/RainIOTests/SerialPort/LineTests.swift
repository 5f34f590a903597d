// SPDX-License-Identifier: Apache-2.0
import RainIO
import Testing

@Suite("Lines of a console")
struct LineTests {
    func lines(_ chunks: [[UInt8]], limit: Int = 4096) -> [String] {
        var assembler = LineAssembler(limit: limit)
        return chunks.flatMap { assembler.append($0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("CR, LF and CR LF each end a line, wherever the bytes are split")
    func everySplit() {
        let text = Array("one\r\ntwo\nthree\r\r\n\nfour\rfive".utf8)
        for cut in 0...text.count {
            for second in cut...text.count {
                let chunks = [Array(text[..<cut]), Array(text[cut..<second]), Array(text[second...])]
                #expect(lines(chunks) == ["one", "two", "three", "four"])
            }
        }
    }

    @Test("the unfinished line can be seen")
    func pending() {
        var assembler = LineAssembler()
        #expect(assembler.append("ready\r\n>> ".utf8).count == 1)
        #expect(assembler.pending == Array(">> ".utf8))
        assembler.clear()
        #expect(assembler.pending.isEmpty)
    }

    @Test("a line over the limit is cut there, and the next one is whole")
    func limit() {
        #expect(lines([Array("0123456789\nabc\n".utf8)], limit: 4) == ["0123", "abc"])
        var assembler = LineAssembler(limit: 2)
        _ = assembler.append("abc".utf8)
        #expect(assembler.isOverflowing)
    }

    @Test(
        "terminal escapes go, everything else stays",
        arguments: [
            ("\u{1B}[0;32mI (24) boot: ready\u{1B}[0m", "I (24) boot: ready"),
            ("plain", "plain"), ("\u{1B}[", ""), ("\u{1B}", ""), ("a\u{1B}[1;31", "a"), ("\u{1B}[2Ktext", "text"),
            ("\u{1B}ctext", "text"), ("\u{1B}[?25hx", "x"), ("a\u{1B}\u{1B}[0mb", "ab"),
        ])
    func escapes(line: String, expected: String) {
        #expect(String(decoding: removingTerminalEscapes(Array(line.utf8)), as: UTF8.self) == expected)
    }
}
