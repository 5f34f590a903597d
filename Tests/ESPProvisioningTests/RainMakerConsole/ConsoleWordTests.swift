// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ESPProvisioning

/// Splits a line as the board does, according to its documentation. Words end at spaces, and quotes keep spaces. A backslash keeps
/// the next backslash, quote or space, and is dropped together with any other character.
private func split(_ line: [UInt8]) -> [[UInt8]] {
    var words: [[UInt8]] = []
    var word: [UInt8]?
    var isQuoted = false
    var isEscaped = false
    for byte in line {
        switch byte {
        case _ where isEscaped:
            if byte == 0x5C || byte == 0x22 || byte == 0x20 { word?.append(byte) }
            isEscaped = false
        case 0x5C:
            word = word ?? []
            isEscaped = true
        case 0x22 where isQuoted:
            words.append(word ?? [])
            word = nil
            isQuoted = false
        case 0x22 where word == nil:
            word = []
            isQuoted = true
        case 0x20 where !isQuoted:
            if let finished = word { words.append(finished) }
            word = nil
        default:
            word = (word ?? []) + [byte]
        }
    }
    if let word { words.append(word) }
    return words
}

@Suite("A word on the console")
struct ConsoleWordTests {
    @Test(
        "is typed plainly where it can be, and quoted where it must",
        arguments: [
            ("wifi-prov", "wifi-prov"), ("", "\"\""), ("My Home", "\"My Home\""), ("a\"b", "\"a\\\"b\""),
            ("back\\slash", "\"back\\\\slash\""), (" ", "\" \""), ("tab\there", "tab\there"), ("Zürich", "Zürich"),
            ("'single'", "'single'"), ("#;&|<>$`*?", "#;&|<>$`*?"),
        ])
    func typed(text: String, expected: String) {
        #expect(ConsoleWord(text).map { String(decoding: $0.typed, as: UTF8.self) } == expected)
    }

    @Test("is read back unchanged by the board, whatever its bytes")
    func roundTrip() throws {
        var random = SystemRandomNumberGenerator()
        let awkward: [UInt8] = [0x20, 0x22, 0x5C, 0x27, 0x09, 0x41, 0x7F, 0x80, 0xFF]
        for _ in 0..<2000 {
            let words = (0..<3).map { _ in
                (0..<Int.random(in: 0...8, using: &random)).map { _ in awkward.randomElement(using: &random) ?? 0x41 }
            }
            let line = try #require(ConsoleLine.make(words.compactMap { ConsoleWord($0) }))
            #expect(split(line) == words)
        }
    }

    @Test("cannot hold what ends or edits a line", arguments: [0x00, 0x08, 0x0A, 0x0D] as [UInt8])
    func unspeakable(byte: UInt8) { #expect(ConsoleWord([0x41, byte]) == nil) }

    @Test("a line may have 254 characters before its CR")
    func lineLength() throws {
        let longest = try #require(ConsoleWord([UInt8](repeating: 0x41, count: 254)))
        #expect(ConsoleLine.make([longest])?.count == 254)
        let longer = try #require(ConsoleWord([UInt8](repeating: 0x41, count: 255)))
        #expect(ConsoleLine.make([longer]) == nil)
    }
}
