// SPDX-License-Identifier: Apache-2.0
import RainCore

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

    /// The whole text, made safe to show (``ShownText``).
    var withoutControls: String { ShownText.plain(self) }

    /// The same for text of several lines.
    var linesWithoutControls: String { ShownText.plain(self, keepsLines: true) }

    /// One word of a command that is printed for copying. Shells may not be handed control characters, either.
    var asShellWord: String { ShellWord.quoted(withoutControls) }
}
