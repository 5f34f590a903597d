// SPDX-License-Identifier: Apache-2.0

/// Text from boards, servers and files, made safe to show to a person.
///
/// A terminal obeys control characters: C0, DEL and C1 (ECMA-48). Marks of direction may show another name than the one that is meant (Unicode
/// Technical Report 36, section 3.3). Both functions use the same list of these characters.
package enum ShownText {
    /// Returns plain text with a space for each control character, and an escape such as `\u{202E}` for each mark of direction and each
    /// separator of lines.
    /// - Parameter keepsLines: whether line feeds stay.
    package static func plain(_ text: String, keepsLines: Bool = false) -> String {
        guard text.unicodeScalars.contains(where: { $0.effect != .none }) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.effect {
            case .control: shown.append(keepsLines && scalar == "\n" ? scalar : " ")
            case .order:
                shown.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
            // They join letters and emoji in many languages.
            case .none, .invisible: shown.append(scalar)
            }
        }
        return String(shown)
    }

    /// Returns an address as a person typed it, with an ellipsis for the user name and the password in front of its host.
    ///
    /// A password may have a solidus or an at sign in it. So more than the password may be left out.
    package static func withoutUserInfo(_ address: String) -> String {
        let start = address.firstRange(of: "://")?.upperBound ?? address.startIndex
        // An at sign and a combining mark behind it are one character.
        let scalars = address.unicodeScalars[start...]
        guard let at = scalars.lastIndex(of: "@") else { return address }
        let authority = scalars.prefix { !"/?#".unicodeScalars.contains($0) }
        let mayHavePassword = authority.contains("@") || authority.contains(":") && authority.first != "["
        return mayHavePassword ? "\(address[..<start])…\(address[at...])" : address
    }

    /// Returns JSON with an escape for each of these characters. In JSON they can only be in strings, so the values stay the same.
    ///
    /// - Parameter text: well-formed JSON. Its C0 controls are between the values, or escaped already.
    package static func json(_ text: String) -> String {
        func isEscaped(_ scalar: Unicode.Scalar) -> Bool { scalar.effect != .none && scalar.value >= 0x20 }
        guard text.unicodeScalars.contains(where: isEscaped) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard isEscaped(scalar) else {
                shown.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            shown.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars)
        }
        return String(shown)
    }
}

extension Unicode.Scalar {
    fileprivate enum Effect { case none, control, order, invisible }

    /// All but `none` are below U+10000.
    fileprivate var effect: Effect {
        switch value {
        case 0..<0x20, 0x7F...0x9F: .control
        case 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: .order
        case 0x200B...0x200D, 0x2060...0x2065, 0xFEFF: .invisible
        default: .none
        }
    }
}

/// Reads text that a person has put into a file, as editors of several systems write it.
public enum FileText {
    /// Why bytes are not the text that was meant. The description is a part of a sentence that begins with the file.
    public enum Fault: Error, Hashable, CustomStringConvertible {
        /// The text is encoded as UTF-16, has NUL bytes, or has more lines than one.
        case utf16, nul, severalLines

        public var description: String {
            switch self {
            case .utf16: "it is UTF-16 text: save it as UTF-8"
            case .nul: "it has NUL bytes, as text in UTF-16 does: save it as UTF-8"
            case .severalLines: "it has more than one line, and only one is expected"
            }
        }
    }

    /// Returns a document, such as JSON, without the byte order mark that some editors put before UTF-8.
    ///
    /// Throws ``Fault/utf16`` and ``Fault/nul``.
    public static func document(_ bytes: [UInt8]) throws(Fault) -> [UInt8] {
        let text = try withoutMark(bytes[...])
        return text.count == bytes.count ? bytes : Array(text)
    }

    /// Returns the one line of a file that holds a secret and nothing else, without a byte order mark and without line ends behind it.
    ///
    /// Blanks at either end stay: they are legal in passwords. Nothing is copied. Throws ``Fault/severalLines`` as well.
    public static func secret(_ bytes: ArraySlice<UInt8>) throws(Fault) -> ArraySlice<UInt8> {
        var line = try withoutMark(bytes)
        while let last = line.last, isLineEnd(last) { line.removeLast() }
        guard !line.contains(where: isLineEnd) else { throw .severalLines }
        return line
    }

    private static func withoutMark(_ bytes: ArraySlice<UInt8>) throws(Fault) -> ArraySlice<UInt8> {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { throw .utf16 }
        guard !bytes.contains(0) else { throw .nul }
        return bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes
    }

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }
}

/// Words of commands that are printed for copying, and names that shells complete.
package enum ShellWord {
    /// Returns a text as one word for sh, bash, zsh and fish, whatever is in it (POSIX, "Quoting").
    ///
    /// Backslashes are outside the quotes, since fish also reads them inside. Unicode scalars are compared, as a quote and a combining mark
    /// behind it are one `Character`.
    package static func quoted(_ text: String) -> String {
        if isPlain(text) { return text }
        var inside = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'": inside += #"'\''"#
            case "\\": inside += #"'\\'"#
            default: inside.unicodeScalars.append(scalar)
            }
        }
        return "'\(inside)'"
    }

    /// Whether every shell takes a text as it is. In front, `=` names a program in zsh.
    package static func isPlain(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.first != UInt8(ascii: "=")
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || "/._-+@:,=%".utf8.contains($0)
            }
    }
}
