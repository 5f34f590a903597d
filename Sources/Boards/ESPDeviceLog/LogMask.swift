// SPDX-License-Identifier: Apache-2.0
import RainSerialPort

/// Takes the secrets out of a board's log before it is shown or kept: firmware prints the Wi-Fi password, the mapping's secret and its own
/// proof of possession in clear.
public enum LogMask {
    /// Behind the mark a secret stands, up to the end or the end of the line.
    private struct Rule {
        let mark: [UInt8]
        let end: [UInt8]?

        init(_ mark: String, _ end: String? = nil) {
            self.mark = Array(mark.utf8)
            self.end = end.map { Array($0.utf8) }
        }
    }

    private static let rules = [
        Rule("Password : "), Rule("POP : "), Rule("secret_key = "), Rule("secret_key\":\"", "\""),
        Rule("MQTT Publish: "),
        Rule("\"pop\":\"", "\""), Rule("\"pop\": \"", "\""), Rule("%22pop%22:%22", "%22"),
        Rule("%22pop%22%3A%22", "%22"),
        Rule("\"password\":\"", "\""), Rule("Network Key"), Rule("wifi-prov "), Rule("add-user "), Rule("prov-config "),
    ]
    private static let shown = Array("***".utf8)
    private static let compactCode = Array("NP:".utf8)

    /// - Parameter line: without its end. Terminal escapes are taken off, and what is no UTF-8 is replaced.
    public static func text(_ line: [UInt8]) -> String {
        // Bytes are searched, not characters: a board's log may come at 3 MB/s.
        var text = removingTerminalEscapes(line)
        // A drawn QR code holds what its text does.
        guard !isDrawnCode(text) else { return "(QR code)" }
        for rule in rules { mask(&text, rule) }
        maskCompactCode(&text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Eight of Unicode's block elements (U+2580 to U+259F).
    private static func isDrawnCode(_ text: [UInt8]) -> Bool {
        guard text.contains(0xE2) else { return false }
        return text.indices.dropLast(2)
            .count { text[$0] == 0xE2 && text[$0 + 1] == 0x96 && (0x80...0x9F).contains(text[$0 + 2]) } >= 8
    }

    private static func mask(_ text: inout [UInt8], _ rule: Rule) {
        guard let start = text[...].end(of: rule.mark), start < text.endIndex else { return }
        var end = text.endIndex
        if let mark = rule.end, let behind = text[start...].end(of: mark) { end = behind - mark.count }
        text.replaceSubrange(start..<end, with: shown)
    }

    /// `NP:name|pop|b`
    private static func maskCompactCode(_ text: inout [UInt8]) {
        let bar = UInt8(ascii: "|")
        guard let code = text[...].end(of: compactCode), let proof = text[code...].firstIndex(of: bar),
            let last = text.lastIndex(of: bar), last > proof
        else { return }
        text.replaceSubrange((proof + 1)..<last, with: shown)
    }
}

extension ArraySlice<UInt8> {
    /// Where the first place ends at which that stands.
    fileprivate func end(of mark: [UInt8]) -> Int? {
        withUnsafeBufferPointer { bytes in
            guard bytes.count >= mark.count else { return nil }
            for start in 0...(bytes.count - mark.count) where bytes[start] == mark[0] {
                var length = 1
                while length < mark.count, bytes[start + length] == mark[length] { length += 1 }
                if length == mark.count { return startIndex + start + length }
            }
            return nil
        }
    }
}
