// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// An OpenID provider that follows the specifications. Clients find all its endpoints by discovery.
struct OIDCService: IdentityService {
    private static let sessionLifetime: Int64 = 86_400
    private static let scopes: Set<String> = ["openid", "profile", "email", "offline_access"]
    static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

    /// A defect of the id token, which a client must detect.
    private enum Wrong: String {
        case issuer, audience, nonce, signature, expired, algorithm
        case noNonce = "no_nonce"
        case authorizedParty = "authorized_party"
        case audiences
        case accessToken = "access_token"
        case key
        /// The id token of a renewal belongs to another person.
        case subject
    }

    var people = People.known
    var oauth: StandardOAuth
    /// The sessions by the cookie `op_session`.
    private var sessions = ExpiringTable<Int64>(maximum: 500)
    var devices = OIDCDevices()
    private var wrong: Wrong?
    /// Signs the id tokens; its key is published.
    private var signer: JSONWebTokenSigner
    /// Makes the wrong signatures; its key is not published.
    private let otherSigner: JSONWebTokenSigner
    /// The endpoints and methods in discovery in addition to those that every client needs.
    private var offers = Offers()

    private struct Offers: Sendable {
        var keys = true
        var revocation = true
        var endSession = true
        /// Whether a logout with an id token also ends the tokens of that sign-in. The specification leaves this open.
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

    /// Returns the person with that name and password. The error's description is shown on the page.
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

extension OIDCService {
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
            case "offers_keys": offers.keys = try settings.bool("offers_keys") ?? true
            case "offers_revocation": offers.revocation = try settings.bool("offers_revocation") ?? true
            case "offers_end_session": offers.endSession = try settings.bool("offers_end_session") ?? true
            case "end_session_ends_tokens":
                offers.endSessionEndsTokens = try settings.bool("end_session_ends_tokens") ?? true
            // Makes a new key; the old one is no longer published. The same algorithm makes a new key as well.
            case "signing_algorithm":
                guard let algorithm = member.value.string.flatMap(JSONWebTokenSigner.Algorithm.init),
                    let signer = try? JSONWebTokenSigner(generating: algorithm)
                else { throw .invalidBody }
                self.signer = signer
            default: throw .invalidBody
            }
        }
        oauth.rules.wrongIssuer = wrong == .issuer ? "https://evil.example" : nil
    }
}

extension OIDCService {
    /// The discovery document (OpenID Connect Discovery 1.0, 3).
    private func metadata(_ base: String) -> JSONValue {
        let clientAuthentication: JSONValue = ["none", "client_secret_basic", "client_secret_post"]
        let metadata: JSONValue = [
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
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [.string(signer.algorithm.rawValue)],
            "token_endpoint_auth_methods_supported": clientAuthentication,
            "revocation_endpoint_auth_methods_supported": clientAuthentication,
            "introspection_endpoint_auth_methods_supported": clientAuthentication,
            "code_challenge_methods_supported": ["S256"], "authorization_response_iss_parameter_supported": true,
            "claims_supported": [
                "sub", "name", "given_name", "family_name", "preferred_username", "email", "email_verified",
            ],
        ]
        let offered = [
            "jwks_uri": offers.keys, "revocation_endpoint": offers.revocation,
            "end_session_endpoint": offers.endSession,
        ]
        return .object((metadata.members ?? []).filter { offered[$0.name] != false })
    }
}

extension OIDCService {
    /// Returns the id token (OpenID Connect Core, 2). After a renewal it has no nonce, since the renewal request has none.
    private func idToken(
        _ person: Person, _ issued: StandardOAuth.Issued, _ call: IdentityCall
    ) throws(OAuthFailure) -> String {
        let claims = claims(person, issued, call)
        do throws(SimulatorError) {
            switch wrong {
            case .algorithm: return signer.unsigned(claims)
            case .signature: return try otherSigner.sign(claims, keyID: signer.keyID)
            case .key: return try otherSigner.sign(claims)
            default: return try signer.sign(claims)
            }
        } catch {
            throw OAuthFailure(.serverError, error.description)
        }
    }

    private func claims(_ person: Person, _ issued: StandardOAuth.Issued, _ call: IdentityCall) -> JSONValue {
        let grant = issued.grant
        let now = call.now / 1000
        let isRenewal = grant.nonce == nil
        let subject = wrong == .subject && isRenewal ? 1003 : person.id
        let audience: JSONValue =
            switch wrong {
            case .audience: "another"
            case .audiences: [.string(grant.client), "another"]
            default: .string(grant.client)
            }
        let hashed = wrong == .accessToken ? "another" : issued.access
        var claims: [JSONValue.Member] = [
            .init("iss", .string(wrong == .issuer ? "https://evil.example" : call.base)),
            .init("sub", .string("\(subject)")), .init("aud", audience), .init("iat", .integer(now)),
            .init("exp", .integer(wrong == .expired ? now - 600 : now + oauth.rules.accessLifetime)),
            .init("auth_time", .integer(grant.authenticatedAt)),
            .init("at_hash", .string(Base64.urlText(Array(OpenSSLHashes.sha256(Array(hashed.utf8)).prefix(16))))),
        ]
        if wrong == .authorizedParty { claims.append(.init("azp", "another")) }
        if let nonce = grant.nonce, wrong != .noNonce {
            claims.append(.init("nonce", .string(wrong == .nonce ? "another" : nonce)))
        }
        return .object(claims + Self.claims(of: person, grant.scopes))
    }
}

extension OIDCService {
    /// RP-Initiated Logout 1.0: ends the browser's session and, with an id token that was issued here, the token's sign-in.
    private mutating func logout(_ call: inout IdentityCall) throws(OAuthFailure) -> Response {
        let parameters =
            try call.method == "POST" ? OAuthParameters(form: call.request) : OAuthParameters(call.request.query)
        if let session = call.cookie("op_session") { sessions.remove(session) }
        if let hint = parameters["id_token_hint"] {
            guard try end(hint, parameters["client_id"], &call) else {
                return IdentityPage.message(status: 400, title: "Sign out", "The id token is not one of ours")
            }
        }
        call.note(.logout, "done") { $0.kind = parameters["id_token_hint"] == nil ? "page" : "id_token" }
        let forgotten = [Request.Field("Set-Cookie", "op_session=; Path=/; HttpOnly; Max-Age=0")]
        let target = parameters["post_logout_redirect_uri"]
            .flatMap { target in oauth.clients.contains { $0.registration.accepts(redirect: target) } ? target : nil }
        guard let target else {
            var page = IdentityPage.message(status: 200, title: "Signed out", "You are signed out", id: "signed-out")
            page.headers += forgotten
            return page
        }
        let state = parameters["state"].map { [Request.Field("state", $0)] } ?? []
        return redirect(to: target, state, headers: forgotten)
    }

    /// The token may have expired (section 2 of that specification). Returns false for one that was not issued here, or to another client.
    private mutating func end(
        _ hint: String, _ clientID: String?, _ call: inout IdentityCall
    ) throws(OAuthFailure) -> Bool {
        guard let claims = signer.verify(hint), let client = claims["aud"]?.string, clientID ?? client == client,
            let person = claims["sub"]?.string.flatMap(Int64.init)
        else { return false }
        call.client = client
        call.person = people[person]?.email
        sessions.removeAll { $0 == person }
        guard offers.endSessionEndsTokens else { return true }
        oauth.accessTokens.removeAll { $0.person == person && $0.client == client }
        oauth.refreshTokens.removeAll { $0.grant.person == person && $0.grant.client == client }
        return true
    }
}
