// SPDX-License-Identifier: Apache-2.0

/// A deployment was added, removed, or is in use from now on.
struct ProfileChangeResult: CommandResult {
    enum Change { case added, removed, inUse }

    let change: Change
    let name: String

    private enum CodingKeys: CodingKey { case name }

    var text: String {
        switch change {
        case .added: "Added. To use it: rainctl profile use \(name)"
        case .removed: "Removed \(name)."
        case .inUse: "Using \(name)."
        }
    }
}
