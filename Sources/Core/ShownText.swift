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
