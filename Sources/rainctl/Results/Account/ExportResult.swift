// SPDX-License-Identifier: Apache-2.0

/// Where a session was written to.
struct ExportResult: CommandResult {
    let profile: String
    let userName: String
    let path: String

    private enum CodingKeys: String, CodingKey {
        case profile
        case userName = "user_name"
        case path
    }

    var text: String {
        "The session of \(userName.onOneLine) at \(profile) is in \(path). Whoever can read it is signed in."
    }
}
