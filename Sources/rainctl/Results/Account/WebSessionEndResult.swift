// SPDX-License-Identifier: Apache-2.0

/// The address at which a browser's session at the provider ends.
struct WebSessionEndResult: CommandResult {
    let profile: String
    let url: String

    var text: String { url }
}
