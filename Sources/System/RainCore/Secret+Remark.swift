// SPDX-License-Identifier: Apache-2.0

extension Secret {
    /// One sentence about something in the secret that a person may not have meant, for the error of whoever refused it. Nil if there is
    /// nothing of the kind. It does not quote the secret.
    ///
    /// - Parameter name: what the sentence calls it, such as `Wi-Fi password`.
    public func remark(as name: String) -> String? {
        let text = revealString()
        if text.first == "{", text.last == "}" {
            return "The \(name) that was given is JSON text: give the \(name) alone."
        }
        if let first = text.first, let last = text.last, text.utf8.count >= 2, Self.quotes[first] == last {
            return "The \(name) that was given is in quotation marks, which were sent as a part of it."
        }
        let ends = [("begins", text.unicodeScalars.first), ("ends", text.unicodeScalars.last)]
            .compactMap { (verb, scalar) -> String? in scalar.map(Self.isBlank) == true ? verb : nil }
        if !ends.isEmpty {
            return
                "The \(name) that was given \(ends.joined(separator: " and ")) with a blank, which was sent as a part of it."
        }
        if text.hasSuffix("\\n") || text.hasSuffix("\\r") {
            return "The \(name) that was given ends with a backslash and a letter, which were sent as a part of it."
        }
        return nil
    }

    private static let quotes: [Character: Character] = [
        "\"": "\"", "'": "'", "`": "`", "\u{201C}": "\u{201D}", "\u{2018}": "\u{2019}", "\u{AB}": "\u{BB}",
    ]

    /// White space, and characters without a width.
    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x20, 0xA0, 0x2000...0x200F, 0x202F, 0x205F, 0x2060, 0x3000, 0xFEFF: true
        default: false
        }
    }
}
