// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// SPiD: accounts of a media house, with tokens for its apps and codes that let one client act for another.
///
/// A value. The names of paths and fields are those of SPiD's technical documentation.
struct SPiDService: IdentityService {
    static let accessLifetime: Int64 = 3600
    static let clientTokenLifetime: Int64 = 900
    static let refreshLifetime: Int64 = 30 * 86_400
    static let codeLifetime: Int64 = 300
    /// How long a code is good that was made for another client.
    static let exchangeLifetime: Int64 = 30
    /// How long a code is good that becomes a session in a browser.
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
    /// By the `remember` cookie.
    var rememberedPeople = ExpiringTable<Int64>(maximum: 500)
    /// People who have signed in and are asked for consent, by the form's handle.
    var pending = ExpiringTable<SPiDPending>(maximum: 200)
    /// People who have registered and have not yet followed the link that confirms their address, by the link's token.
    var registrations = ExpiringTable<SPiDRegistration>(maximum: 200)
    /// The people who have agreed to a client's terms.
    var agreements: Set<SPiDAgreement> = []
    /// Facebook and Google accounts, by `provider:token`.
    var thirdParties: [String: SPiDThirdPartyAccount] = [
        "facebook:fbtok": .init(person: 1001), "facebook:fb-new": .init(), "googleplus:gptok": .init(person: 1001),
        "googleplus:gp-new": .init(),
    ]
    /// Codes that were sent for signing in without a password.
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
        // The consent page that follows is at the same address.
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
        // As the mobile documents shorten it.
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
