// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// SPiD: accounts of a media company, with tokens for its apps and codes that let one client act for another.
///
/// A value. The names of paths and fields are those of SPiD's technical documentation.
struct SPiDService: IdentityService {
    static let accessLifetime: Int64 = 3600
    static let clientTokenLifetime: Int64 = 900
    static let refreshLifetime: Int64 = 30 * 86_400
    static let codeLifetime: Int64 = 300
    /// The lifetime of a code for another client.
    static let exchangeLifetime: Int64 = 30
    /// The lifetime of a code for a session in a browser.
    static let sessionCodeLifetime: Int64 = 60
    static let webSessionLifetime: Int64 = 86_400
    static let rememberLifetime: Int64 = 90 * 86_400

    var people = People.known
    let clients = SPiDClient.known

    var codes = ExpiringTable<SPiDCode>(maximum: 500)
    var accessTokens = ExpiringTable<SPiDGrant>(maximum: 2000)
    var refreshTokens = ExpiringTable<SPiDRenewal>(maximum: 2000)
    /// Sessions in browsers, by the `identity` cookie.
    var webSessions = ExpiringTable<Int64>(maximum: 500)
    /// The remembered people, by the `remember` cookie.
    var rememberedPeople = ExpiringTable<Int64>(maximum: 500)
    /// People who have signed in and are asked for consent, by the form's handle.
    var pending = ExpiringTable<SPiDPending>(maximum: 200)
    /// People who have registered but have not confirmed their address, by the token of the confirmation link.
    var registrations = ExpiringTable<SPiDRegistration>(maximum: 200)
    /// The people who have agreed to a client's terms.
    var agreements: Set<SPiDAgreement> = []
    /// Facebook and Google accounts, by `provider:token`.
    var thirdParties: [String: SPiDThirdPartyAccount] = [
        "facebook:fbtok": .init(person: 1001), "facebook:fb-new": .init(), "googleplus:gptok": .init(person: 1001),
        "googleplus:gp-new": .init(),
    ]
    /// Codes that were sent for sign-in without a password.
    var passwordless = ExpiringTable<SPiDPasswordless>(maximum: 200)
    /// Requests of each client in the current hour.
    var usage: [String: (hour: Int64, count: Int64)] = [:]

    /// Whether errors have the names of OAuth's draft 10.
    var usesOldErrorNames = false
    /// Whether every client gets signed answers.
    var signsEverything = false

    func client(_ id: String?) -> SPiDClient? { clients.first { $0.id == id } }

    // MARK: Routing

    mutating func answer(_ call: inout IdentityCall) -> Response {
        do throws(SPiDFailure) {
            return try route(&call)
        } catch {
            return renamed(error).response
        }
    }

    private mutating func route(_ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let parts = call.parts
        // Such a path contains a code, right or wrong.
        if parts.contains("session") { call.route = "/session/*" }
        switch (call.method, parts.first, parts.dropFirst().first) {
        case ("GET", "oauth", "authorize"):
            return redirect(to: "/flow/login", call.request.query)
        case ("POST", "oauth", "token"): return try token(&call)
        case ("POST", "oauth", "ro"): return try passwordlessToken(&call)
        case ("POST", "oauth", "introspect"): return try introspect(&call)
        case ("POST", "oauth", "exchange"): return try exchange(&call)
        case ("GET", "signup", nil), ("GET", "flow", "signup"): return showRegistration(&call)
        case ("POST", "signup", nil), ("POST", "flow", "signup"): return submitRegistration(&call)
        case ("GET", "flow", "confirm"):
            call.route = "/flow/confirm"
            return confirmRegistration(&call)
        // The consent page that follows has the same address.
        case ("POST", "flow", "confirm"): return submitLogin(&call)
        case (_, "login", nil), (_, "flow", "login"), (_, "flow", "signin"), (_, "flow", "auth"):
            switch call.method {
            case "GET": return showLogin(&call)
            case "POST": return submitLogin(&call)
            default: throw .api(405, "Method not allowed")
            }
        case ("GET", "logout", nil): return webLogout(&call)
        case ("GET", "session", let code?) where parts.count == 2: return openSession(code, &call)
        case ("GET", "auth", "session") where parts.count == 3: return openSession(parts[2], &call)
        case (_, "api", "2"): return try api(Array(parts.dropFirst(2)), &call)
        // The short form of the mobile documents.
        case ("GET", "me", nil), ("GET", "user", _?): return try api(parts, &call)
        default: throw .api(404, "Not found")
        }
    }

    private func renamed(_ failure: SPiDFailure) -> SPiDFailure {
        guard usesOldErrorNames, case .oauth(.invalidClient, let description, let status) = failure else {
            return failure
        }
        return .oauth(
            description == Self.unknownClient ? .invalidClientID : .invalidClientCredentials, description,
            status: status)
    }

    static let unknownClient = "The client is not known"

    // MARK: Requests of tests

    func person(named name: String) -> Person? { people.named(name) }

    func user(ofAccessToken token: String, at now: Int64) -> TokenUser? {
        guard let person = accessTokens.value(token, at: now)?.person.flatMap({ people[$0] }) else { return nil }
        return TokenUser(id: "\(person.id)", email: person.email)
    }

    mutating func expire(_ person: Person, at now: Int64) {
        accessTokens.expireAll(at: now) { $0.person == person.id }
    }

    mutating func revoke(_ person: Person) {
        accessTokens.removeAll { $0.person == person.id }
        refreshTokens.removeAll { $0.grant.person == person.id }
        webSessions.removeAll { $0 == person.id }
        rememberedPeople.removeAll { $0 == person.id }
        codes.removeAll { $0.person == person.id }
        pending.removeAll { $0.person == person.id }
        passwordless.removeAll { $0.person == person.id }
        registrations.removeAll { $0.person == person.id }
    }

    mutating func change(_ settings: Fields) throws(APIError) {
        for member in settings.value.members ?? [] where !["old_error_names", "signed"].contains(member.name) {
            throw .invalidBody
        }
        usesOldErrorNames = try settings.bool("old_error_names") ?? usesOldErrorNames
        signsEverything = try settings.bool("signed") ?? signsEverything
    }

    func failure(status: Int) -> Response { SPiDContainer.failure(status, reasonPhrase(status)) }
}

/// An application that is registered with SPiD.
struct SPiDClient: Sendable {
    var registration: OAuthClient
    var name: String
    /// Codes for another client are given only if both clients belong to the same merchant.
    var merchant: Int64
    /// Signs API responses, and the client's assertions. It is not the client secret.
    var signSecret: String?
    /// The redirect URI for codes that another client requested for this one.
    var defaultRedirect: String?
    /// Whether SPiD signs its answers to this client.
    var wantsSignedResponses = false
    /// The application's ids at Facebook and Google.
    var thirdPartyIDs: [String] = []

    var id: String { registration.id }

    static let known: [SPiDClient] = [
        SPiDClient(
            registration: client(
                "app-1", ["spidmobile-app-1://login", "spidmobile-app-1://logout", "http://127.0.0.1/callback"]),
            name: "The app", merchant: 47000, signSecret: "s1gn", thirdPartyIDs: ["app1", "no.example.app"]),
        SPiDClient(
            registration: client("backend-1", ["http://127.0.0.1/backend"]), name: "The app's backend", merchant: 47000,
            signSecret: "s1gn", defaultRedirect: "http://127.0.0.1/backend"),
        SPiDClient(
            registration: client("signed-1", ["http://127.0.0.1/callback"]), name: "An app with signed responses",
            merchant: 47000, signSecret: "s1gn", wantsSignedResponses: true),
        SPiDClient(
            registration: client("other-1", ["http://127.0.0.1/callback", "http://127.0.0.1/other"]),
            name: "Another house's app", merchant: 48000, signSecret: "0ther", defaultRedirect: "http://127.0.0.1/other"
        ),
    ]

    private static func client(_ id: String, _ redirects: [String]) -> OAuthClient {
        OAuthClient(id: id, secret: "\(id)-secret", redirects: redirects.compactMap { RegisteredRedirect($0) })
    }
}

/// The client, the person and the scope of an access token.
struct SPiDGrant: Sendable, Equatable {
    var client: String
    /// Nil for a client's own token.
    var person: Int64?
    var scope: String
    /// The id of the sign-in, which all of its tokens share. Ending it ends them all.
    var login: String
    /// The browser session that the sign-in began.
    var webSession: String?
    var issuedAt: Int64
}

/// The grant of a refresh token. Used tokens are kept to notice a second use, which means that the token was copied.
struct SPiDRenewal: Sendable, Equatable {
    var grant: SPiDGrant
    var isUsed = false
}

/// The kind of a code, its client and its person.
struct SPiDCode: Sendable {
    enum Kind: Sendable, Equatable {
        /// From the sign-in page; redeemed with the same redirect URI.
        case authorization(redirect: String, challenge: StoredChallenge?)
        /// For another client; redeemed with that client's default redirect URI.
        case exchange(redirect: String)
        /// Starts a session in a browser, which is then redirected to this address.
        case session(redirect: String)
    }

    var kind: Kind
    /// The client that may redeem it.
    var client: String
    var person: Int64
    var scope: String
    var webSession: String?
    /// The sign-in that it began; set once it was redeemed.
    var login: String?
}

struct SPiDAgreement: Hashable, Sendable {
    /// The maximum number of agreements. Beyond it the person is asked again.
    static let maximum = 4096

    var person: Int64
    var client: String
}

struct SPiDPasswordless: Sendable {
    static let maximumAttempts = 5

    var client: String
    var person: Int64
    var code: String
    var attempts = 0
}

/// A Facebook or Google account.
struct SPiDThirdPartyAccount: Sendable {
    /// Nil while no SPiD account is connected to it.
    var person: Int64?
}

/// An error of SPiD. OAuth errors are flat; those of the API are inside the container.
enum SPiDFailure: Error, Equatable {
    /// `{"error","error_code","type":"OAuthException","error_description"}`.
    case oauth(Code, String, status: Int)
    /// `error: {code, type, description}` of the container.
    case api(Int, String)

    /// The error names that the mobile SDKs know.
    enum Code: String {
        case redirectURIMismatch = "redirect_uri_mismatch"
        case unauthorizedClient = "unauthorized_client"
        case accessDenied = "access_denied"
        case invalidRequest = "invalid_request"
        case unsupportedResponseType = "unsupported_response_type"
        case invalidScope = "invalid_scope"
        case invalidGrant = "invalid_grant"
        case invalidClient = "invalid_client"
        /// The name until draft 10; `invalid_client` since.
        case invalidClientID = "invalid_client_id"
        case invalidClientCredentials = "invalid_client_credentials"
        case invalidToken = "invalid_token"
        case expiredToken = "expired_token"
        case insufficientScope = "insufficient_scope"
        case unsupportedGrantType = "unsupported_grant_type"
        case invalidUserCredentials = "invalid_user_credentials"
        case unverifiedUser = "unverified_user"
        case unknownUser = "unknown_user"
    }

    static func oauth(_ code: Code, _ description: String) -> SPiDFailure { .oauth(code, description, status: 400) }

    init(_ failure: OAuthFailure) {
        self = .oauth(Code(rawValue: failure.code.rawValue) ?? .invalidRequest, failure.description, status: 400)
    }

    /// The error's name in the journal.
    var reason: String {
        switch self {
        case .oauth(let code, _, _): code.rawValue
        case .api(let code, _): "\(code)"
        }
    }

    var response: Response {
        switch self {
        case .oauth(let code, let description, let status):
            return Response(
                status: status,
                content: .json([
                    "error": .string(code.rawValue), "error_code": .integer(Int64(status)), "type": "OAuthException",
                    "error_description": .string(description),
                ]), headers: OAuthFailure.uncached)
        case .api(let code, let description):
            return SPiDContainer.failure(code, description)
        }
    }
}
