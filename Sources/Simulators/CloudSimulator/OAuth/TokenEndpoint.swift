// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// `POST /token`: exchanges codes, refresh tokens and passwords for tokens (RFC 6749, 4.1.3, 6 and 4.3).
extension CloudAPI {
    func token(_ call: Call) -> Response {
        let hasBasic = call.request.header("Authorization") != nil
        do throws(OAuthFailure) {
            let form = try OAuthParameters(form: call.request)
            let client = try authenticatedClient(call.request, form)
            var response: Response
            switch try form.required("grant_type") {
            case "authorization_code": response = try redeem(form, client)
            case "refresh_token": response = try renew(form, client)
            case "password": response = try signIn(form, client)
            default: throw OAuthFailure(.unsupportedGrantType, "The grant type is not supported")
            }
            response.headers = OAuthFailure.uncached
            return response
        } catch {
            var response = error.response(status: error.code == .invalidClient && hasBasic ? 401 : 400)
            if response.status == 401 { response.headers.append(.init("WWW-Authenticate", "Basic realm=\"token\"")) }
            return response
        }
    }

    /// Authenticates by `client_id` and `client_secret` in the body, or by HTTP Basic (RFC 6749, 2.3.1), not both.
    private func authenticatedClient(_ request: Request, _ form: OAuthParameters) throws(OAuthFailure) -> OAuthClient {
        var (id, secret) = (form["client_id"], form["client_secret"])
        if let header = request.header("Authorization") {
            guard secret == nil, let credentials = BasicCredentials(header, isFormEncoded: true),
                id == nil || id == credentials.user
            else {
                throw OAuthFailure(.invalidClient, "The client's authentication is not understood")
            }
            (id, secret) = (credentials.user, credentials.password.isEmpty ? nil : credentials.password)
        }
        guard let id else { throw OAuthFailure(.invalidRequest, "client_id is missing") }
        guard let client = options.oauthClients.first(where: { $0.id == id }), client.accepts(secret: secret) else {
            throw OAuthFailure(.invalidClient, "The client is unknown, or its secret is wrong")
        }
        return client
    }

    private func redeem(_ form: OAuthParameters, _ client: OAuthClient) throws(OAuthFailure) -> Response {
        let code = try form.required("code")
        let redirect = try form.required("redirect_uri")
        let verifier = form["code_verifier"]
        let now = now
        let session = makeUUID()
        let (verdict, user) = try attempt { () throws(APIError) in
            try change { state -> (AuthorizationGrants.Verdict, User?) in
                let verdict = state.grants.redeem(
                    code, clientID: client.id, redirectURI: redirect, verifier: verifier, session: session, at: now)
                switch verdict {
                case .granted(let grant): return (verdict, state.users[grant.userID])
                case .reused(let session):
                    state.sessions[session] = nil
                    return (verdict, nil)
                case .refused: return (verdict, nil)
                }
            }
        }
        switch verdict {
        case .refused(let reason): throw OAuthFailure(.invalidGrant, reason)
        case .reused: throw OAuthFailure(.invalidGrant, "The code was used before")
        case .granted(let grant):
            guard let user else { throw OAuthFailure(.invalidGrant, "The user is gone") }
            let begun = try attempt { () throws(APIError) in
                try beginSession(for: user, id: session, clientID: client.id, scope: grant.scope, nonce: grant.nonce)
            }
            journal.login(user: user.userName, by: grant.provider)
            return tokenResponse(begun.tokens, refreshToken: begun.refreshToken)
        }
    }

    private func renew(_ form: OAuthParameters, _ client: OAuthClient) throws(OAuthFailure) -> Response {
        let token = try form.required("refresh_token")
        let renewed: (tokens: TokenIssuer.Tokens, refreshToken: String?)
        do throws(APIError) {
            renewed = try renew(token, clientID: client.id)
        } catch {
            guard error.status < 500 else { throw OAuthFailure(.serverError, error.description) }
            throw OAuthFailure(.invalidGrant, "The refresh token is unknown, expired, revoked or used before")
        }
        return tokenResponse(renewed.tokens, refreshToken: renewed.refreshToken)
    }

    /// The password grant, which deployments without `login2` offer.
    private func signIn(_ form: OAuthParameters, _ client: OAuthClient) throws(OAuthFailure) -> Response {
        let name = try form.required("username")
        let password = try form.required("password")
        guard let user = readState({ $0.user(named: name) }), user.accepts(password: password), user.isConfirmed,
            !user.needsSecondStep
        else { throw OAuthFailure(.invalidGrant, "Incorrect user name or password") }
        let begun = try attempt { () throws(APIError) in
            try beginSession(for: user, clientID: client.id, scope: form["scope"] ?? ReceivedAuthorization.defaultScope)
        }
        journal.login(user: user.userName, by: "password")
        return tokenResponse(begun.tokens, refreshToken: begun.refreshToken)
    }

    private func tokenResponse(_ tokens: TokenIssuer.Tokens, refreshToken: String?) -> Response {
        let rotated: [JSONValue.Member] = refreshToken.map { [.init("refresh_token", .string($0))] } ?? []
        return Response(
            .object(
                [.init("id_token", .string(tokens.id)), .init("access_token", .string(tokens.access))] + rotated + [
                    .init("expires_in", .integer(options.accessLifetime.components.seconds)),
                    .init("token_type", "Bearer"),
                ]))
    }

    private func attempt<Result>(_ body: () throws(APIError) -> Result) throws(OAuthFailure) -> Result {
        do throws(APIError) {
            return try body()
        } catch {
            throw OAuthFailure(.serverError, error.description)
        }
    }
}

/// A user's consent, for which the application has not fetched the tokens yet.
struct AuthorizationGrant: Codable, Sendable, Equatable {
    var userID: String
    var clientID: String
    /// The token request must repeat it exactly (RFC 6749, 4.1.3).
    var redirectURI: String
    /// `S256` of the verifier that must come with the code (RFC 7636); nil if the application gave none.
    var challenge: String?
    var nonce: String?
    var scope: String
    /// How the user signed in: `Cognito`, or the identity provider's name.
    var provider: String
    var expiresAt: Int64
    /// The session that began with the code; set once the code was used.
    var sessionID: String?
}

/// The issued authorization codes, by their hashes. A value without a clock; times are in milliseconds.
struct AuthorizationGrants: Codable, Sendable, Equatable {
    fileprivate enum Verdict: Equatable {
        case granted(AuthorizationGrant)
        /// Unknown, expired, of another client or redirect URI, or without the right verifier.
        case refused(String)
        /// Used before: the session that began with it must end (RFC 6749, 4.1.2).
        case reused(sessionID: String)
    }

    /// The maximum number of codes. Beyond it the oldest are dropped.
    private static let maximum = 100

    private var grants: [String: AuthorizationGrant] = [:]

    mutating func issue(_ grant: AuthorizationGrant, code: String, at now: Int64) {
        grants = grants.filter { $0.value.expiresAt > now }
        if grants.count >= Self.maximum, let oldest = grants.min(by: { $0.value.expiresAt < $1.value.expiresAt }) {
            grants[oldest.key] = nil
        }
        grants[Self.key(code)] = grant
    }

    /// A code can be tried once, right or wrong, so that the holder of a stolen code cannot try verifiers.
    fileprivate mutating func redeem(
        _ code: String, clientID: String, redirectURI: String, verifier: String?, session: String, at now: Int64
    ) -> Verdict {
        let key = Self.key(code)
        guard var grant = grants[key], grant.expiresAt > now else { return .refused("The code is unknown or expired") }
        guard grant.clientID == clientID else { return .refused("The code was issued to another client") }
        if let session = grant.sessionID { return .reused(sessionID: session) }
        guard grant.redirectURI == redirectURI else {
            grants[key] = nil
            return .refused("redirect_uri is not the one that the code was issued for")
        }
        guard Self.proves(verifier, grant.challenge) else {
            grants[key] = nil
            return .refused("code_verifier does not match")
        }
        grant.sessionID = session
        grants[key] = grant
        return .granted(grant)
    }

    /// RFC 7636, 4.6. A verifier without a challenge is refused as well (RFC 9700, 2.1.1): an attacker may have removed the challenge.
    private static func proves(_ verifier: String?, _ challenge: String?) -> Bool {
        switch (verifier, challenge) {
        case (nil, nil): return true
        case (let verifier?, let challenge?):
            guard (43...128).contains(verifier.utf8.count) else { return false }
            let hash = Base64.urlText(OpenSSLHashes.sha256(Array(verifier.utf8)))
            return equalInConstantTime(Array(hash.utf8), Array(challenge.utf8))
        default: return false
        }
    }

    private static func key(_ code: String) -> String { Hex.text(OpenSSLHashes.sha256(Array(code.utf8))) }
}
