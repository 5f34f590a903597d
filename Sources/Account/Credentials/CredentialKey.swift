// SPDX-License-Identifier: Apache-2.0

/// The name of a stored session: whose it is, and at which deployment.
public struct CredentialKey: Sendable, Hashable, CustomStringConvertible {
    /// The deployment or profile that the session is for: up to 64 letters, digits, `-`, `_` and `.`.
    public let deployment: String
    /// What the account is called here, its user name as a rule; nil for the one session of a program that has no more.
    public let account: String?

    /// As a message says it.
    public var description: String { account.map { "\($0) at \(deployment)" } ?? deployment }

    /// A name for files and items, different for each key: letters, digits, and `-_.@+%`.
    ///
    /// The deployment, and behind the first `+` the account with all else escaped as in a URL (RFC 3986, 2.1).
    public let name: String

    /// File systems allow 255 bytes; endings and those of temporary files are added.
    private static let maximumNameBytes = 200

    /// - Throws: `invalidConfiguration` for a deployment that is no safe file name (letters, digits, `-`, `_` and `.` make one) and for
    ///   an account that is empty, holds control characters or is too long.
    public init(_ deployment: String, account: String? = nil) throws(AccountError) {
        guard deployment.utf8.allSatisfy({ isPlain($0) }), !deployment.isEmpty, deployment.utf8.count <= 64,
            deployment.utf8.first != UInt8(ascii: ".")
        else {
            throw AccountError(
                .invalidConfiguration,
                message: "\"\(deployment)\" cannot name a profile: use up to 64 letters, digits, - and _")
        }
        self.deployment = deployment
        self.account = account
        guard let account else {
            name = deployment
            return
        }
        let name = deployment + "+" + escaped(account)
        guard !account.isEmpty, name.utf8.count <= Self.maximumNameBytes,
            account.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else {
            throw AccountError(
                .invalidConfiguration,
                message:
                    "\"\(account.prefix(80))\" cannot name an account: use a shorter one, without control characters")
        }
        self.name = name
    }
}

private func isPlain(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-_.".utf8.contains(byte)
}

private func escaped(_ text: String) -> String {
    var bytes: [UInt8] = []
    let digits = Array("0123456789ABCDEF".utf8)
    for byte in text.utf8 {
        if isPlain(byte) || "@+".utf8.contains(byte) {
            bytes.append(byte)
        } else {
            bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}
