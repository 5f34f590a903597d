// SPDX-License-Identifier: Apache-2.0

/// An account is deleted, or that waits for the code that was sent.
struct DeletionResult: CommandResult {
    let profile: String
    let userName: String
    let deleted: Bool
    let next: String?

    private enum CodingKeys: String, CodingKey {
        case profile
        case userName = "user_name"
        case deleted, next
    }

    init(profile: String, userName: String, isDeleted: Bool) {
        (self.profile, self.userName, deleted) = (profile, userName, isDeleted)
        next = isDeleted ? nil : "rainctl account delete --code-stdin"
    }

    var text: String {
        let user = userName.onOneLine
        guard let next else { return "The account of \(user) is deleted, and you are signed out." }
        return "A code was sent to \(user). Delete the account with it: \(next)"
    }
}
