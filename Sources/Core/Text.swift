// SPDX-License-Identifier: Apache-2.0

/// Makes text from boards, servers and files safe to show to a person.
///
/// A terminal obeys control characters: C0, DEL and C1 (ECMA-48). Direction marks can make a name look like another one (Unicode Technical
/// Report 36, section 3.3). Both functions use the same list of these characters.
package enum ShownText {
    /// Returns plain text. It has a space for each control character, and an escape such as `\u{202E}` for each direction mark and each
    /// line separator.
    /// - Parameter keepsLines: whether line feeds remain.
    package static func plain(_ text: String, keepsLines: Bool = false) -> String {
        guard text.unicodeScalars.contains(where: { $0.effect != .none }) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.effect {
            case .control: shown.append(keepsLines && scalar == "\n" ? scalar : " ")
            case .order:
                shown.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
            // These characters join letters and emoji in many languages.
            case .none, .invisible: shown.append(scalar)
            }
        }
        return String(shown)
    }

    /// Returns an address as a person typed it, with an ellipsis instead of the user name and the password before its host.
    ///
    /// A password may contain a slash or an at sign, so more than the password may be omitted.
    package static func withoutUserInfo(_ address: String) -> String {
        let start = address.firstRange(of: "://")?.upperBound ?? address.startIndex
        // An at sign and a combining mark after it are one character.
        let scalars = address.unicodeScalars[start...]
        guard let at = scalars.lastIndex(of: "@") else { return address }
        let authority = scalars.prefix { !"/?#".unicodeScalars.contains($0) }
        let mayHavePassword = authority.contains("@") || authority.contains(":") && authority.first != "["
        return mayHavePassword ? "\(address[..<start])…\(address[at...])" : address
    }

    /// Returns JSON with an escape for each of these characters. In JSON they can occur only in strings, so the values do not change.
    ///
    /// - Parameter text: well-formed JSON. Its C0 controls are between the values, or already escaped.
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

/// Text functions for messages.
extension String {
    /// A name of ASCII letters in snake case: `wrongProofOfPossession` becomes `wrong_proof_of_possession`, and `baseURLPath` becomes
    /// `base_url_path`.
    package var snakeCased: String {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        guard utf8.contains(where: capitals.contains) else { return self }
        let letters = Array(utf8)
        func isCapital(_ index: Int) -> Bool { capitals ~= letters[index] }
        var name: [UInt8] = []
        for (index, letter) in letters.enumerated() {
            guard isCapital(index) else {
                name.append(letter)
                continue
            }
            // Several capitals are one word, which ends before the last of them if a small letter follows.
            let isBeforeSmall = index + 1 < letters.count && UInt8(ascii: "a")...UInt8(ascii: "z") ~= letters[index + 1]
            if index > 0, !isCapital(index - 1) || isBeforeSmall { name.append(UInt8(ascii: "_")) }
            name.append(letter | 0x20)
        }
        return String(decoding: name, as: UTF8.self)
    }

    /// Whether the text is empty or only white space.
    package var isBlank: Bool { allSatisfy(\.isWhitespace) }

    /// The text with a capital first letter and a full stop at the end. A host or path at the beginning keeps its spelling.
    package var asSentence: String {
        guard let first, let last else { return self }
        let ended = ".!?".contains(last) ? self : self + "."
        let word = prefix { $0 != " " }
        let isWord = word != "localhost" && word.allSatisfy { $0.isLetter || "-,'".contains($0) }
        return first.isLowercase && isWord ? first.uppercased() + ended.dropFirst() : ended
    }

    /// Text from a board, a server or a file, made safe for one line of a terminal. Control characters become spaces, and at most 300
    /// Unicode scalars are kept. For a language model it is shorter (``ForeignText``).
    package var onOneLine: String {
        if let limit = ForeignText.limit { return ForeignText.cleaned(self, maximumLength: limit) }
        // A text of at most 300 bytes has no more scalars, and need not be copied.
        if utf8.count <= 300 { return withoutControls }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(300))).withoutControls
    }

    /// The whole text, made safe to show (``ShownText``).
    package var withoutControls: String { ShownText.plain(self) }

    /// The whole text with its line feeds, made safe to show.
    package var linesWithoutControls: String { ShownText.plain(self, keepsLines: true) }

    /// The text as one word of a command that is printed for copying. Control characters are replaced too.
    package var asShellWord: String { ShellWord.quoted(withoutControls) }
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

/// Reads text from a file that a person has written, in the encodings of editors of several systems.
public enum FileText {
    /// The reason why bytes are not the expected text. The description completes a sentence that begins with the file's name.
    public enum Fault: Error, Hashable, CustomStringConvertible {
        /// The text is encoded as UTF-16, has NUL bytes, or has more lines than one; or the bytes are a picture, or no text at all.
        case utf16, nul, severalLines, picture, binary

        public var description: String {
            switch self {
            case .utf16: "it is UTF-16 text: save it as UTF-8"
            case .nul: "it has NUL bytes, like text in UTF-16: save it as UTF-8"
            case .picture: "it is a picture, not text"
            case .binary: "it is not text"
            case .severalLines: "it has more than one line, but only one is expected"
            }
        }
    }

    /// Returns a document, such as JSON, without the byte order mark that some editors put at the beginning.
    ///
    /// Throws ``Fault/utf16``, ``Fault/nul``, ``Fault/picture`` and ``Fault/binary``.
    public static func document(_ bytes: [UInt8]) throws(Fault) -> [UInt8] {
        let text = try withoutMark(bytes[...])
        return text.count == bytes.count ? bytes : Array(text)
    }

    /// Returns the one line of a file that contains only a secret, without a byte order mark and without line ends.
    ///
    /// Spaces at both ends remain, because they are allowed in passwords. Nothing is copied. Throws ``Fault/severalLines`` too.
    public static func secret(_ bytes: ArraySlice<UInt8>) throws(Fault) -> ArraySlice<UInt8> {
        var line = try withoutMark(bytes)
        while let last = line.last, isLineEnd(last) { line.removeLast() }
        guard !line.contains(where: isLineEnd) else { throw .severalLines }
        return line
    }

    private static func withoutMark(_ bytes: ArraySlice<UInt8>) throws(Fault) -> ArraySlice<UInt8> {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { throw .utf16 }
        if pictures.contains(where: { bytes.starts(with: $0) }) { throw .picture }
        guard !bytes.contains(0) else {
            throw isLikeUTF16(bytes) || String(validating: bytes, as: UTF8.self) != nil ? .nul : .binary
        }
        return bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes
    }

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// The first bytes of PNG, JPEG and GIF.
    private static let pictures: [[UInt8]] = [
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A], [0xFF, 0xD8, 0xFF], Array("GIF87a".utf8), Array("GIF89a".utf8),
    ]
    /// Whether every other byte is mostly zero, as in UTF-16 of an alphabet.
    private static func isLikeUTF16(_ bytes: ArraySlice<UInt8>) -> Bool {
        var zeros = (even: 0, odd: 0)
        for (position, byte) in bytes.enumerated() where byte == 0 {
            if position.isMultiple(of: 2) { zeros.even += 1 } else { zeros.odd += 1 }
        }
        return min(zeros.even, zeros.odd) == 0 && max(zeros.even, zeros.odd) * 3 >= bytes.count
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }
}

/// Quotes words of commands that are printed for copying, and names for shell completion.
package enum ShellWord {
    /// Returns a text as one word for sh, bash, zsh and fish, whatever its content (POSIX, "Quoting").
    ///
    /// Backslashes are outside the quotes, because fish reads them inside too. Unicode scalars are compared, because a quote and a
    /// combining mark after it are one `Character`.
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

    /// Whether every shell reads a text unchanged. At the beginning, `=` names a program in zsh.
    package static func isPlain(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.first != UInt8(ascii: "=")
            && text.utf8.allSatisfy {
                $0.isASCIILetterOrDigit
                    || "/._-+@:,=%".utf8.contains($0)
            }
    }
}

extension Int {
    /// Returns the number with its noun: `1 board`, `2 boards`.
    package func counting(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
