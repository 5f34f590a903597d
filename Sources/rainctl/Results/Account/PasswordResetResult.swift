// SPDX-License-Identifier: Apache-2.0

/// A forgotten password has been replaced, or that waits for the code that was sent.
struct PasswordResetResult: CommandResult {
    let profile: String
    let userName: String
    let reset: Bool
    let next: String?

    private enum CodingKeys: String, CodingKey {
        case profile
        case userName = "user_name"
        case reset, next
    }

    init(profile: String, userName: String, isReset: Bool) {
        (self.profile, self.userName, reset) = (profile, userName, isReset)
        next =
            isReset
            ? nil : "rainctl account password reset \(userName.asShellWord) --code-file FILE --new-password-stdin"
    }

    var text: String {
        let user = userName.onOneLine
        guard let next else { return "The new password is set. Sign in: rainctl login \(userName.asShellWord)" }
        return "A code was sent to \(user). Set the new password with it: \(next)"
    }
}
