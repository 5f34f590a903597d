// SPDX-License-Identifier: Apache-2.0
import RainIO

/// Takes the secrets out of a board's log before it is shown or kept: firmware prints the Wi-Fi password, the mapping's secret and its own
/// proof of possession in clear.
///
/// A secret is recognised by the name before it (pop, password, passphrase, secret, …) in any case and with any punctuation, as each
/// application has a spelling of its own.
public enum LogMask {
    static let shown = Array("***".utf8)

    /// - Parameter line: without its end. Terminal escapes are removed, and bytes that are not UTF-8 are replaced.
    public static func text(_ line: [UInt8]) -> String { masked(line).text }

    /// The line without its secrets, and whether it ends behind the name of one, whose value then is the next line.
    static func masked(_ line: [UInt8]) -> (text: String, awaitsValue: Bool) {
        // Bytes are searched, not characters: a board's log may come at 3 MB/s.
        var text = removingTerminalEscapes(line)
        // A drawn QR code holds what its text does.
        guard !isDrawnCode(text) else { return ("(QR code)", false) }
        for mark in positions {
            guard let start = text.endOfFirst(mark), start < text.endIndex else { continue }
            text.replaceSubrange(start..., with: shown)
        }
        maskCompactCode(&text)
        var search = SecretSearch(text)
        search.run()
        return (String(decoding: search.result, as: UTF8.self), search.awaitsValue)
    }

    /// Behind these everything is secret: commands whose arguments have no names, and messages that hold several secrets.
    private static let positions = [
        "MQTT Publish: ", "Network Key", "wifi-prov ", "add-user ", "prov-config ", "CWJAP", "CWSAP",
    ].map { Array($0.utf8) }

    /// Eight of Unicode's block elements (U+2580 to U+259F).
    private static func isDrawnCode(_ text: [UInt8]) -> Bool {
        guard text.contains(0xE2) else { return false }
        return text.indices.dropLast(2)
            .count { text[$0] == 0xE2 && text[$0 + 1] == 0x96 && (0x80...0x9F).contains(text[$0 + 2]) } >= 8
    }

    /// `NP:name|pop|b`, and the same as a part of a URL: `NP%3Aname%7Cpop%7Cb`.
    private static func maskCompactCode(_ text: inout [UInt8]) {
        for (code, bar) in [("NP:", "|"), ("NP:", "%7C"), ("NP%3A", "%7C"), ("np%3a", "%7c")] {
            let bar = Array(bar.utf8)
            guard let start = text.endOfFirst(Array(code.utf8)), let proof = text.endOfFirst(bar, from: start),
                let last = (proof..<text.endIndex).last(where: { text[$0...].starts(with: bar) })
            else { continue }
            text.replaceSubrange(proof..<last, with: shown)
        }
    }
}

extension [UInt8] {
    /// Where the first place ends that has this mark.
    func endOfFirst(_ mark: [UInt8], from start: Int = 0) -> Int? {
        withUnsafeBufferPointer { bytes in
            guard bytes.count - start >= mark.count else { return nil }
            for begin in start...(bytes.count - mark.count) where bytes[begin] == mark[0] {
                var length = 1
                while length < mark.count, bytes[begin + length] == mark[length] { length += 1 }
                if length == mark.count { return begin + length }
            }
            return nil
        }
    }
}
