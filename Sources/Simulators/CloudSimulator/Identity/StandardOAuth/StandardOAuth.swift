// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// OAuth 2.0 by the RFCs, for the systems that follow them: clients, codes, tokens and renewals.
///
/// A value. The system supplies the differences: names of fields, kinds of tokens, texts of pages.
struct StandardOAuth: Sendable {
    struct Client: Sendable {
        var registration: OAuthClient
        var name: String
        var grants: Set<String>
        var scopes: Set<String>
        /// Whether a code challenge is required (RFC 7636). Public clients always need one.
        var needsChallenge = false

        var id: String { registration.id }
    }

    /// The choices that the RFCs leave to a system. Lifetimes are in seconds.
    struct Rules: Sendable {
        var accessLifetime: Int64 = 3600
        var refreshLifetime: Int64 = 30 * 86_400
        var codeLifetime: Int64 = 300
        var responseTypes: Set<String> = ["code"]
        /// The scope for which the user gets a refresh token; nil if every user gets one.
        var refreshScope: String?
        /// Whether the redirect has `iss` (RFC 9207).
        var namesIssuer = false
        /// A wrong issuer instead of the right one, as in a mix-up attack (RFC 9207, 1).
        var wrongIssuer: String?
        /// Whether each use replaces the refresh token.
        var rotates = true
        /// Whether access tokens can be revoked as well (RFC 7009, 2: refresh tokens must be, access tokens should).
        var revokesAccessTokens = true
        var code: @Sendable () -> String = { opaqueToken() }
        /// Its argument is the time, in milliseconds since 1970.
        var accessToken: @Sendable (Grant, Int64) -> String = { _, _ in opaqueToken() }
        var refreshToken: @Sendable () -> String = { opaqueToken() }
    }

    /// The client, the person and the scope of tokens.
    struct Grant: Sendable, Equatable {
        var client: String
        /// Nil for a client's own token.
        var person: Int64?
        var scope: String
        /// The id that all tokens of one sign-in share.
        var login: String
        /// Seconds since 1970.
        var authenticatedAt: Int64
        var nonce: String?
        /// Values that only this system has.
        var attributes: [String: String] = [:]

        var scopes: Set<String> { Set(scope.split(separator: " ").map(String.init)) }
    }

    struct Renewal: Sendable, Equatable {
        var grant: Grant
        var isUsed = false
    }

    struct Code: Sendable {
        var grant: Grant
        var redirect: String
        var challenge: StoredChallenge?
        var isUsed = false
    }

    struct Issued: Sendable {
        var grant: Grant
        var access: String
        var refresh: String?
    }

    var rules: Rules
    private(set) var clients: [Client]
    var codes = ExpiringTable<Code>(maximum: 500)
    var accessTokens = ExpiringTable<Grant>(maximum: 2000)
    var refreshTokens = ExpiringTable<Renewal>(maximum: 2000)
    /// People who have signed in and are asked for consent, by the form's handle.
    var pending = ExpiringTable<Pending>(maximum: 200)

    init(clients: [Client], rules: Rules = Rules()) {
        self.clients = clients
        self.rules = rules
    }

    /// Adds a redirect URI to all clients.
    mutating func register(_ redirect: RegisteredRedirect) {
        for index in clients.indices { clients[index].registration.register(redirect) }
    }

    func client(_ id: String?) -> Client? { clients.first { $0.id == id } }

    // MARK: Revocation

    mutating func endLogin(_ login: String) {
        accessTokens.removeAll { $0.login == login }
        refreshTokens.removeAll { $0.grant.login == login }
    }

    mutating func expire(_ person: Person, at now: Int64) {
        accessTokens.expireAll(at: now) { $0.person == person.id }
    }

    mutating func revoke(_ person: Person) {
        accessTokens.removeAll { $0.person == person.id }
        refreshTokens.removeAll { $0.grant.person == person.id }
        codes.removeAll { $0.grant.person == person.id }
        pending.removeAll { $0.person == person.id }
    }

    /// Returns the grant of a valid access token in the header (RFC 6750).
    func grant(_ call: IdentityCall) throws(OAuthFailure) -> Grant {
        guard let token = call.bearer else { throw OAuthFailure(.invalidRequest, "No access token was given") }
        switch accessTokens.find(token, at: call.now) {
        case .good(let grant): return grant
        case .expired: throw OAuthFailure(.invalidToken, "The access token has expired")
        case .unknown: throw OAuthFailure(.invalidToken, "The access token is not known")
        }
    }
}

extension OAuthFailure {
    /// Makes the answer of a resource (RFC 6750, 3): 401 without a valid token, 403 if the token does not allow the request.
    func resourceResponse(_ body: Response? = nil) -> Response {
        var response = body ?? self.response()
        response.status = code == .insufficientScope ? 403 : 401
        let said = code == .invalidRequest ? "" : " error=\"\(code.rawValue)\", error_description=\"\(description)\""
        response.headers.append(.init("WWW-Authenticate", "Bearer" + said))
        return response
    }

    /// Makes the answer of a token endpoint: 401 for a client that used HTTP Basic with a wrong secret (RFC 6749, 5.2).
    func tokenResponse(_ call: IdentityCall) -> Response {
        let isBasic = call.request.header("Authorization") != nil && code == .invalidClient
        var response = response(status: isBasic ? 401 : 400)
        if isBasic { response.headers.append(.init("WWW-Authenticate", "Basic realm=\"token\"")) }
        return response
    }
}

/// The token endpoint (RFC 6749, 3.2), introspection (7662) and revocation (7009).
extension StandardOAuth {
    /// Handles one whole token request.
    ///
    /// - Parameters:
    ///   - form: the parameters, if they are not in the body.
    ///   - signIn: finds the person with a user name and password; nil if the system has no password grant.
    ///   - other: the system's other grants, by grant type.
    mutating func token(
        _ call: inout IdentityCall, form given: OAuthParameters? = nil,
        signIn: ((String, String) throws(OAuthFailure) -> Person)? = nil,
        other: (_ type: String, OAuthParameters, Client, inout StandardOAuth) throws(OAuthFailure) -> Grant? = {
            _, _, _, _ throws(OAuthFailure) in nil
        }
    ) throws(OAuthFailure) -> Issued {
        let form: OAuthParameters
        if let given { form = given } else { form = try OAuthParameters(form: call.request) }
        let client = try authenticatedClient(&call, form)
        let type = try form.required("grant_type")
        var kind = "unknown"
        do throws(OAuthFailure) {
            let grant: Grant
            if let own = try other(type, form, client, &self) {
                (grant, kind) = (own, type)
            } else {
                let known = ["authorization_code", "refresh_token", "client_credentials", "password"]
                guard known.contains(type), type != "password" || signIn != nil else {
                    throw OAuthFailure(.unsupportedGrantType, "The grant type is not supported")
                }
                kind = type
                guard client.grants.contains(type) else {
                    throw OAuthFailure(.unauthorizedClient, "The client may not use this grant type")
                }
                switch type {
                case "authorization_code": grant = try redeem(form, client, at: call.now)
                case "refresh_token": grant = try renew(form, client, at: call.now)
                case "password":
                    let person = try signIn!(try form.required("username"), try form.required("password"))
                    grant = try newGrant(person.id, client, form["scope"], at: call.now)
                default: grant = try newGrant(nil, client, form["scope"], at: call.now)
                }
            }
            call.note(.token, "granted") { $0.kind = kind }
            let kept = kind == "refresh_token" && !rules.rotates ? form["refresh_token"] : nil
            return issue(grant, at: call.now, keeping: kept)
        } catch {
            call.note(.token, "refused") { ($0.kind, $0.reason) = (kind, error.code.rawValue) }
            throw error
        }
    }

    /// Authenticates by HTTP Basic or in the body, not both; a public client by its name alone.
    func authenticatedClient(_ call: inout IdentityCall, _ form: OAuthParameters) throws(OAuthFailure) -> Client {
        var (id, secret) = (form["client_id"], form["client_secret"])
        if let header = call.request.header("Authorization") {
            guard secret == nil, let basic = BasicCredentials(header, isFormEncoded: true),
                id == nil || id == basic.user
            else { throw OAuthFailure(.invalidClient, "The client's authentication is not understood") }
            (id, secret) = (basic.user, basic.password.isEmpty ? nil : basic.password)
        }
        guard let id else { throw OAuthFailure(.invalidRequest, "client_id is missing") }
        guard let client = client(id) else { throw OAuthFailure(.invalidClient, "The client is not known") }
        call.client = client.id
        guard client.registration.accepts(secret: secret) else {
            throw OAuthFailure(.invalidClient, "The client's secret is wrong")
        }
        return client
    }

    /// Returns the requested scope, if the client may have it. Without a request, returns all that the client may have.
    func scope(_ asked: String?, of client: Client) throws(OAuthFailure) -> String {
        guard let asked, !asked.isEmpty else { return client.scopes.sorted().joined(separator: " ") }
        let words = asked.split(separator: " ").map(String.init)
        guard asked.utf8.count <= 1024, Set(words).isSubset(of: client.scopes) else {
            throw OAuthFailure(.invalidScope, "The scope is not one that the client may ask for")
        }
        return words.joined(separator: " ")
    }

    func newGrant(
        _ person: Int64?, _ client: Client, _ scope: String?, at now: Int64
    ) throws(OAuthFailure) -> Grant {
        Grant(
            client: client.id, person: person, scope: try self.scope(scope, of: client), login: opaqueToken(),
            authenticatedAt: now / 1000)
    }

    /// A code can be tried once by its own client, right or wrong. A second attempt revokes the tokens of the first.
    mutating func redeem(_ form: OAuthParameters, _ client: Client, at now: Int64) throws(OAuthFailure) -> Grant {
        let text = try form.required("code")
        guard let code = codes.value(text, at: now) else {
            throw OAuthFailure(.invalidGrant, "The code is unknown or expired")
        }
        guard code.grant.client == client.id else {
            throw OAuthFailure(.invalidGrant, "The code was issued to another client")
        }
        guard !code.isUsed else {
            endLogin(code.grant.login)
            throw OAuthFailure(.invalidGrant, "The code was used before")
        }
        codes.update(text) { $0.isUsed = true }
        guard form["redirect_uri"] == code.redirect else {
            throw OAuthFailure(.invalidGrant, "redirect_uri is not the one that the code was issued for")
        }
        guard proves(form["code_verifier"], code.challenge) else {
            throw OAuthFailure(.invalidGrant, "code_verifier does not match")
        }
        return code.grant
    }

    /// With rotation each use replaces the refresh token. A second use means that the token was copied, and ends its sign-in.
    mutating func renew(_ form: OAuthParameters, _ client: Client, at now: Int64) throws(OAuthFailure) -> Grant {
        let token = try form.required("refresh_token")
        guard let renewal = refreshTokens.value(token, at: now), renewal.grant.client == client.id else {
            throw OAuthFailure(.invalidGrant, "The refresh token is unknown, expired or of another client")
        }
        return try renew(token, renewal, scope: form["scope"])
    }

    mutating func renew(_ token: String, _ renewal: Renewal, scope: String?) throws(OAuthFailure) -> Grant {
        guard !renewal.isUsed else {
            endLogin(renewal.grant.login)
            throw OAuthFailure(.invalidGrant, "The refresh token was used before")
        }
        var grant = renewal.grant
        // The renewal request has no nonce (OpenID Connect Core, 12.2).
        grant.nonce = nil
        if let scope {
            let words = scope.split(separator: " ").map(String.init)
            guard Set(words).isSubset(of: grant.scopes) else {
                throw OAuthFailure(.invalidScope, "The scope is wider than what was granted")
            }
            grant.scope = words.joined(separator: " ")
        }
        if rules.rotates {
            refreshTokens.update(token) { $0.isUsed = true }
            accessTokens.removeAll { $0.login == grant.login }
        }
        return grant
    }

    /// - Parameter kept: the refresh token that stays valid, if it is not replaced.
    mutating func issue(_ grant: Grant, at now: Int64, keeping kept: String? = nil) -> Issued {
        let access = rules.accessToken(grant, now)
        accessTokens.insert(grant, key: access, until: now + rules.accessLifetime * 1000, at: now)
        if let kept { return Issued(grant: grant, access: access, refresh: kept) }
        let mayRenew = client(grant.client)?.grants.contains("refresh_token") == true
        guard grant.person != nil, mayRenew, rules.refreshScope.map({ grant.scopes.contains($0) }) != false else {
            return Issued(grant: grant, access: access)
        }
        let refresh = rules.refreshToken()
        refreshTokens.insert(Renewal(grant: grant), key: refresh, until: now + rules.refreshLifetime * 1000, at: now)
        return Issued(grant: grant, access: access, refresh: refresh)
    }

    /// RFC 6749, 5.1.
    func members(_ issued: Issued) -> [JSONValue.Member] {
        [
            .init("access_token", .string(issued.access)), .init("token_type", "Bearer"),
            .init("expires_in", .integer(rules.accessLifetime)), .init("scope", .string(issued.grant.scope)),
        ] + (issued.refresh.map { [.init("refresh_token", .string($0))] } ?? [])
    }

    // MARK: Introspection and revocation

    mutating func introspect(_ call: inout IdentityCall) throws(OAuthFailure) -> JSONValue {
        let form = try OAuthParameters(form: call.request)
        let client = try authenticatedClient(&call, form)
        let token = try form.required("token")
        let refresh = refreshTokens.value(token, at: call.now).flatMap { $0.isUsed ? nil : $0.grant }
        guard let grant = accessTokens.value(token, at: call.now) ?? refresh, grant.client == client.id,
            let end = accessTokens.end(of: token) ?? refreshTokens.end(of: token)
        else { return ["active": false] }
        return [
            "active": true, "client_id": .string(grant.client), "scope": .string(grant.scope), "token_type": "Bearer",
            "sub": .string(grant.person.map { "\($0)" } ?? grant.client), "exp": .integer(end / 1000),
        ]
    }

    /// An unknown token counts as revoked (RFC 7009, 2.2). Either token ends the sign-in.
    mutating func revoke(_ call: inout IdentityCall) throws(OAuthFailure) {
        let form = try OAuthParameters(form: call.request)
        let client = try authenticatedClient(&call, form)
        let token = try form.required("token")
        let access = accessTokens.value(token, at: call.now)
        guard rules.revokesAccessTokens || access == nil && form["token_type_hint"] != "access_token" else {
            throw OAuthFailure(.unsupportedTokenType, "Access tokens end by themselves")
        }
        let grant = access ?? refreshTokens.value(token, at: call.now)?.grant
        guard let grant, grant.client == client.id else { return }
        endLogin(grant.login)
        call.note(.logout, "done") { $0.kind = "revocation" }
    }
}
