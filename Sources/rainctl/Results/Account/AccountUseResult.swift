// SPDX-License-Identifier: Apache-2.0

/// An account is in use from now on, at its deployment.
struct AccountUseResult: CommandResult {
    let profile: String
    let account: String

    var text: String { "Using \(account.onOneLine) at \(profile)." }
}
