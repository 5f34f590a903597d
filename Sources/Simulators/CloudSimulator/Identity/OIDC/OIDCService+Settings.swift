// SPDX-License-Identifier: Apache-2.0
import RainJSON

extension OIDCService {
    mutating func change(_ settings: Fields) throws(APIError) {
        for member in settings.value.members ?? [] {
            switch member.name {
            case "wrong":
                guard !member.value.isNull else {
                    wrong = nil
                    continue
                }
                guard let wrong = member.value.string.flatMap(Wrong.init) else { throw .invalidBody }
                self.wrong = wrong
            case "rotate": oauth.rules.rotates = try settings.bool("rotate") ?? true
            case "revokes_access_tokens":
                oauth.rules.revokesAccessTokens = try settings.bool("revokes_access_tokens") ?? true
            case "offers_keys": offers.keys = try settings.bool("offers_keys") ?? true
            case "offers_revocation": offers.revocation = try settings.bool("offers_revocation") ?? true
            case "offers_end_session": offers.endSession = try settings.bool("offers_end_session") ?? true
            case "end_session_ends_tokens":
                offers.endSessionEndsTokens = try settings.bool("end_session_ends_tokens") ?? true
            // A new key, and the old one is not published any more. The same algorithm again makes a new key as well.
            case "signing_algorithm":
                guard let algorithm = member.value.string.flatMap(JSONWebTokenSigner.Algorithm.init),
                    let signer = try? JSONWebTokenSigner(generating: algorithm)
                else { throw .invalidBody }
                self.signer = signer
            default: throw .invalidBody
            }
        }
        oauth.rules.wrongIssuer = wrong == .issuer ? "https://evil.example" : nil
    }
}
