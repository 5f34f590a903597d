// SPDX-License-Identifier: Apache-2.0
import RainCore

/// A code that signs another client in, once: the one secret that this command is there to print.
struct ExchangeResult: CommandResult {
    let profile: String
    let type: String
    let forClient: String
    let code: Secret
    /// In seconds.
    let expiresIn: Double

    private enum CodingKeys: String, CodingKey {
        case profile, type
        case forClient = "for_client"
        case code
        case expiresIn = "expires_in"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(profile, forKey: .profile)
        try container.encode(type, forKey: .type)
        try container.encode(forClient, forKey: .forClient)
        try container.encode(code.revealString(), forKey: .code)
        try container.encode(expiresIn, forKey: .expiresIn)
    }

    var text: String { code.revealString() }
}
