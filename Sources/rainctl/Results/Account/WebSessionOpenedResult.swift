// SPDX-License-Identifier: Apache-2.0

/// A browser was opened at the address that signs it in.
struct WebSessionOpenedResult: CommandResult {
    let profile: String
    let opened = true

    var text: String { "" }
}
