// SPDX-License-Identifier: Apache-2.0

/// The sign-in that waited has taken the address.
struct CallbackResult: CommandResult {
    let taken = true

    var text: String { "" }
}
