// SPDX-License-Identifier: Apache-2.0
import RainKit

/// A guest has become an account with a name, or that waits for the code that was sent.
struct ConversionResult: CommandResult {
    let profile: String
    let userName: String
    let userID: String?
    let converted: Bool
    let next: String?

    private enum CodingKeys: String, CodingKey {
        case profile
        case userName = "user_name"
        case userID = "user_id"
        case converted, next
    }

    /// The code was sent to `userName`.
    init(profile: String, pending userName: String) {
        (self.profile, self.userName, userID, converted) = (profile, userName, nil, false)
        next = "rainctl account convert \(userName.asShellWord) --code-stdin --password-file FILE"
    }

    init(profile: String, converted user: UserInfo) {
        (self.profile, userName, userID, converted, next) = (profile, user.userName, user.userID.rawValue, true, nil)
    }

    var text: String {
        guard let next else { return "The guest is now \(userName.onOneLine), and signed in." }
        return "A code was sent to \(userName.onOneLine). Finish with it: \(next)"
    }
}
