// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

/// Names of accounts that a server or a file supplies. They come back in lists, in completions and in commands that are printed.
enum AccountName {
    /// Characters by which shells do more than take a word (POSIX, "Quoting"). Some may be in an e-mail address (RFC 5322, 3.2.3): the user
    /// can still give such a name, or another one.
    private static let metacharacters = Set("`$\\\"';&|<>(){}[]*?!#~^".unicodeScalars)

    static func isSafe(_ name: String) -> Bool {
        ShownText.plain(name) == name && name.first != "-" && name.first != "="
            && !name.unicodeScalars.contains(where: metacharacters.contains)
    }

    /// - Throws: an error with that code if a shell or a terminal may obey the name.
    static func check(_ name: String, from source: String, _ code: AccountError.Code) throws(AccountError) {
        guard !isSafe(name) else { return }
        throw AccountError(
            code,
            message:
                "the user name \"\(presentable(name))\" from \(source) has characters that a shell or a terminal obeys, so it was not kept",
            remedies: [.accountName])
    }

    /// A name made of the id that a provider gave the user, such as `auth0|5f7c8e`.
    static func made(from id: String) -> String {
        var name = String.UnicodeScalarView()
        for scalar in ShownText.plain(id).unicodeScalars {
            name.append(metacharacters.contains(scalar) || scalar == " " ? "-" : scalar)
        }
        return name.first == "-" || name.first == "=" ? "user\(String(name))" : String(name)
    }
}
