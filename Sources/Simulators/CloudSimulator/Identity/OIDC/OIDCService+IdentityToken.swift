// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

extension OIDCService {
    /// The id token (OpenID Connect Core, 2). After a renewal it has no nonce, since no request asked for one.
    func idToken(
        _ person: Person, _ issued: StandardOAuth.Issued, _ call: IdentityCall
    ) throws(OAuthFailure) -> String {
        let claims = claims(person, issued, call)
        do throws(SimulatorError) {
            switch wrong {
            case .algorithm: return signer.unsigned(claims)
            case .signature: return try otherSigner.sign(claims, keyID: signer.keyID)
            case .key: return try otherSigner.sign(claims)
            default: return try signer.sign(claims)
            }
        } catch {
            throw OAuthFailure(.serverError, error.description)
        }
    }

    private func claims(_ person: Person, _ issued: StandardOAuth.Issued, _ call: IdentityCall) -> JSONValue {
        let grant = issued.grant
        let now = call.now / 1000
        let isRenewal = grant.nonce == nil
        let subject = wrong == .subject && isRenewal ? 1003 : person.id
        let audience: JSONValue =
            switch wrong {
            case .audience: "another"
            case .audiences: [.string(grant.client), "another"]
            default: .string(grant.client)
            }
        let hashed = wrong == .accessToken ? "another" : issued.access
        var claims: [JSONValue.Member] = [
            .init("iss", .string(wrong == .issuer ? "https://evil.example" : call.base)),
            .init("sub", .string("\(subject)")), .init("aud", audience), .init("iat", .integer(now)),
            .init("exp", .integer(wrong == .expired ? now - 600 : now + oauth.rules.accessLifetime)),
            .init("auth_time", .integer(grant.authenticatedAt)),
            .init("at_hash", .string(base64URL(Array(OpenSSLHashes.sha256(Array(hashed.utf8)).prefix(16))))),
        ]
        if wrong == .authorizedParty { claims.append(.init("azp", "another")) }
        if let nonce = grant.nonce, wrong != .noNonce {
            claims.append(.init("nonce", .string(wrong == .nonce ? "another" : nonce)))
        }
        return .object(claims + Self.claims(of: person, grant.scopes))
    }
}
