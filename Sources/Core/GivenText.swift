// SPDX-License-Identifier: Apache-2.0

/// Remarks on names and values that people gave: characters that nobody sees, or that do not belong to the value.
///
/// A remark is for the error of a lookup that found nothing, or of a value that was refused. Do not refuse a text because of a remark:
/// names may contain such characters.
package enum GivenText {
    /// An invisible character, and the visible text before it.
    package struct Invisible: Sendable, Equatable {
        /// The text before the character.
        package var before: String
        /// The character.
        package var scalar: Unicode.Scalar
        /// The part of the text that has the character, between separators such as `.`, `=` and `:`.
        package var piece: String

        /// The end of a sentence about the text: `contains an invisible character (U+200B) after "Light"`.
        var predicate: String {
            let digits = String(scalar.value, radix: 16, uppercase: true)
            let number = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            let shown = String(String.UnicodeScalarView(before.unicodeScalars.suffix(30))).onOneLine
            let place = before.isEmpty ? "at its beginning" : "after \"\(shown)\""
            return "contains an invisible character (U+\(number)) \(place)"
        }
    }

    /// Returns a sentence about the first unusual thing in a text, such as
    /// `The given name contains an invisible character (U+200B) after "Light". Type it again.` Nil if there is nothing unusual.
    ///
    /// - Parameter name: the text's name in the sentence, with a capital article, such as `The given name`.
    package static func remark(on text: String, as name: String) -> String? {
        let scalars = text.unicodeScalars
        guard let first = scalars.first, let last = scalars.last else { return nil }
        if last == "\r" {
            return
                "\(name) ends with a carriage return, because the script or the file of variables has Windows line endings."
        }
        if let found = invisible(in: text) { return "\(name) \(found.predicate). Type it again." }
        if scalars.count > 1, let opening = text.first, let closing = text.last {
            if quotes[opening] == closing, !typographicQuotes.contains(first) {
                return "\(name) is in quotation marks, which belong to the value. Remove them."
            }
            if opening == "<", closing == ">" {
                return "\(name) is in angle brackets, which belong to the value. Remove them."
            }
        }
        if typographicQuotes.contains(first) {
            return "\(first) is a typographic quotation mark, so type ' or \" instead."
        }
        guard !text.isBlank else { return nil }
        let ends = [first == " " ? "begins" : nil, last == " " ? "ends" : nil].compactMap(\.self)
        return ends.isEmpty ? nil : "\(name) \(ends.joined(separator: " and ")) with a space."
    }

    /// Returns the first invisible character of a text; nil if all characters are visible.
    package static func invisible(in text: String) -> Invisible? {
        var previous: Unicode.Scalar?
        let scalars = text.unicodeScalars
        for index in scalars.indices {
            let scalar = scalars[index]
            defer { previous = scalar }
            guard isInvisible(scalar, after: previous) else { continue }
            let start = scalars[..<index].lastIndex(where: isSeparator).map(scalars.index(after:)) ?? scalars.startIndex
            let end = scalars[index...].firstIndex(where: isSeparator) ?? scalars.endIndex
            return Invisible(before: String(scalars[..<index]), scalar: scalar, piece: String(scalars[start..<end]))
        }
        return nil
    }

    /// Quotation marks, and the marks that close them.
    static let quotes: [Character: Character] = [
        "\"": "\"", "'": "'", "`": "`", "\u{201C}": "\u{201D}", "\u{2018}": "\u{2019}", "\u{AB}": "\u{BB}",
    ]

    /// Quotation marks that no shell knows.
    private static let typographicQuotes: Set<Unicode.Scalar> = [
        "\u{201C}", "\u{201D}", "\u{201E}", "\u{2018}", "\u{2019}", "\u{AB}",
    ]

    private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "=", ".", ":", ",", "/", "<", ">", "!": true
        default: false
        }
    }

    /// - Parameter previous: the character before it. The two joiners belong to letters and emoji of many languages, but not to ASCII.
    private static func isInvisible(_ scalar: Unicode.Scalar, after previous: Unicode.Scalar?) -> Bool {
        switch scalar.value {
        case 0xA0, 0xAD, 0x061C, 0x180E, 0x2000...0x200B, 0x200E...0x200F, 0x2028...0x202F, 0x205F...0x2064,
            0x2066...0x206F, 0xFEFF:
            true
        case 0x200C...0x200D: previous?.isASCII ?? true
        default: false
        }
    }
}
