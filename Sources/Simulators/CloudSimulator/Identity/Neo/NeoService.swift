// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// RainMaker Neo's accounts: tokens for a password as JSON, rotating refresh tokens, and a sign-in page.
struct NeoService: IdentityService {
    private static let accessLifetime: Int64 = 3600

    private var people = People.known
    private var oauth: StandardOAuth
    private let signer: JSONWebTokenSigner

    init() throws(SimulatorError) {
        let signer = try JSONWebTokenSigner()
        self.signer = signer
        let redirects = ["http://127.0.0.1/*", "http://[::1]/*", "http://localhost/*", "rainmaker-neo://callback"]
        let client = StandardOAuth.Client(
            registration: OAuthClient(id: "native-1", redirects: redirects.compactMap { RegisteredRedirect($0) }),
            name: "RainMaker app", grants: ["authorization_code", "refresh_token"],
            scopes: ["openid", "email", "phone", "profile"], needsChallenge: true)
        var rules = StandardOAuth.Rules(accessLifetime: Self.accessLifetime)
        rules.accessToken = { grant, now in
            let claims: JSONValue = [
                "sub": .string(Self.userID(grant.person ?? 0)), "token_use": "access",
                "client_id": .string(grant.client),
                "scope": .string(grant.scope), "iat": .integer(now / 1000),
                "exp": .integer(now / 1000 + Self.accessLifetime), "jti": .string(makeUUID()),
            ]
            return (try? signer.sign(claims)) ?? opaqueToken()
        }
        oauth = StandardOAuth(clients: [client], rules: rules)
    }

    static func userID(_ person: Int64) -> String {
        let digits = String(person)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    }

    /// The telephone numbers for sign-in, by user.
    private static let phoneNumbers: [Int64: String] = [1003: "+4915112345678"]

    private struct Failure: Error {
        var status: Int
        var message: String
        init(_ status: Int, _ message: String) { (self.status, self.message) = (status, message) }

        var response: Response {
            Response(
                status: status, content: .json(["message": .string(message)]), headers: OAuthFailure.uncached)
        }
    }

    // MARK: Routing

    mutating func answer(_ call: inout IdentityCall) -> Response {
        do throws(Failure) {
            switch (call.method, call.path) {
            case ("POST", "/v1/user/auth/token"): return try signIn(&call)
            case ("POST", "/v1/user/auth/token/refresh"): return try renew(&call)
            case ("POST", "/v1/user/auth/signout"): return try signOut(&call)
            case ("GET", "/v1/users/me"): return try profile(&call)
            case ("GET", "/oauth2/authorize"), ("POST", "/oauth2/authorize"): return authorize(&call)
            case ("POST", "/oauth2/token"): return token(&call)
            default: throw Failure(404, "Not Found")
            }
        } catch {
            return error.response
        }
    }

    private func body(_ call: IdentityCall) throws(Failure) -> JSONValue {
        guard call.request.body.count <= 16 << 10,
            let value = try? JSONValue(parsing: call.request.body, limits: Call.limits),
            value.members != nil
        else { throw Failure(400, "Request body is not valid") }
        return value
    }

    private func text(_ name: String, _ body: JSONValue) throws(Failure) -> String {
        guard let text = body[name]?.string, !text.isEmpty, text.utf8.count <= 4096 else {
            throw Failure(400, "\(name) is missing")
        }
        return text
    }

    /// Returns the person with that name and password.
    private static func person(
        _ name: String, _ password: String, among people: People
    ) throws(Failure) -> Person {
        let byPhone = phoneNumbers.first { $0.value == name }.flatMap { people[$0.key] }
        guard let person = people.with(email: name) ?? byPhone else { throw Failure(404, "User does not exist.") }
        guard person.accepts(password: password) else { throw Failure(401, "Incorrect username or password.") }
        guard person.isVerified else { throw Failure(403, "User is not confirmed.") }
        return person
    }

    private mutating func signIn(_ call: inout IdentityCall) throws(Failure) -> Response {
        let body = try body(call)
        do throws(Failure) {
            let person = try Self.person(
                try text("username", body), try text("password", body), among: people)
            guard let client = oauth.clients.first,
                let grant = try? oauth.newGrant(person.id, client, nil, at: call.now)
            else { throw Failure(500, "Internal Server Error") }
            call.person = person.email
            call.note(.token, "granted") { $0.kind = "password" }
            let issued = oauth.issue(grant, at: call.now)
            return answer(issued, call)
        } catch {
            call.note(.token, "refused") { ($0.kind, $0.reason) = ("password", "\(error.status)") }
            throw error
        }
    }

    /// Each use replaces the refresh token. A second use of an old token ends the session.
    private mutating func renew(_ call: inout IdentityCall) throws(Failure) -> Response {
        let token = try text("refresh_token", try body(call))
        guard let renewal = oauth.refreshTokens.value(token, at: call.now) else {
            call.note(.token, "refused") { ($0.kind, $0.reason) = ("refresh_token", "unknown") }
            throw Failure(401, "Refresh token is invalid or expired.")
        }
        call.person = renewal.grant.person.flatMap { people[$0]?.email }
        let grant: StandardOAuth.Grant
        do throws(OAuthFailure) {
            grant = try oauth.renew(token, renewal, scope: nil)
        } catch {
            call.note(.token, "reused") { $0.kind = "refresh_token" }
            throw Failure(401, "Refresh token has been revoked.")
        }
        call.note(.token, "rotated") { $0.kind = "refresh_token" }
        let issued = oauth.issue(grant, at: call.now)
        return answer(issued, call)
    }

    private mutating func signOut(_ call: inout IdentityCall) throws(Failure) -> Response {
        let token = try text("refresh_token", try body(call))
        if let renewal = oauth.refreshTokens.value(token, at: call.now) {
            call.person = renewal.grant.person.flatMap { people[$0]?.email }
            oauth.endLogin(renewal.grant.login)
        }
        call.note(.logout, "done") { $0.kind = "api" }
        return Response(["message": "Signed out"])
    }

    private func profile(_ call: inout IdentityCall) throws(Failure) -> Response {
        let grant: StandardOAuth.Grant
        do throws(OAuthFailure) {
            grant = try oauth.grant(call)
        } catch {
            throw Failure(401, "Unauthorized")
        }
        guard let person = grant.person.flatMap({ people[$0] }) else { throw Failure(401, "Unauthorized") }
        call.person = person.email
        var members: [JSONValue.Member] = [
            .init("user_id", .string(Self.userID(person.id))), .init("email", .string(person.email)),
        ]
        if let number = Self.phoneNumbers[person.id] { members.append(.init("phone_number", .string(number))) }
        return Response(.object(members))
    }

    private func answer(_ issued: StandardOAuth.Issued, _ call: IdentityCall) -> Response {
        var members = oauth.members(issued)
        if let person = issued.grant.person.flatMap({ people[$0] }) {
            let claims: JSONValue = [
                "sub": .string(Self.userID(person.id)), "token_use": "id", "aud": .string(issued.grant.client),
                "iss": .string(call.base), "email": .string(person.email), "email_verified": .bool(person.isVerified),
                "iat": .integer(call.now / 1000), "exp": .integer(call.now / 1000 + Self.accessLifetime),
                "login": .string(issued.grant.login),
            ]
            let nonce = issued.grant.nonce.map { [JSONValue.Member("nonce", .string($0))] } ?? []
            if let token = try? signer.sign(.object((claims.members ?? []) + nonce)) {
                members.append(.init("id_token", .string(token)))
            }
        }
        return Response(status: 200, content: .json(.object(members)), headers: OAuthFailure.uncached)
    }

    // MARK: In the browser

    private mutating func authorize(_ call: inout IdentityCall) -> Response {
        let people = people
        let front = StandardOAuth.Front(title: "RainMaker Neo") { name, password throws(OAuthFailure) in
            do throws(Failure) {
                return try Self.person(name, password, among: people)
            } catch {
                throw OAuthFailure(.accessDenied, String(error.message.dropLast()))
            }
        }
        return oauth.page(&call, front).0
    }

    private mutating func token(_ call: inout IdentityCall) -> Response {
        do throws(OAuthFailure) {
            let issued = try oauth.token(&call)
            call.person = issued.grant.person.flatMap { people[$0]?.email }
            return answer(issued, call)
        } catch {
            return error.tokenResponse(call)
        }
    }

    // MARK: Requests of tests

    func person(named name: String) -> Person? { people.named(name) }

    func user(ofAccessToken token: String, at now: Int64) -> TokenUser? {
        guard let person = oauth.accessTokens.value(token, at: now)?.person.flatMap({ people[$0] }) else { return nil }
        return TokenUser(id: Self.userID(person.id), email: person.email)
    }

    func login(ofAccessToken token: String, at now: Int64) -> (user: TokenUser, login: String)? {
        guard let grant = oauth.accessTokens.value(token, at: now), let user = user(ofAccessToken: token, at: now)
        else {
            return nil
        }
        return (user, grant.login)
    }

    func login(ofIDToken token: String, at now: Int64) -> String? {
        guard let claims = signer.verify(token), let end = claims["exp"]?.integer, now < end * 1000 else { return nil }
        return claims["login"]?.string
    }

    mutating func expire(_ person: Person, at now: Int64) { oauth.expire(person, at: now) }
    mutating func revoke(_ person: Person) { oauth.revoke(person) }
    func failure(status: Int) -> Response { Response(status: status, ["message": .string(reasonPhrase(status))]) }
}
