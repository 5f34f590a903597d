// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// Makes the tokens of a sign-in or a refresh, and finds the user of an access token.
struct TokenIssuer: Sendable {
    let signer: JSONWebTokenSigner
    /// How long an access token and an id token are good.
    let lifetime: Duration
    let issuer: String

    /// The OAuth client id of the phone apps; it is the token's audience.
    static let clientID = "1h7ujqjs8140n17v0ahb4n51m2"

    struct Tokens {
        var id: String
        var access: String
    }

    struct Access {
        var userID: String
        var sessionID: String
        var tokenID: String
        var generation: Int64
        /// Seconds since 1970.
        var expiresAt: Int64
    }

    /// - Parameter nonce: the client's nonce, which the id token repeats (OpenID Connect Core, 2).
    func issue(
        for user: User, in session: Session, nonce: String? = nil, at now: Int64
    ) throws(SimulatorError) -> Tokens {
        let seconds = now / 1000
        let expires = seconds + lifetime.components.seconds
        let common: [JSONValue.Member] = [
            .init("sub", .string(user.id)), .init("iss", .string(issuer)), .init("origin_jti", .string(session.id)),
            .init("auth_time", .integer(session.startedAt / 1000)), .init("iat", .integer(seconds)),
            .init("exp", .integer(expires)), .init("jti", .string(makeUUID())), .init("event_id", .string(makeUUID())),
        ]
        let contact: [JSONValue.Member] =
            user.userName.hasPrefix("+")
            ? [.init("phone_number", .string(user.userName))]
            : [.init("email", .string(user.userName)), .init("email_verified", true)]
        let id =
            common + contact + [
                .init("token_use", "id"), .init("aud", .string(session.clientID)),
                .init("cognito:username", .string(user.id)), .init("custom:user_id", .string(user.id)),
            ] + (nonce.map { [.init("nonce", .string($0))] } ?? [])
        let access =
            common + [
                .init("token_use", "access"), .init("client_id", .string(session.clientID)),
                .init("username", .string(user.id)),
                .init("scope", .string(session.scope ?? "aws.cognito.signin.user.admin")),
                .init("generation", .integer(session.generation)),
            ]
        return Tokens(id: try signer.sign(.object(id)), access: try signer.sign(.object(access)))
    }

    /// The claims of an access token that was issued here and has not expired; nil for an id token.
    func access(_ token: String, at now: Int64) -> Access? {
        guard let claims = signer.verify(token), claims["token_use"]?.string == "access",
            let user = claims["sub"]?.string, let session = claims["origin_jti"]?.string,
            let identifier = claims["jti"]?.string, let expires = claims["exp"]?.integer, now / 1000 < expires,
            let generation = claims["generation"]?.integer
        else { return nil }
        return Access(
            userID: user, sessionID: session, tokenID: identifier, generation: generation, expiresAt: expires)
    }
}
