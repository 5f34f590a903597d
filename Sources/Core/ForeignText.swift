// SPDX-License-Identifier: Apache-2.0

/// Names and values from boards and other users, for a reader that may take a text for an instruction: a language model.
package enum ForeignText {
    /// The maximum length of a name or a value, in Unicode scalars.
    package static let maximumLength = 64

    /// The maximum length of `onOneLine` texts in messages that this task makes; nil for the usual one.
    @TaskLocal package static var limit: Int?

    /// Returns a text of at most `maximumLength` scalars. One that is longer ends with an ellipsis.
    ///
    /// Control characters and line separators become spaces. Characters that nobody sees are left out: direction marks, tags (Unicode
    /// block E0000) and other format characters, in which an instruction could hide. Only the two that join letters and emoji remain.
    package static func cleaned(_ text: String, maximumLength: Int = maximumLength) -> String {
        var shown = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
            guard let scalar = visible(scalar) else { continue }
            if count == maximumLength {
                shown.removeLast()
                shown.append("…")
                break
            }
            shown.append(scalar)
            count += 1
        }
        return String(shown)
    }

    private static func visible(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        if 0x20...0x7E ~= scalar.value || scalar.value == 0x200C || scalar.value == 0x200D { return scalar }
        // Variation selectors without a standard meaning can carry bytes.
        if 0xE0100...0xE01EF ~= scalar.value { return nil }
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return " "
        case .format: return nil
        case .privateUse, .unassigned, .surrogate: return "\u{FFFD}"
        default: return scalar
        }
    }
}
