// SPDX-License-Identifier: Apache-2.0

/// A sign-in waits for the code that was sent.
struct SignInPendingResult: CommandResult {
    let profile: String
    let signedIn = false
    let userName: String
    let next: String

    private enum CodingKeys: String, CodingKey {
        case profile
        case signedIn = "signed_in"
        case userName = "user_name"
        case next
    }

    var text: String { "A code was sent to \(userName.onOneLine). Sign in with it: \(next)" }
}
