// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// An OpenID provider as the specifications have it, with everything that a client can find by discovery.
struct OIDCService: IdentityService {
    static let sessionLifetime: Int64 = 86_400
    static let scopes: Set<String> = ["openid", "profile", "email", "offline_access"]
    static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

    /// A defect of the id token, which a client must detect.
    enum Wrong: String {
        case issuer, audience, nonce, signature, expired, algorithm
        case noNonce = "no_nonce"
        case authorizedParty = "authorized_party"
        case audiences
        case accessToken = "access_token"
        case key
        /// The id token of a renewal is another person's.
        case subject
    }

    var people = People.known
    var oauth: StandardOAuth
    /// By the cookie `op_session`.
    var sessions = ExpiringTable<Int64>(maximum: 500)
    var devices = OIDCDevices()
    var wrong: Wrong?
    /// Signs the id tokens; its key is published.
    var signer: JSONWebTokenSigner
    /// Signs where the signature is to be wrong; its key is not published.
    let otherSigner: JSONWebTokenSigner
    /// What discovery names beside the endpoints that every client needs.
    var offers = Offers()

    struct Offers: Sendable {
        var keys = true
        var revocation = true
        var endSession = true
        /// Whether a logout with an id token ends the tokens of that sign-in, too, which the specification leaves open.
        var endSessionEndsTokens = true
    }

    init() throws(SimulatorError) {
        signer = try JSONWebTokenSigner()
        otherSigner = try JSONWebTokenSigner()
        let loopback = ["http://127.0.0.1/*", "http://[::1]/*", "http://localhost/*"]
        oauth = StandardOAuth(
            clients: [
                StandardOAuth.Client(
                    registration: OAuthClient(
                        id: "native-1",
                        redirects: (loopback + ["com.example.native:/callback"]).compactMap { RegisteredRedirect($0) }),
                    name: "Native application", grants: ["authorization_code", "refresh_token", Self.deviceGrant],
                    scopes: Self.scopes, needsChallenge: true),
                StandardOAuth.Client(
                    registration: OAuthClient(
                        id: "web-1", secret: "web-1-secret",
                        redirects: (loopback + ["https://app.example/callback"]).compactMap { RegisteredRedirect($0) }),
                    name: "Web application",
                    grants: ["authorization_code", "refresh_token", "client_credentials", Self.deviceGrant],
                    scopes: Self.scopes),
            ], rules: .init(namesIssuer: true))
    }

    // MARK: Routing

    mutating func answer(_ call: inout IdentityCall) -> Response {
        do throws(OAuthFailure) {
            switch (call.method, call.path) {
            case ("GET", "/.well-known/openid-configuration"), ("GET", "/.well-known/oauth-authorization-server"):
                return Response(metadata(call.base))
            case ("GET", "/jwks"): return Response(["keys": [signer.jsonWebKey]])
            case ("GET", "/authorize"), ("POST", "/authorize"): return authorize(&call)
            case ("POST", "/token"): return try token(&call)
            case ("GET", "/userinfo"), ("POST", "/userinfo"): return userInfo(&call)
            case ("POST", "/introspect"): return Response(try oauth.introspect(&call))
            case ("POST", "/revoke") where offers.revocation:
                try oauth.revoke(&call)
                return Response(status: 200, content: .none)
            case ("POST", "/device_authorization"): return try authorizeDevice(&call)
            case ("GET", "/device"): return showDevicePage(&call)
            case ("POST", "/device"): return submitDevicePage(&call)
            case ("GET", "/logout"), ("POST", "/logout"):
                guard offers.endSession else { break }
                return try logout(&call)
            default: break
            }
            return IdentityPage.message(status: 404, title: "Not found", "There is nothing here")
        } catch {
            return error.tokenResponse(call)
        }
    }

    private mutating func authorize(_ call: inout IdentityCall) -> Response {
        let prompt = call.request.query("prompt")
        let known = call.cookie("op_session").flatMap { sessions.value($0, at: call.now) }.flatMap { people[$0] }
        var front = StandardOAuth.Front(title: "Sign in", signIn: signIn)
        front.known = prompt == "login" ? nil : known
        front.attributes = { _ throws(OAuthFailure) in
            guard prompt != "none" else {
                throw OAuthFailure(known == nil ? .loginRequired : .consentRequired, "The user would have to be asked")
            }
            return [:]
        }
        var (response, signedIn) = oauth.page(&call, front)
        if let signedIn {
            let session = opaqueToken()
            sessions.insert(signedIn.id, key: session, until: call.now + Self.sessionLifetime * 1000, at: call.now)
            response.headers.append(
                .init("Set-Cookie", "op_session=\(session); Path=/; HttpOnly; SameSite=Lax"))
        }
        return response
    }

    /// The person with that name and password. The error's description is shown on the page.
    var signIn: (String, String) throws(OAuthFailure) -> Person {
        let people = people
        return { name, password throws(OAuthFailure) in
            guard let person = people.named(name), person.accepts(password: password) else {
                throw OAuthFailure(.accessDenied, "The user name or the password is wrong")
            }
            guard person.isVerified else { throw OAuthFailure(.accessDenied, "The account is not verified") }
            return person
        }
    }

    private mutating func token(_ call: inout IdentityCall) throws(OAuthFailure) -> Response {
        var devices = devices
        defer { self.devices = devices }
        let now = call.now
        let issued = try oauth.token(
            &call,
            other: { type, form, client, oauth throws(OAuthFailure) in
                guard type == Self.deviceGrant else { return nil }
                let (person, scope) = try devices.poll(try form.required("device_code"), client.id, at: now)
                return try oauth.newGrant(person, client, scope, at: now)
            })
        call.person = issued.grant.person.flatMap { people[$0]?.email }
        var members = oauth.members(issued)
        if issued.grant.scopes.contains("openid"), let person = issued.grant.person.flatMap({ people[$0] }) {
            members.append(.init("id_token", .string(try idToken(person, issued, call))))
        }
        return Response(status: 200, content: .json(.object(members)), headers: OAuthFailure.uncached)
    }

    static func claims(of person: Person, _ scopes: Set<String>) -> [JSONValue.Member] {
        var claims: [JSONValue.Member] = []
        if scopes.contains("profile") {
            claims += [
                .init("name", .string(person.fullName)), .init("given_name", .string(person.givenName)),
                .init("family_name", .string(person.familyName)),
                .init("preferred_username", .string(person.screenName)),
            ]
        }
        if scopes.contains("email") {
            claims += [.init("email", .string(person.email)), .init("email_verified", .bool(person.isVerified))]
        }
        return claims
    }

    private func userInfo(_ call: inout IdentityCall) -> Response {
        do throws(OAuthFailure) {
            let grant = try oauth.grant(call)
            call.client = grant.client
            guard grant.scopes.contains("openid"), let person = grant.person.flatMap({ people[$0] }) else {
                throw OAuthFailure(.insufficientScope, "The token is not of a user who signed in with openid")
            }
            call.person = person.email
            return Response(.object([.init("sub", .string("\(person.id)"))] + Self.claims(of: person, grant.scopes)))
        } catch {
            return error.resourceResponse()
        }
    }

    // MARK: Requests of tests

    func person(named name: String) -> Person? { people.named(name) }

    func user(ofAccessToken token: String, at now: Int64) -> TokenUser? {
        guard let person = oauth.accessTokens.value(token, at: now)?.person.flatMap({ people[$0] }) else { return nil }
        return TokenUser(id: "\(person.id)", email: person.email)
    }

    mutating func expire(_ person: Person, at now: Int64) { oauth.expire(person, at: now) }

    mutating func revoke(_ person: Person) {
        oauth.revoke(person)
        sessions.removeAll { $0 == person.id }
    }

    func failure(status: Int) -> Response {
        let code = status < 500 ? "temporarily_unavailable" : "server_error"
        return Response(status: status, ["error": .string(code), "error_description": .string(reasonPhrase(status))])
    }
}
