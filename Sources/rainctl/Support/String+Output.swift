// SPDX-License-Identifier: Apache-2.0
extension String {
    /// `wrongProofOfPossession` as `wrong_proof_of_possession`.
    var snakeCased: String {
        reduce(into: "") { result, character in
            if character.isUppercase { result += "_" }
            result += character.lowercased()
        }
    }

    /// With a capital letter in front and a full stop behind.
    var asSentence: String {
        guard let first, let last else { return self }
        let ended = ".!?".contains(last) ? self : self + "."
        return first.isLowercase ? first.uppercased() + ended.dropFirst() : ended
    }

    /// Text from a board, a server or a file, made safe for one line of a terminal: control characters become spaces, at most 300 characters.
    var onOneLine: String { String(String.UnicodeScalarView(unicodeScalars.prefix(300))).withoutControls }

    /// The whole text with a space for each control character. Names from boards, servers and files may hold escape sequences, which a
    /// terminal would obey.
    var withoutControls: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) ? " " : $0 }))
    }
}
