// SPDX-License-Identifier: Apache-2.0

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
