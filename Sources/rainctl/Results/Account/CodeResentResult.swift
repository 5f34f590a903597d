// SPDX-License-Identifier: Apache-2.0

/// The code of a sign-up was sent once more.
struct CodeResentResult: CommandResult {
    let profile: String
    let userName: String
    let next: String

    private enum CodingKeys: String, CodingKey {
        case profile
        case userName = "user_name"
        case next
    }

    init(profile: String, userName: String) {
        (self.profile, self.userName, next) = (profile, userName, ConfirmationResult.next(userName))
    }

    var text: String { "A new code was sent to \(userName.onOneLine). Confirm the account with it: \(next)" }
}
