// SPDX-License-Identifier: Apache-2.0
import RainCore
import Testing

@Suite("A secret's text in a file")
struct SecretTextTests {
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static func utf16(_ text: String, _ isLittle: Bool) -> [UInt8] {
        text.utf16.flatMap { unit -> [UInt8] in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            return isLittle ? [low, high] : [high, low]
        }
    }

    static let files: [(bytes: [UInt8], secret: String)] = [
        (Array("hunter22".utf8), "hunter22"), (Array("hunter22\n".utf8), "hunter22"),
        (Array("hunter22\r\n".utf8), "hunter22"), (Array("hunter22\r".utf8), "hunter22"),
        (Array("hunter22\n\n".utf8), "hunter22"), (mark + Array("hunter22\r\n".utf8), "hunter22"),
        (mark + Array("correct horse".utf8), "correct horse"), (Array("  hunter22 \n".utf8), "  hunter22 "),
        (Array("\thunter22\t".utf8), "\thunter22\t"), (Array("pässword\n".utf8), "pässword"), ([], ""), (mark, ""),
        (Array("\n".utf8), ""),
        // A mark inside is a part of it.
        (Array("hunter\u{FEFF}22".utf8), "hunter\u{FEFF}22"),
    ]

    @Test("has no byte order mark and no line end, and keeps its blanks", arguments: files)
    func secret(bytes: [UInt8], secret: String) throws {
        #expect(Array(try FileText.secret(bytes[...])) == Array(secret.utf8))
    }

    static let faults: [(bytes: [UInt8], fault: FileText.Fault)] = [
        ([0xFF, 0xFE] + utf16("hunter22\r\n", true), .utf16), ([0xFE, 0xFF] + utf16("hunter22", false), .utf16),
        (utf16("hunter22", true), .nul), (utf16("hunter22", false), .nul), (Array("hunter22\0".utf8), .nul),
        ([0], .nul), (utf16("hünter22", true), .nul),
        ([0x89] + Array("PNG\r\n\u{1A}\n\0\0\0\rIHDR".utf8), .picture), ([0xFF, 0xD8, 0xFF, 0xE0, 0, 16], .picture),
        (Array("GIF89a\u{1}\0\u{1}\0".utf8), .picture), ([0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0, 0, 0xF3], .binary),
        (Array("hunter22\nsecond".utf8), .severalLines),
        (Array("hunter22\r\nsecond\r\n".utf8), .severalLines),
        (Array("\nhunter22".utf8), .severalLines), (Array("a\rb".utf8), .severalLines),
        (mark + Array("one\ntwo".utf8), .severalLines), ([0xFF, 0xFE], .utf16),
    ]

    @Test("is refused where it cannot be what was meant", arguments: faults)
    func refused(bytes: [UInt8], fault: FileText.Fault) {
        #expect(throws: fault) { try FileText.secret(bytes[...]) }
        #expect(!"\(fault)".isEmpty)
    }

    @Test("documents lose the mark alone")
    func documents() throws {
        #expect(try FileText.document(Self.mark + Array("{\n}\n".utf8)) == Array("{\n}\n".utf8))
        #expect(throws: FileText.Fault.utf16) { try FileText.document([0xFF, 0xFE] + Self.utf16("{}", true)) }
        #expect(throws: FileText.Fault.nul) { try FileText.document(Self.utf16("{}", true)) }
    }

    static let remarks: [(secret: String, words: String?)] = [
        ("hunter22", nil), ("correct horse", nil), ("", nil), ("\"", nil), ("{x", nil), ("don't", nil),
        (" hunter22", "begins with white space"), ("hunter22 ", "ends with white space"),
        (" hunter22\t", "begins and ends with white space"), ("hunter22\u{A0}", "ends with white space"),
        ("\u{200B}hunter22", "begins with white space"), ("\u{FEFF}hunter22", "begins with white space"),
        ("\"hunter22\"", "quotation marks"), ("'hunter22'", "quotation marks"),
        ("\u{201C}hunter22\u{201D}", "quotation marks"),
        (#"{"password":"hunter22"}"#, "JSON"), (#"hunter22\n"#, "backslash"),
        ("PASSWORD=hunter22", "NAME=value"), ("wifi_2=\"hunter22\"", "NAME=value"),
        ("export POP=hunter22", "NAME=value"),
        ("hunter22=", nil), ("aHVudGVyMjI==", nil), ("=hunter22", nil), ("2=hunter22", nil), ("hunter-22=a", nil),
        ("hunter 22=a", nil),
    ]

    @Test("what may not have been meant is described, and not quoted", arguments: remarks)
    func remark(secret: String, words: String?) {
        let remark = Secret(secret).remark(as: "Wi-Fi password")
        #expect((remark == nil) == (words == nil), "\(remark ?? "")")
        if let words, let remark {
            #expect(remark.contains(words) && remark.hasPrefix("The given Wi-Fi password") && remark.hasSuffix("."))
            #expect(!remark.contains("hunter22"))
        }
    }

    @Test("a secret in another encoding than UTF-8 is described as one")
    func latin1() {
        let remark = Secret([0x68, 0xFC, 0x6E, 0x74, 0x65, 0x72]).remark(as: "password")
        #expect(remark?.contains("is not UTF-8") == true, "\(remark ?? "")")
        #expect(Secret("h\u{FC}nter").remark(as: "password") == nil)
    }

    static let messages: [(message: String, whole: String)] = [
        ("It is wrong.", "It is wrong: the key is short."), ("It is wrong", "It is wrong: the key is short."),
        ("It is refused: check it. Try again.", "It is refused: the key is short. Check it. Try again."),
        (#""A: b. c" is refused: check it."#, #""A: b. c" is refused: the key is short. Check it."#),
        ("It is refused. Try: again.", "It is refused: the key is short. Try: again."),
    ]

    @Test("a message names the remark in its first sentence", arguments: messages)
    func because(message: String, whole: String) {
        #expect(message.because(of: "The key is short.") == whole)
        #expect(message.because(of: nil) == message)
    }
}
