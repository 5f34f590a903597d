// SPDX-License-Identifier: Apache-2.0

/// OAuth 2.0 by the RFCs, for the systems that follow them: clients, codes, tokens and renewals.
///
/// A value. The system supplies what differs: names of fields, kinds of tokens, texts of pages.
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
        /// Asking for this scope yields a refresh token; nil where every user gets one.
        var refreshScope: String?
        /// Whether the redirect has `iss` (RFC 9207).
        var namesIssuer = false
        /// A wrong issuer in place of the right one, as in a mix-up attack (RFC 9207, 1).
        var wrongIssuer: String?
        /// Whether each use replaces the refresh token.
        var rotates = true
        /// Whether access tokens, too, can be revoked (RFC 7009, 2: refresh tokens must be, access tokens should).
        var revokesAccessTokens = true
        var code: @Sendable () -> String = { opaqueToken() }
        /// Given the time, in milliseconds since 1970.
        var accessToken: @Sendable (Grant, Int64) -> String = { _, _ in opaqueToken() }
        var refreshToken: @Sendable () -> String = { opaqueToken() }
    }

    /// The client, the person and the scope of tokens.
    struct Grant: Sendable, Equatable {
        var client: String
        /// Nil for a client's own token.
        var person: Int64?
        var scope: String
        /// All tokens of one sign-in have it in common.
        var login: String
        /// Seconds since 1970.
        var authenticatedAt: Int64
        var nonce: String?
        /// Values of the system's own.
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

    /// Lets every client be redirected there, too.
    mutating func register(_ redirect: RegisteredRedirect) {
        for index in clients.indices { clients[index].registration.register(redirect) }
    }

    func client(_ id: String?) -> Client? { clients.first { $0.id == id } }

    // MARK: Ends

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

    /// The grant of a good access token of the header (RFC 6750).
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
    /// As a resource answers (RFC 6750, 3): 401 without a good token, 403 where it may not do that.
    func resourceResponse(_ body: Response? = nil) -> Response {
        var response = body ?? self.response()
        response.status = code == .insufficientScope ? 403 : 401
        let said = code == .invalidRequest ? "" : " error=\"\(code.rawValue)\", error_description=\"\(description)\""
        response.headers.append(.init("WWW-Authenticate", "Bearer" + said))
        return response
    }

    /// As a token endpoint answers: 401 for a client that used HTTP Basic with a wrong secret (RFC 6749, 5.2).
    func tokenResponse(_ call: IdentityCall) -> Response {
        let isBasic = call.request.header("Authorization") != nil && code == .invalidClient
        var response = response(status: isBasic ? 401 : 400)
        if isBasic { response.headers.append(.init("WWW-Authenticate", "Basic realm=\"token\"")) }
        return response
    }
}
