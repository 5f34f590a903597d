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
    enum Wrong: String { case issuer, audience, nonce, signature }

    var people = People.known
    var oauth: StandardOAuth
    /// By the cookie `op_session`.
    var sessions = ExpiringTable<Int64>(maximum: 500)
    var devices = OIDCDevices()
    var wrong: Wrong?
    private let signer: JSONWebTokenSigner
    private let otherSigner: JSONWebTokenSigner

    init() throws(SimulatorError) {
        signer = try Self.freshSigner()
        otherSigner = try Self.freshSigner()
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

    static func freshSigner() throws(SimulatorError) -> JSONWebTokenSigner {
        let key: PrivateKey
        do throws(KeyError) {
            key = try PrivateKey(generating: .p256)
        } catch {
            throw SimulatorError(.crypto, "no key for tokens could be made: \(error)")
        }
        return try JSONWebTokenSigner(key: key)
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
            case ("POST", "/revoke"):
                try oauth.revoke(&call)
                return Response(status: 200, content: .none)
            case ("POST", "/device_authorization"): return try authorizeDevice(&call)
            case ("GET", "/device"): return showDevicePage(&call)
            case ("POST", "/device"): return submitDevicePage(&call)
            case ("GET", "/logout"), ("POST", "/logout"): return logout(&call)
            default: return IdentityPage.message(status: 404, title: "Not found", "There is nothing here")
            }
        } catch {
            return error.tokenResponse(call)
        }
    }

    private func metadata(_ base: String) -> JSONValue {
        let clientAuthentication: JSONValue = ["none", "client_secret_basic", "client_secret_post"]
        return [
            "issuer": .string(base), "authorization_endpoint": .string(base + "/authorize"),
            "token_endpoint": .string(base + "/token"), "userinfo_endpoint": .string(base + "/userinfo"),
            "jwks_uri": .string(base + "/jwks"), "revocation_endpoint": .string(base + "/revoke"),
            "introspection_endpoint": .string(base + "/introspect"),
            "device_authorization_endpoint": .string(base + "/device_authorization"),
            "end_session_endpoint": .string(base + "/logout"),
            "scopes_supported": .array(Self.scopes.sorted().map { .string($0) }), "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": [
                "authorization_code", "refresh_token", "client_credentials", .string(Self.deviceGrant),
            ],
            "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["ES256"],
            "token_endpoint_auth_methods_supported": clientAuthentication,
            "revocation_endpoint_auth_methods_supported": clientAuthentication,
            "introspection_endpoint_auth_methods_supported": clientAuthentication,
            "code_challenge_methods_supported": ["S256"], "authorization_response_iss_parameter_supported": true,
            "claims_supported": [
                "sub", "name", "given_name", "family_name", "preferred_username", "email", "email_verified",
            ],
        ]
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

    /// The id token (OpenID Connect Core, 2). After a renewal it has no nonce, since no request asked for one.
    private func idToken(
        _ person: Person, _ issued: StandardOAuth.Issued, _ call: IdentityCall
    ) throws(OAuthFailure) -> String {
        let grant = issued.grant
        var claims: [JSONValue.Member] = [
            .init("iss", .string(wrong == .issuer ? "https://evil.example" : call.base)),
            .init("sub", .string("\(person.id)")), .init("aud", .string(wrong == .audience ? "another" : grant.client)),
            .init("iat", .integer(call.now / 1000)),
            .init("exp", .integer(call.now / 1000 + oauth.rules.accessLifetime)),
            .init("auth_time", .integer(grant.authenticatedAt)),
            .init("at_hash", .string(base64URL(Array(OpenSSLHashes.sha256(Array(issued.access.utf8)).prefix(16))))),
        ]
        if let nonce = grant.nonce { claims.append(.init("nonce", .string(wrong == .nonce ? "another" : nonce))) }
        claims += Self.claims(of: person, grant.scopes)
        do throws(SimulatorError) {
            var token = try (wrong == .signature ? otherSigner : signer).sign(.object(claims))
            if wrong == .signature {
                // The right key's name over another's signature.
                let header = try signer.sign([:]).prefix { $0 != "." }
                token = String(header) + token.drop { $0 != "." }
            }
            return token
        } catch {
            throw OAuthFailure(.serverError, error.description)
        }
    }

    private static func claims(of person: Person, _ scopes: Set<String>) -> [JSONValue.Member] {
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

    /// RP-initiated logout: the browser's session ends.
    private mutating func logout(_ call: inout IdentityCall) -> Response {
        if let session = call.cookie("op_session") { sessions.remove(session) }
        call.note(.logout, "done") { $0.kind = "page" }
        let forgotten = [Request.Field("Set-Cookie", "op_session=; Path=/; HttpOnly; Max-Age=0")]
        let target = call.request.query("post_logout_redirect_uri")
            .flatMap { target in oauth.clients.contains { $0.registration.accepts(redirect: target) } ? target : nil }
        guard let target else {
            var page = IdentityPage.message(status: 200, title: "Signed out", "You are signed out", id: "signed-out")
            page.headers += forgotten
            return page
        }
        let state = call.request.query("state").map { [Request.Field("state", $0)] } ?? []
        return redirect(to: target, state, headers: forgotten)
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

    mutating func change(_ settings: Fields) throws(APIError) {
        for member in settings.value.members ?? [] {
            switch member.name {
            case "wrong":
                guard !member.value.isNull else {
                    wrong = nil
                    continue
                }
                guard let wrong = member.value.string.flatMap(Wrong.init) else { throw .invalidBody }
                self.wrong = wrong
            case "rotate": oauth.rules.rotates = try settings.bool("rotate") ?? true
            case "revokes_access_tokens":
                oauth.rules.revokesAccessTokens = try settings.bool("revokes_access_tokens") ?? true
            default: throw .invalidBody
            }
        }
        oauth.rules.wrongIssuer = wrong == .issuer ? "https://evil.example" : nil
    }

    func failure(status: Int) -> Response {
        let code = status < 500 ? "temporarily_unavailable" : "server_error"
        return Response(status: status, ["error": .string(code), "error_description": .string(reasonPhrase(status))])
    }
}
