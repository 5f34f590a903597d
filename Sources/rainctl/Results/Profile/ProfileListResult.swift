// SPDX-License-Identifier: Apache-2.0
import RainKit

/// The deployments that there are.
struct ProfileListResult: CommandResult {
    let profiles: [Entry]

    var text: String {
        profiles.map { "\($0.current ? "*" : " ") \($0.profile)  \($0.baseURL)" }.joined(separator: "\n")
    }

    struct Entry: Encodable, Sendable {
        let profile: String
        let baseURL: String
        let current: Bool

        private enum CodingKeys: String, CodingKey {
            case profile
            case baseURL = "base_url"
            case current
        }
    }
}
