// SPDX-License-Identifier: Apache-2.0
extension String {
    /// `wrongProofOfPossession` as `wrong_proof_of_possession`.
    var snakeCased: String {
        reduce(into: "") { result, character in
            if character.isUppercase { result += "_" }
            result += character.lowercased()
        }
    }

    /// Empty, or white space alone.
    var isBlank: Bool { allSatisfy(\.isWhitespace) }

    /// With a capital letter in front and a full stop behind. A host or a path in front keeps its spelling.
    var asSentence: String {
        guard let first, let last else { return self }
        let ended = ".!?".contains(last) ? self : self + "."
        let word = prefix { $0 != " " }
        let isWord = word != "localhost" && word.allSatisfy { $0.isLetter || "-,'".contains($0) }
        return first.isLowercase && isWord ? first.uppercased() + ended.dropFirst() : ended
    }

    /// Text from a board, a server or a file, made safe for one line of a terminal: control characters become spaces, at most 300 characters.
    var onOneLine: String { String(String.UnicodeScalarView(unicodeScalars.prefix(300))).withoutControls }

    /// The whole text with a space for each control character. Names from boards, servers and files may hold escape sequences, which a
    /// terminal would obey. Characters that turn the direction of text around, and so may show another name than the one that is meant
    /// (Unicode Technical Report 36, section 3.3), are written as `\u{202E}`.
    var withoutControls: String {
        var shown = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x7F...0x9F: shown.append(" ")
            case 0x202A...0x202E, 0x2066...0x2069:
                shown.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
            default: shown.append(scalar)
            }
        }
        return String(shown)
    }
}
