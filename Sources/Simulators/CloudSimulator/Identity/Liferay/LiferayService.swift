// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// A Liferay portal of a company. People authenticate by a password on every request, a cookie, or OAuth 2.0.
struct LiferayService: IdentityService {
    static let groupID: Int64 = 10184
    /// How long a session is valid after its last request, as in Tomcat.
    private static let sessionLifetime: Int64 = 900

    /// The kind of name that people sign in with: the portal's setting "How do users authenticate?".
    enum AuthenticationType: String { case email = "email", screenName = "screenName", userID = "userId" }

    /// The portal's version, which decides the paths of services and the format of exceptions.
    enum Version: String {
        case v61 = "6.1", v62 = "6.2", v7 = "7"
        /// Accepts the sign-in form only with the token of its page.
        case v74 = "7.4"
    }

    struct Session: Sendable {
        var person: Int64
        /// `Liferay.authToken`, which a request with the cookie must also contain.
        var token: String
    }

    /// The portal instance of all people.
    var companyID: Int64 = 10157
    var people = People.known
    var oauth = StandardOAuth(
        clients: Self.clients, rules: .init(accessLifetime: 600, refreshLifetime: 604_800, codeLifetime: 600))
    /// The sessions by `JSESSIONID`.
    var sessions = ExpiringTable<Session>(maximum: 500)
    /// The tokens of sign-in pages by `JSESSIONID`, for browsers that are not signed in yet.
    var guestTokens = ExpiringTable<String>(maximum: 500)

    var authenticationType = AuthenticationType.email
    var version = Version.v7
    /// Whether guests' pages have a token as well, as in a real portal.
    var givesGuestsTokens = false
    /// The HTTP authentication that a server in front of the portal requires, such as a proxy.
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

    private var label: String {
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
    /// Returns the person of that name, for a portal that uses this kind of name.
    func person(_ name: String, by type: LiferayService.AuthenticationType) -> Person? {
        switch type {
        case .email: with(email: name)
        case .screenName: with(screenName: name)
        case .userID: Int64(name).flatMap { self[$0] }
        }
    }
}

/// The portal's web pages, and its cookie sessions.
extension LiferayService {
    private mutating func portal(_ parts: [String], _ call: inout IdentityCall) -> Response {
        switch (call.method, parts) {
        case ("GET", ["login"]): return signInPage(call, failure: nil)
        case ("POST", ["login"]): return signIn(&call)
        case ("GET", ["logout"]):
            if let id = call.cookie("JSESSIONID") { sessions.remove(id) }
            call.note(.logout, "done") { $0.kind = "page" }
            let forgotten = ["JSESSIONID", "REMEMBER_ME"].map { Self.cookie($0, "", "; Max-Age=0") }
            return redirect(to: "/web/guest/home", [], headers: forgotten)
        case ("GET", ["verify_email_address"]):
            return IdentityPage.message(status: 200, title: "Verify", "Follow the link that was sent to you")
        default: return IdentityPage.message(status: 404, title: "Not found", "The page does not exist")
        }
    }

    /// `POST /c/portal/login`: begins a chain of redirects that ends at a page with the session's token.
    private mutating func signIn(_ call: inout IdentityCall) -> Response {
        guard let form = try? OAuthParameters(form: call.request) else {
            return signInPage(call, failure: "The form is not understood")
        }
        guard call.cookie("COOKIE_SUPPORT") == "true" else {
            return signInPage(call, failure: "Enable cookies in your browser")
        }
        guard hasPageToken(form, call) else {
            call.note(.login, "refused") { ($0.kind, $0.reason) = ("cookie", "no p_auth of its page") }
            return IdentityPage.message(
                status: 403, title: "Forbidden", "The form does not have the authentication token of its page")
        }
        let name = form["login"] ?? form["username"] ?? ""
        guard let person = people.person(name, by: authenticationType), person.accepts(password: form["password"])
        else {
            call.note(.login, "refused") { ($0.kind, $0.reason) = ("cookie", "wrong name or password") }
            return signInPage(call, failure: "Authentication failed. Please try again")
        }
        call.person = person.email
        guard person.isVerified else {
            call.note(.login, "refused") { ($0.kind, $0.reason) = ("cookie", "not verified") }
            return redirect(to: "/c/portal/verify_email_address", [])
        }
        call.note(.login, "accepted") { $0.kind = "cookie" }
        var cookies = begin(person, at: call.now).cookies
        if form["rememberMe"] == "true" { cookies.append(Self.cookie("REMEMBER_ME", "true", "; Max-Age=31536000")) }
        return redirect(to: "/c", [], headers: cookies)
    }

    private mutating func begin(_ person: Person, at now: Int64) -> (session: Session, cookies: [Request.Field]) {
        let id = opaqueToken(bytes: 16).uppercased()
        let session = Session(person: person.id, token: alphanumericToken(8))
        sessions.insert(session, key: id, until: now + Self.sessionLifetime * 1000, at: now)
        return (
            session,
            [
                Self.cookie("JSESSIONID", id), Self.cookie("COMPANY_ID", "\(companyID)"),
                Self.cookie("COOKIE_SUPPORT", "true"),
            ]
        )
    }

    private static func cookie(_ name: String, _ value: String, _ more: String = "") -> Request.Field {
        .init("Set-Cookie", "\(name)=\(value); Path=/; HttpOnly\(more)")
    }

    /// Returns the session of the request's cookie, and restarts its idle timeout.
    func session(_ call: IdentityCall) -> (id: String, session: Session)? {
        guard let id = call.cookie("JSESSIONID"), let session = sessions.value(id, at: call.now) else { return nil }
        return (id, session)
    }

    mutating func touch(_ id: String, at now: Int64) { sessions.extend(id, until: now + Self.sessionLifetime * 1000) }

    private mutating func signInPage(_ call: IdentityCall, failure: String?) -> Response {
        var token = givesGuestsTokens ? alphanumericToken(8) : nil
        var cookies = [Self.cookie("COOKIE_SUPPORT", "true")]
        if version == .v74 {
            let known = call.cookie("JSESSIONID").flatMap { guestTokens.value($0, at: call.now) }
            let fresh = known ?? alphanumericToken(8)
            if known == nil {
                let id = opaqueToken(bytes: 16).uppercased()
                guestTokens.insert(fresh, key: id, until: call.now + Self.sessionLifetime * 1000, at: call.now)
                cookies.append(Self.cookie("JSESSIONID", id))
            }
            token = fresh
        }
        var page = IdentityPage.signIn(
            title: "Sign In - Liferay", userLabel: label, userField: "login", query: call.request.query,
            failure: failure, note: token.map { Self.script($0) } ?? "")
        // A portal shows the form again with 200.
        page.status = 200
        page.headers += cookies
        return page
    }

    /// Whether a form has the token of the page that the same browser was shown, if the version requires it.
    private func hasPageToken(_ form: OAuthParameters, _ call: IdentityCall) -> Bool {
        guard version == .v74 else { return true }
        guard let own = call.cookie("JSESSIONID").flatMap({ guestTokens.value($0, at: call.now) }) else { return false }
        return (form["p_auth"] ?? call.request.header("X-CSRF-Token")) == own
    }

    private static func script(_ token: String) -> String {
        "<script>var Liferay = Liferay || {}; Liferay.authToken = '\(token)';</script>\n"
    }

    /// Serves any page: `/c` redirects to the home page, which has the session's token.
    private mutating func page(_ call: inout IdentityCall) -> Response {
        let found = session(call)
        if let found {
            touch(found.id, at: call.now)
            call.person = people[found.session.person]?.email
        }
        if call.parts.first == "c" || call.path == "/" {
            return redirect(to: "/web/guest/home", [])
        }
        let token = found?.session.token ?? (givesGuestsTokens ? alphanumericToken(8) : nil)
        let greeting = found.flatMap { people[$0.session.person] }.map { "Welcome \($0.fullName)!" } ?? "Welcome, guest"
        return IdentityPage.page(
            status: 200, title: "Home - Liferay", head: token.map { Self.script($0) } ?? "",
            "<p id=\"greeting\">\(IdentityPage.escaped(greeting))</p>")
    }

    /// `/documents/{group}/{folder}/{name}`: one document for guests, one for users with a session. Other authentication is not accepted
    /// here.
    private mutating func document(_ parts: [String], _ call: inout IdentityCall) -> Response {
        guard parts.count == 3, parts[0] == "\(Self.groupID)" else {
            return IdentityPage.message(status: 404, title: "Not found", "The document does not exist")
        }
        switch parts[2] {
        case "public.txt": return Response(status: 200, content: .data(Array("for all\n".utf8), type: "text/plain"))
        case "private.txt":
            guard let found = session(call) else {
                return redirect(to: "/c/portal/login", [.init("redirect", call.path)])
            }
            touch(found.id, at: call.now)
            call.person = people[found.session.person]?.email
            return Response(status: 200, content: .data(Array("for members\n".utf8), type: "text/plain"))
        default: return IdentityPage.message(status: 404, title: "Not found", "The document does not exist")
        }
    }
}
