// SPDX-License-Identifier: Apache-2.0

/// The password is another one, and no session is left.
struct PasswordChangedResult: CommandResult {
    let profile: String
    let userName: String

    private enum CodingKeys: String, CodingKey {
        case profile
        case userName = "user_name"
    }

    var text: String {
        "The password is changed and all your sessions have ended. Sign in: rainctl login \(userName.asShellWord)"
    }
}
