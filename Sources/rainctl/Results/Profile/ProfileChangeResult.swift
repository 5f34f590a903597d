// SPDX-License-Identifier: Apache-2.0

/// A deployment was added, removed, or is in use from now on.
struct ProfileChangeResult: CommandResult {
    enum Change { case added, removed, inUse }

    let change: Change
    let profile: String

    private enum CodingKeys: CodingKey { case profile }

    var text: String {
        switch change {
        case .added: "Added. To use it: rainctl profile use \(profile)"
        case .removed: "Removed \(profile)."
        case .inUse: "Using \(profile)."
        }
    }
}
