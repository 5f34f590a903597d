// SPDX-License-Identifier: Apache-2.0

/// The accounts on this machine.
struct AccountListResult: CommandResult {
    let accounts: [Entry]
    /// Whether the lines say at which deployment each is.
    let showsProfile: Bool

    private enum CodingKeys: CodingKey { case accounts }

    var text: String { accounts.map { $0.line(showsProfile: showsProfile) }.joined(separator: "\n") }

    struct Entry: Encodable, Sendable {
        let profile: String
        let account: String
        let userName: String
        let userID: String
        let store: String
        let current: Bool

        private enum CodingKeys: String, CodingKey {
            case profile, account
            case userName = "user_name"
            case userID = "user_id"
            case store, current
        }

        fileprivate func line(showsProfile: Bool) -> String {
            let place = showsProfile ? "\(profile)  " : ""
            let user = userName == account ? "" : "  \(userName.onOneLine)"
            return "\(current ? "*" : " ") \(place)\(account.onOneLine)\(user)  (\(store))"
        }
    }
}
