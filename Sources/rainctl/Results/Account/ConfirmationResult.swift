// SPDX-License-Identifier: Apache-2.0

/// A new account is confirmed, or waits for the code that was sent.
struct ConfirmationResult: CommandResult {
    let profile: String
    let userName: String
    let confirmed: Bool
    let next: String?

    private enum CodingKeys: String, CodingKey {
        case profile
        case userName = "user_name"
        case confirmed, next
    }

    init(profile: String, userName: String, isConfirmed: Bool) {
        (self.profile, self.userName, confirmed) = (profile, userName, isConfirmed)
        next = isConfirmed ? nil : Self.next(userName)
    }

    /// The command that takes the code.
    static func next(_ userName: String) -> String { "rainctl account confirm \(userName.asShellWord) --code-stdin" }

    var text: String {
        let user = userName.onOneLine
        guard let next else {
            return "The account of \(user) is confirmed. Sign in: rainctl login \(userName.asShellWord)"
        }
        return "A code was sent to \(user). Confirm the account with it: \(next)"
    }
}
