// SPDX-License-Identifier: Apache-2.0
import RainCore

/// An address that signs a browser in, once: the one secret that this command is there to print.
struct WebSessionResult: CommandResult {
    let profile: String
    let url: Secret
    /// In seconds.
    let expiresIn = 60

    private enum CodingKeys: String, CodingKey {
        case profile, url
        case expiresIn = "expires_in"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(profile, forKey: .profile)
        try container.encode(url.revealString(), forKey: .url)
        try container.encode(expiresIn, forKey: .expiresIn)
    }

    var text: String { url.revealString() }
}
