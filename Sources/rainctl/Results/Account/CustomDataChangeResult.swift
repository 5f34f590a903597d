// SPDX-License-Identifier: Apache-2.0

/// A value was kept with the account, or removed.
struct CustomDataChangeResult: CommandResult {
    enum Change { case kept, removed }

    let change: Change
    let profile: String
    let key: String

    private enum CodingKeys: CodingKey { case profile, key }

    var text: String {
        switch change {
        case .kept: "Kept under \(key.onOneLine)."
        case .removed: "Removed \(key.onOneLine)."
        }
    }
}
