// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// OCLC's authorization servers: the legacy one, with institutions and signed requests, and the current one beside it.
struct OCLCService: IdentityService {
    /// Twenty minutes less one second, as OCLC's sample application received it.
    static let accessLifetime: Int64 = 1199
    static let refreshLifetime: Int64 = 604_799
    static let institutions = ["128807": "OCLC WorldShare Sandbox Institution", "91475": "Another Library"]
    static let serviceScopes: Set<String> = ["WMS_NCIP", "WorldCatMetadataAPI"]

    /// The secret of the key. It signs requests; without it a client cannot renew.
    static let key = "wskey-1"
    static let secret = "wskey-1-secret"
    /// The institutions whose data the key may read.
    static let contexts: Set<String> = [ownContext]
    /// The institution of a request to the current service that names none, as keys of one institution need not name it.
    static let ownContext = "128807"

    var people = People.known
    var oauth: StandardOAuth
    /// Nonces of signed requests; each is accepted once.
    var nonces = ExpiringTable<Bool>(maximum: 5000)

    /// Whether errors are in the fragment of the redirect, as tokens are.
    var putsErrorsInFragment = false
    /// Whether numbers are text, and names in camel case, as the other server spells them.
    var usesOtherSpelling = false
    /// Whether a refresh token is renewed by the key's name alone.
    var allowsMobileRefresh = false
    /// Whether resources want the principal beside the token.
    var requiresPrincipal = false

    init() {
        let redirects = ["oclcApp://user_agent_flow", "oclcapp://user_agent_flow", "http://127.0.0.1/callback"]
        let registration = OAuthClient(
            id: Self.key, secret: Self.secret, redirects: redirects.compactMap { RegisteredRedirect($0) })
        let client = StandardOAuth.Client(
            registration: registration, name: "Library app",
            grants: ["authorization_code", "implicit", "refresh_token", "client_credentials"],
            scopes: Self.serviceScopes.union(["refresh_token"]).union(Self.institutions.keys.map { "context:\($0)" }))
        var rules = StandardOAuth.Rules(
            accessLifetime: Self.accessLifetime, refreshLifetime: Self.refreshLifetime,
            responseTypes: ["code", "token"], refreshScope: "refresh_token", rotates: false)
        rules.accessToken = { _, _ in "tk_" + alphanumericToken(36) }
        rules.refreshToken = { "rt_" + alphanumericToken(36) }
        rules.code = { "auth_" + alphanumericToken(36) }
        oauth = StandardOAuth(clients: [client], rules: rules)
    }

    // MARK: Routing

    mutating func answer(_ call: inout IdentityCall) -> Response {
        let parts = call.parts
        switch (call.method, parts.first, parts.count) {
        case ("GET", "oauth2", 2) where parts[1] == "authorizeCode",
            ("POST", "oauth2", 2) where parts[1] == "authorizeCode":
            return authorize(&call, isLegacy: true, institution: call.request.query("authenticatingInstitutionId"))
        case ("POST", "oauth2", 2) where parts[1] == "accessToken": return legacyToken(&call)
        case ("GET", "auth", 1), ("POST", "auth", 1): return authorize(&call, isLegacy: false, institution: nil)
        case ("GET", "auth", 2), ("POST", "auth", 2):
            return authorize(&call, isLegacy: false, institution: percentDecoded(Substring(parts[1])))
        case ("POST", "token", 1): return currentToken(&call)
        case (_, "bib", _), (_, "ncip", _), (_, "worldcat", _): return resource(parts, &call)
        default: return OCLCFailure(404, "There is no such resource").response(call)
        }
    }

    /// A person's principal id and the namespace of that id.
    static func principal(of person: Person) -> (id: String, namespace: String) {
        ("p-\(person.screenName)", "urn:oclc:platform:\(institution(of: person))")
    }

    static func institution(of person: Person) -> String { person.screenName == "bob" ? "91475" : "128807" }

    // MARK: Requests of tests

    func person(named name: String) -> Person? { people.named(name) }

    func user(ofAccessToken token: String, at now: Int64) -> TokenUser? {
        guard let person = oauth.accessTokens.value(token, at: now)?.person.flatMap({ people[$0] }) else { return nil }
        return TokenUser(id: Self.principal(of: person).id, email: person.email)
    }

    mutating func expire(_ person: Person, at now: Int64) { oauth.expire(person, at: now) }
    mutating func revoke(_ person: Person) { oauth.revoke(person) }

    mutating func change(_ settings: Fields) throws(APIError) {
        for member in settings.value.members ?? [] {
            switch member.name {
            case "errors_in_fragment": putsErrorsInFragment = try settings.bool(member.name) ?? false
            case "other_spelling": usesOtherSpelling = try settings.bool(member.name) ?? false
            case "mobile_refresh": allowsMobileRefresh = try settings.bool(member.name) ?? false
            case "requires_principal": requiresPrincipal = try settings.bool(member.name) ?? false
            default: throw .invalidBody
            }
        }
    }

    func failure(status: Int) -> Response { OCLCFailure(status, reasonPhrase(status)).body(details: "") }
}

/// `{"code":{"type":"http","value":"401"},"message","details"}`.
struct OCLCFailure: Error, Equatable {
    var status: Int
    var message: String

    init(_ status: Int, _ message: String) { (self.status, self.message) = (status, message) }

    init(_ failure: OAuthFailure) {
        self.init(failure.code == .invalidClient || failure.code == .invalidToken ? 401 : 400, failure.description)
    }

    /// The details repeat the whole `Authorization` header, as OCLC's do: a program that logs them logs a signature or a token.
    func response(_ call: IdentityCall) -> Response {
        let header =
            call.request.header("Authorization").map { "Authorization header: \($0)" } ?? "No Authorization header"
        return body(details: header)
    }

    func body(details: String) -> Response {
        Response(
            status: status,
            content: .json([
                "code": ["type": "http", "value": .string("\(status)")], "message": .string(message),
                "details": .string(details),
            ]), headers: OAuthFailure.uncached)
    }
}
