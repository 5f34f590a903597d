// SPDX-License-Identifier: Apache-2.0

/// A board has forgotten Wi-Fi settings that failed.
struct ResetResult: CommandResult {
    let reset = true

    var text: String { "The board has forgotten its last Wi-Fi settings." }
}
