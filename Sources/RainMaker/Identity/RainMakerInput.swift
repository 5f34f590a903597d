// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

/// The RainMaker cloud's rules for user input. Input that breaks one is not sent.
enum RainMakerInput {
    static let passwordRule =
        "a password needs 8 to 256 characters, with an upper case letter, a lower case letter, a digit and no spaces"
    private static let codeRule = "a code has six digits"
    static let phoneNumberRule = "a telephone number must begin with + and the country code, such as +15550100"
    static let nameRule = "a name has 1 to 256 characters"
    static let tagRule = "a tag has the form key:value"
    private static let userNameRule =
        "a user name must be an e-mail address, or a telephone number that begins with + and the country code"
    private static let localeRule = "a locale looks like en or en-us"

    /// Checks the user name for a sign-up or for turning a guest into an account. Sign-in accepts any name, because the cloud knows its
    /// users.
    static func check(userName: String) throws(AccountError) {
        if userName.hasPrefix("+") { return try check(phoneNumber: userName) }
        let parts = userName.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), isOneWord(userName), userName.utf8.count <= 256
        else {
            let remark = GivenText.remark(on: userName, as: "The user name")
            throw AccountError(.invalidUserName, message: userNameRule.because(of: remark))
        }
    }

    static func check(newPassword: Secret) throws(AccountError) {
        var characters = 0
        var hasUpper = false
        var hasLower = false
        var hasDigit = false
        var hasSpace = false
        newPassword.reveal { bytes in
            for byte in bytes {
                // The continuation bytes of UTF-8 are not characters of their own.
                if byte & 0xC0 != 0x80 { characters += 1 }
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): hasUpper = true
                case UInt8(ascii: "a")...UInt8(ascii: "z"): hasLower = true
                case UInt8(ascii: "0")...UInt8(ascii: "9"): hasDigit = true
                case 0x09...0x0D, 0x20: hasSpace = true
                default: break
                }
            }
        }
        guard 8...256 ~= characters, hasUpper, hasLower, hasDigit, !hasSpace else {
            throw AccountError(.weakPassword, message: passwordRule)
        }
    }

    static func check(code: Secret) throws(AccountError) {
        let isCode = code.reveal { bytes in
            bytes.count == 6 && bytes.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
        guard isCode else { throw AccountError(.wrongCode, message: codeRule) }
    }

    /// Checks the number by ITU-T E.164: up to 15 digits. A country code does not begin with 0.
    static func check(phoneNumber: String) throws(AccountError) {
        let digits = phoneNumber.utf8.dropFirst()
        guard phoneNumber.hasPrefix("+"), 7...15 ~= digits.count, digits.first != UInt8(ascii: "0"),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else {
            let remark = GivenText.remark(on: phoneNumber, as: "The telephone number")
            throw AccountError(.invalidPhoneNumber, message: phoneNumberRule.because(of: remark))
        }
    }

    static func check(name: String) throws(AccountError) {
        guard 1...256 ~= name.unicodeScalars.count else { throw AccountError(.invalidName, message: nameRule) }
    }

    static func check(tags: [String]) throws(AccountError) {
        for tag in tags {
            let parts = tag.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }),
                tag.unicodeScalars.allSatisfy({ $0.value >= 0x20 })
            else { throw AccountError(.invalidTag, message: tagRule) }
        }
    }

    /// Checks only the form. The cloud knows which locales exist.
    static func check(locale: String?) throws(AccountError) {
        guard let locale, locale != "no_locale" else { return }
        let parts = locale.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
        let isLocale = parts.enumerated().allSatisfy { index, part in
            (index == 0 ? 2...3 : 2...8).contains(part.utf8.count)
                && part.utf8.allSatisfy { byte in
                    (0x61...0x7A).contains(byte | 0x20) || index > 0 && (0x30...0x39).contains(byte)
                }
        }
        guard isLocale else { throw AccountError(.invalidLocale, message: localeRule) }
    }

    private static func isOneWord(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy {
            $0.value > 0x20 && !(0x7F...0x9F).contains($0.value) && !$0.properties.isWhitespace
        }
    }
}

extension RainMakerAccount {
    /// The cloud's rule for a new password, as the end of a sentence or a sentence without a full stop.
    package static var passwordRule: String { RainMakerInput.passwordRule }

    /// Throws `weakPassword` for a new password that the cloud would not accept. Sends nothing.
    package static func check(newPassword: Secret) throws(AccountError) {
        try RainMakerInput.check(newPassword: newPassword)
    }

    /// Throws `invalidUserName` or `invalidPhoneNumber` for text that cannot be a user name of the cloud. Sends nothing.
    package static func check(userName: String) throws(AccountError) {
        try RainMakerInput.check(userName: userName)
    }
}
