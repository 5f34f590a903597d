// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// A Liferay portal: people of a company, signed in by a password on every request, a cookie, or OAuth 2.0.
struct LiferayService: IdentityService {
    static let groupID: Int64 = 10184
    /// How long a session is valid after its last request, as in Tomcat.
    static let sessionLifetime: Int64 = 900

    /// The kind of name that people sign in with: the portal's setting "How do users authenticate?".
    enum AuthenticationType: String { case email = "email", screenName = "screenName", userID = "userId" }

    /// The version, on which the paths of services and the format of exceptions depend.
    enum Version: String {
        case v61 = "6.1", v62 = "6.2", v7 = "7"
        /// Takes the sign-in form only with the token of the page that it stands in.
        case v74 = "7.4"
    }

    struct Session: Sendable {
        var person: Int64
        /// `Liferay.authToken`, which a request that comes with the cookie must bring, too.
        var token: String
    }

    /// The portal instance that all people belong to.
    var companyID: Int64 = 10157
    var people = People.known
    var oauth = StandardOAuth(
        clients: Self.clients, rules: .init(accessLifetime: 600, refreshLifetime: 604_800, codeLifetime: 600))
    /// By `JSESSIONID`.
    var sessions = ExpiringTable<Session>(maximum: 500)
    /// The tokens of sign-in pages by `JSESSIONID`: of browsers in which nobody is signed in yet.
    var guestTokens = ExpiringTable<String>(maximum: 500)

    var authenticationType = AuthenticationType.email
    var version = Version.v7
    /// Whether guests' pages have a token, too, as a real portal's do.
    var givesGuestsTokens = false
    /// The HTTP authentication that a server in front of the portal asks for, such as a proxy's.
    var challenge: BasicCredentials?

    static let scopes: Set<String> = [
        "liferay-json-web-services.everything", "liferay-json-web-services.everything.read",
        "liferay-json-web-services.everything.write",
    ]

    private static let clients = [
        StandardOAuth.Client(
            registration: client("screens-1", secret: nil), name: "Screens (native)",
            grants: ["authorization_code", "refresh_token"], scopes: scopes, needsChallenge: true),
        StandardOAuth.Client(
            registration: client("screens-2", secret: "screens-2-secret"), name: "Screens (with a secret)",
            grants: ["authorization_code", "refresh_token", "password", "client_credentials"], scopes: scopes),
    ]

    private static func client(_ id: String, secret: String?) -> OAuthClient {
        let redirects =
            ["my-app://my-app", "screens-1://callback", "http://127.0.0.1:4711/callback"]
            + [9, 49152].map {
                "http://127.0.0.1:\($0)/callback"
            }
        return OAuthClient(id: id, secret: secret, redirects: redirects.compactMap { RegisteredRedirect(exactly: $0) })
    }

    // MARK: Routing

    mutating func answer(_ call: inout IdentityCall) -> Response {
        if let challenge, call.request.header("Authorization").flatMap({ BasicCredentials($0) }) != challenge {
            return Response(
                status: 401, content: .html("<!DOCTYPE html><title>401</title>Who are you?\n"),
                headers: [.init("WWW-Authenticate", "Basic realm=\"portal\"")])
        }
        let parts = call.parts
        switch (call.method, parts.first, parts.dropFirst().first) {
        case (_, "c", "portal"): return portal(Array(parts.dropFirst(2)), &call)
        case ("GET", "c", _), ("GET", "web", _), ("GET", "", nil): return page(&call)
        case ("GET", "documents", _?): return document(Array(parts.dropFirst()), &call)
        case (_, "api", "jsonws"): return webService(Array(parts.dropFirst(2)), &call)
        case (_, "api", "secure") where parts.count > 2 && parts[2] == "jsonws":
            return webService(Array(parts.dropFirst(3)), &call)
        case (_, "o", "oauth2") where parts.count == 3: return oauth2(parts[2], &call)
        default: return IdentityPage.message(status: 404, title: "Not found", "The page does not exist")
        }
    }

    private mutating func oauth2(_ what: String, _ call: inout IdentityCall) -> Response {
        do throws(OAuthFailure) {
            switch (call.method, what) {
            case ("GET", "authorize"), ("POST", "authorize"): return authorize(&call)
            case ("POST", "token"):
                let people = people
                let type = authenticationType
                let issued = try oauth.token(
                    &call,
                    signIn: { name, password throws(OAuthFailure) in
                        guard let person = people.person(name, by: type), person.accepts(password: password) else {
                            throw OAuthFailure(.invalidGrant, "The user name or the password is wrong")
                        }
                        guard person.isVerified else {
                            throw OAuthFailure(.invalidGrant, "The user's e-mail address is not verified")
                        }
                        return person
                    })
                return Response(
                    status: 200, content: .json(.object(oauth.members(issued))), headers: OAuthFailure.uncached)
            case ("POST", "introspect"): return Response(try oauth.introspect(&call))
            case ("POST", "revoke"):
                try oauth.revoke(&call)
                return Response(status: 200, content: .none)
            default: return IdentityPage.message(status: 404, title: "Not found", "The page does not exist")
            }
        } catch {
            return error.tokenResponse(call)
        }
    }

    /// A browser that has a session with the portal is signed in without a form.
    private mutating func authorize(_ call: inout IdentityCall) -> Response {
        let people = people
        let type = authenticationType
        let known = session(call).flatMap { people[$0.session.person] }
        var front = StandardOAuth.Front(title: "Liferay") { name, password throws(OAuthFailure) in
            guard let person = people.person(name, by: type), person.accepts(password: password) else {
                throw OAuthFailure(.accessDenied, "Authentication failed")
            }
            guard person.isVerified else { throw OAuthFailure(.accessDenied, "The e-mail address is not verified") }
            return person
        }
        front.known = known
        front.userLabel = label
        var (response, signedIn) = oauth.page(&call, front)
        if let signedIn { response.headers += begin(signedIn, at: call.now).cookies }
        return response
    }

    var label: String {
        switch authenticationType {
        case .email: "E-mail address"
        case .screenName: "Screen name"
        case .userID: "User ID"
        }
    }

    // MARK: Requests of tests

    func person(named name: String) -> Person? { people.named(name) }

    func user(ofAccessToken token: String, at now: Int64) -> TokenUser? {
        guard let person = oauth.accessTokens.value(token, at: now)?.person.flatMap({ people[$0] }) else { return nil }
        return TokenUser(id: "\(person.id)", email: person.email)
    }

    mutating func expire(_ person: Person, at now: Int64) {
        oauth.expire(person, at: now)
        sessions.expireAll(at: now) { $0.person == person.id }
    }

    mutating func revoke(_ person: Person) {
        oauth.revoke(person)
        sessions.removeAll { $0.person == person.id }
    }

    mutating func change(_ settings: Fields) throws(APIError) {
        for member in settings.value.members ?? [] {
            switch member.name {
            case "auth_type":
                guard let type = member.value.string.flatMap(AuthenticationType.init) else { throw .invalidBody }
                authenticationType = type
            case "version":
                guard let version = member.value.string.flatMap(Version.init) else { throw .invalidBody }
                self.version = version
            case "guest_tokens": givesGuestsTokens = try settings.bool("guest_tokens") ?? false
            case "company":
                guard let id = member.value.integer, id > 0 else { throw .invalidBody }
                companyID = id
            case "redirect":
                guard let redirect = member.value.string.flatMap({ RegisteredRedirect(exactly: $0) }) else {
                    throw .invalidBody
                }
                oauth.register(redirect)
            case "challenge":
                guard !member.value.isNull else {
                    challenge = nil
                    continue
                }
                let fields = Fields(value: member.value)
                guard let user = try fields.string("user"), let password = try fields.string("password") else {
                    throw .invalidBody
                }
                challenge = BasicCredentials(user: user, password: password)
            default: throw .invalidBody
            }
        }
    }

    func failure(status: Int) -> Response {
        IdentityPage.message(status: status, title: "\(status)", reasonPhrase(status))
    }
}

extension People {
    /// The person of that name, for a portal that is set to this kind of name.
    func person(_ name: String, by type: LiferayService.AuthenticationType) -> Person? {
        switch type {
        case .email: with(email: name)
        case .screenName: with(screenName: name)
        case .userID: Int64(name).flatMap { self[$0] }
        }
    }
}
