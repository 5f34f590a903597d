// SPDX-License-Identifier: Apache-2.0

/// A session has ended here, and at its provider where that could be told.
struct SignedOutResult: CommandResult {
    let profile: String
    let revoked: Bool

    var text: String { "Signed out." }
}
