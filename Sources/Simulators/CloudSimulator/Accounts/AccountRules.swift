// SPDX-License-Identifier: Apache-2.0

/// The rules for names, passwords and locales.
enum AccountRules {
    enum NameProblem { case missing, email, phone }

    /// An e-mail address, or `+` and the figures of a phone number.
    static func problem(ofName name: String?) -> NameProblem? {
        guard let name, !name.isEmpty else { return .missing }
        if name.hasPrefix("+") { return isPhone(name) ? nil : .phone }
        return isEmail(name) ? nil : .email
    }

    static func isEmail(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[0].isEmpty && text.utf8.count <= User.maximumName
            && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "\u{7F}" && !$0.properties.isWhitespace }
            && parts[1].split(separator: ".", omittingEmptySubsequences: false).count > 1
            && parts[1].split(separator: ".", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
    }

    /// E.164: up to 15 figures.
    static func isPhone(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst()
        return text.hasPrefix("+") && (7...15).contains(digits.count)
            && digits.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// 8 to 256 characters, no white space, an upper-case and a lower-case letter and a figure.
    static func accepts(password: String) -> Bool {
        (8...256).contains(password.count) && !password.contains(where: \.isWhitespace)
            && password.contains(where: \.isUppercase) && password.contains(where: \.isLowercase)
            && password.contains(where: { $0.isASCII && $0.isNumber })
    }

    /// `en`, `en-us`, or `no_locale`.
    static func accepts(locale: String) -> Bool {
        if locale == noLocale { return true }
        let parts = locale.lowercased().utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return (1...2).contains(parts.count)
            && parts.allSatisfy { $0.count == 2 && $0.allSatisfy { (0x61...0x7A).contains($0) } }
    }

    static let noLocale = "no_locale"
}
