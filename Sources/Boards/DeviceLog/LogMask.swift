// SPDX-License-Identifier: Apache-2.0
import RainIO

/// Removes secrets from a board's log before it is shown or stored: firmware prints the Wi-Fi password, the mapping's secret and its own
/// proof of possession in clear.
///
/// A secret is recognised by the name before it (pop, password, passphrase, secret, …), in any case and with any punctuation, because each
/// application spells it differently.
public enum LogMask {
    static let shown = Array("***".utf8)

    /// - Parameter line: without its end. Terminal escapes are removed, and bytes that are not UTF-8 are replaced.
    public static func text(_ line: [UInt8]) -> String { masked(line).text }

    /// Returns the line without its secrets. `awaitsValue`: the line ends after a secret's name, so the next line is the value.
    static func masked(_ line: [UInt8]) -> (text: String, awaitsValue: Bool) {
        // Searches bytes, not characters: a board's log may arrive at 3 MB/s.
        var text = removingTerminalEscapes(line)
        // A drawn QR code contains the same secrets as its text.
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

    /// Everything after these is secret: they are commands whose arguments have no names, and messages with several secrets.
    private static let positions = [
        "MQTT Publish: ", "Network Key", "wifi-prov ", "add-user ", "prov-config ", "CWJAP", "CWSAP",
    ].map { Array($0.utf8) }

    /// Whether the line contains eight of Unicode's block elements (U+2580 to U+259F).
    private static func isDrawnCode(_ text: [UInt8]) -> Bool {
        guard text.contains(0xE2) else { return false }
        return text.indices.dropLast(2)
            .count { text[$0] == 0xE2 && text[$0 + 1] == 0x96 && (0x80...0x9F).contains(text[$0 + 2]) } >= 8
    }

    /// Masks the proof in `NP:name|pop|b`, and in the same text as a part of a URL: `NP%3Aname%7Cpop%7Cb`.
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
    /// Returns the end of the first occurrence of `mark`.
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

/// Finds names of secrets in a line and replaces the values after them.
///
/// Between a name and its value there may be the rest of a compound name (`secret_key`), a remark (`password (8 characters):`), quotation
/// marks of either side, and `:`, `=`, `>`, `|` or a dash. A value in quotation marks ends with them; any other value ends with the line. A
/// name without punctuation has a value if the next word looks like one.
struct SecretSearch {
    /// The line without the values.
    private(set) var result: [UInt8] = []
    /// Whether the line ends where a value should begin.
    private(set) var awaitsValue = false
    private let text: [UInt8]
    private var index = 0

    init(_ text: [UInt8]) {
        self.text = text
        result.reserveCapacity(text.count)
    }

    mutating func run() {
        while index < text.count {
            guard let end = endOfName(at: index), let value = SecretValue(text, name: index..<end) else {
                result.append(text[index])
                index += 1
                continue
            }
            result += text[index..<value.place.lowerBound]
            awaitsValue = value.place.lowerBound == text.count
            if !value.place.isEmpty { result += LogMask.shown }
            index = value.place.upperBound
        }
    }

    /// Returns the end of a secret's name that begins at `start`.
    private func endOfName(at start: Int) -> Int? {
        let names = SecretName.all[Int(text[start].lowercased)]
        return names.lazy.compactMap { $0.end(in: text, at: start) }.first
    }
}

/// A name that firmware prints before a secret.
private struct SecretName {
    /// In lower case.
    let bytes: [UInt8]
    /// Whether the name also counts as a part of a word (`wifiPassword`). A short name counts only as a whole word.
    let isLong: Bool

    /// The names by their first byte, which excludes most places in a line.
    static let all: [[SecretName]] = {
        let long = [
            "password", "passphrase", "pass phrase", "pass-phrase", "pass_phrase", "passwd", "passcode", "secret",
            "credential", "proof of possession", "proof-of-possession", "proof_of_possession", "proofofpossession",
            "private key", "private_key", "privatekey", "service key", "service_key", "servicekey", "network_key",
            "networkkey", "api key", "api_key", "apikey", "pre-shared key", "wpa key", "wifi key", "wifi_key",
        ]
        var table = [[SecretName]](repeating: [], count: 256)
        for name in long { table[Int(name.utf8.first!)].append(SecretName(bytes: Array(name.utf8), isLong: true)) }
        for name in ["pop", "psk", "pwd", "pass", "token"] {
            table[Int(name.utf8.first!)].append(SecretName(bytes: Array(name.utf8), isLong: false))
        }
        return table
    }()

    func end(in text: [UInt8], at start: Int) -> Int? {
        let end = start + bytes.count
        guard end <= text.count else { return nil }
        for offset in bytes.indices where text[start + offset].lowercased != bytes[offset] { return nil }
        if isLong { return end }
        // A capital after a small letter also begins a word: `wifiPop`.
        let begins = start == 0 || !text[start - 1].isLetter || text[start].isCapital && !text[start - 1].isCapital
        let ends = end == text.count || !text[end].isLetter || text[end].isCapital && !text[end - 1].isCapital
        return begins && ends ? end : nil
    }
}

/// The value after a name.
private struct SecretValue {
    /// Empty, at the line's end, if the value is in the next line.
    let place: Range<Int>

    /// The maximum length of a remark between name and value.
    private static let longestRemark = 24
    private static let quotes = [
        ("\\\"", "\\\""), ("\"", "\""), ("'", "'"), ("`", "`"), ("%22", "%22"), ("%27", "%27"),
        ("\u{201C}", "\u{201D}"), ("&quot;", "&quot;"),
    ].map { (opening: Array($0.0.utf8), closing: Array($0.1.utf8)) }
    private static let separators = [":", "=", ">", "|", "%3A", "%3a", "%3D", "%3d", "\u{2192}", "\u{FF1A}"].map {
        Array($0.utf8)
    }
    private static let encodedBlank = Array("%20".utf8)
    /// Words that are not a value, after a name without punctuation or after "is".
    private static let plainWords: Set = [
        "wrong", "incorrect", "invalid", "required", "empty", "correct", "missing", "not", "too", "set", "ok", "null",
        "valid", "needed", "disabled", "enabled", "is", "was", "for", "from", "of", "or", "and", "to", "in", "attempts",
    ]

    /// Nil if no text after the name looks like a value.
    init?(_ text: [UInt8], name: Range<Int>) {
        var start = name.lowerBound
        // The beginning of the word, without the digits of a percent-encoded byte.
        while start > 0, text[start - 1].isWord, start < 3 || text[start - 3] != UInt8(ascii: "%") { start -= 1 }
        let isMember = Self.quotes.contains { text[..<start].suffix($0.opening.count).elementsEqual($0.opening) }
        var end = name.upperBound
        while end < text.count, text[end].isWord { end += 1 }
        if isMember, let quote = Self.quote(in: text, at: end) { end += quote.closing.count }
        if let separator = Self.separator(in: text, from: end, isMember: isMember) {
            place = Self.value(in: text, from: separator, isMember: isMember)
            return
        }
        let isOption = start > 0 && text[start - 1] == UInt8(ascii: "-")
        guard let bare = Self.bareWord(in: text, from: end, isCertain: isOption) else { return nil }
        place = bare
    }

    /// Returns the end of the separator after a name that ends at `end`.
    private static func separator(in text: [UInt8], from end: Int, isMember: Bool) -> Int? {
        var at = end
        var depth = 0
        while at < text.count, at - end <= longestRemark {
            if depth == 0 {
                if let found = separators.first(where: { text[at...].starts(with: $0) }) {
                    at += found.count
                    // `=>`, `->`, `:=`
                    while at < text.count, text[at] == UInt8(ascii: ">") || text[at] == UInt8(ascii: "=") { at += 1 }
                    return at
                }
                let isBehindBlank = at > end && text[at - 1].isBlank
                if isBehindBlank, text[at] == UInt8(ascii: "-"), at + 1 < text.count, text[at + 1].isBlank {
                    return at + 1
                }
                if !isMember, at == end || isBehindBlank, quote(in: text, at: at) != nil { return at }
            }
            switch text[at] {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "<"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
            case let byte where byte.isWord || byte.isBlank || depth > 0: break
            // `->`
            case UInt8(ascii: "-") where at + 1 < text.count && text[at + 1] == UInt8(ascii: ">"): break
            default: return nil
            }
            at += 1
        }
        return nil
    }

    private static func value(in text: [UInt8], from separator: Int, isMember: Bool) -> Range<Int> {
        var start = separator
        while start < text.count {
            if text[start].isBlank {
                start += 1
            } else if text[start...].starts(with: encodedBlank) {
                start += encodedBlank.count
            } else {
                break
            }
        }
        guard start < text.count else { return text.count..<text.count }
        if let quote = quote(in: text, at: start) {
            start += quote.opening.count
            return start..<endOfQuoted(in: text, from: start, quote.closing)
        }
        // A number in JSON.
        guard isMember else { return start..<text.count }
        let end = text[start...].firstIndex { [UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")].contains($0) }
        return start..<(end ?? text.count)
    }

    private static func endOfQuoted(in text: [UInt8], from start: Int, _ closing: [UInt8]) -> Int {
        var at = start
        while at < text.count {
            if text[at...].starts(with: closing) { return at }
            // The byte after a backslash belongs to the value.
            at += text[at] == UInt8(ascii: "\\") ? 2 : 1
        }
        return text.count
    }

    /// Returns the value in texts such as `PoP abcd1234`, `password is hunter22`, `PoP (abcd1234)`, `--pop swordfish`.
    private static func bareWord(in text: [UInt8], from end: Int, isCertain: Bool) -> Range<Int>? {
        guard var word = Self.word(in: text, from: end) else { return nil }
        var isCertain = isCertain
        if ["is", "was"].contains(lower(text[word])) {
            guard let next = Self.word(in: text, from: word.upperBound) else { return nil }
            (word, isCertain) = (next, true)
        }
        guard !plainWords.contains(lower(text[word])) else { return nil }
        let looksLikeValue = word.count >= 4 && text[word].contains { (0x30...0x39).contains($0) }
        return isCertain || looksLikeValue ? word.lowerBound..<text.count : nil
    }

    private static func word(in text: [UInt8], from end: Int) -> Range<Int>? {
        let between = Array(" \t([<,;#*".utf8)
        guard let start = text[end...].firstIndex(where: { !between.contains($0) }), start > end else { return nil }
        let stop = text[start...].firstIndex { $0.isBlank || $0 == UInt8(ascii: ")") || $0 == UInt8(ascii: "]") }
        return start..<(stop ?? text.count)
    }

    private static func lower(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self).lowercased()
    }

    private static func quote(in text: [UInt8], at index: Int) -> (opening: [UInt8], closing: [UInt8])? {
        guard index < text.count else { return nil }
        return quotes.first { text[index...].starts(with: $0.opening) }
    }
}

extension UInt8 {
    fileprivate var lowercased: UInt8 { isCapital ? self | 0x20 : self }
    fileprivate var isCapital: Bool { (0x41...0x5A).contains(self) }
    fileprivate var isLetter: Bool { isCapital || (0x61...0x7A).contains(self) }
    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 }
    /// Whether this is a letter, a digit, `_` or `.`, the characters of compound names.
    fileprivate var isWord: Bool { isLetter || (0x30...0x39).contains(self) || self == 0x5F || self == 0x2E }
}
