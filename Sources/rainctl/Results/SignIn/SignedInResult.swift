// SPDX-License-Identifier: Apache-2.0
import RainKit

/// Somebody is signed in, and where the session is.
struct SignedInResult: CommandResult {
    let profile: String
    let signedIn = true
    let userName: String
    let userID: String
    let store: String?
    let account: String?
    /// What to say to those who might expect to stay signed in.
    let remark: String

    private enum CodingKeys: String, CodingKey {
        case profile
        case signedIn = "signed_in"
        case userName = "user_name"
        case userID = "user_id"
        case store, account
    }

    var text: String { "Signed in as \(userName.onOneLine) (user id \(userID.onOneLine)).\(remark)" }
}

extension SignedInResult {
    init(_ user: UserInfo, _ session: AccountAccess) {
        self.init(
            profile: session.name, userName: user.userName, userID: user.userID.rawValue,
            store: session.newSession?.storeName, account: session.newSession?.accountName,
            remark: session.newSession?.remark ?? "")
    }
}
