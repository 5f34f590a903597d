// SPDX-License-Identifier: Apache-2.0
import RainKit

/// A session of the official client is rainctl's too.
struct ImportResult: CommandResult {
    let profile: String
    let baseURL: String
    let userName: String
    let userID: String
    let store: String
    let account: String?
    /// Whether commands use this deployment without being told.
    let isCurrent: Bool

    private enum CodingKeys: String, CodingKey {
        case profile
        case baseURL = "base_url"
        case userName = "user_name"
        case userID = "user_id"
        case store, account
    }

    var text: String {
        "The session of \(userName.onOneLine) at \(profile) is rainctl's too."
            + (isCurrent ? "" : " To use it: rainctl profile use \(profile)")
    }
}
