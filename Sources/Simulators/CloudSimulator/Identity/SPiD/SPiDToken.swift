// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// `POST /oauth/token`: all grants of SPiD.
extension SPiDService {
    static let assertionGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    mutating func token(_ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let form = try form(call)
        let client = try authenticatedClient(&call, form)
        guard let type = form["grant_type"] else { throw .oauth(.invalidRequest, "grant_type is missing") }
        let known = ["authorization_code", "refresh_token", "password", "client_credentials", Self.assertionGrant]
        do throws(SPiDFailure) {
            let response: Response
            switch type {
            case "authorization_code": response = try redeem(form, client, &call)
            case "refresh_token": response = try renew(form, client, &call)
            case "password":
                let person = try signIn(form["username"] ?? "", form["password"] ?? "")
                response = try begin(person.id, client, form["scope"], &call)
            case "client_credentials":
                response = issue(
                    SPiDGrant(
                        client: client.id, person: nil, scope: try scope(form), login: opaqueToken(), webSession: nil,
                        issuedAt: call.now), &call)
            case Self.assertionGrant:
                let claims = try assertion(form["assertion"], client, "authorization", path: "/oauth/token", call)
                guard let person = try person(of: claims) else {
                    throw .oauth(.unknownUser, "No user is connected to that account")
                }
                response = try begin(person.id, client, form["scope"], &call)
            default: throw .oauth(.unsupportedGrantType, "The grant type is not supported")
            }
            call.note(.token, "granted") { $0.kind = type }
            return response
        } catch {
            let grant = known.contains(type) ? type : "unknown"
            call.note(.token, "refused") { ($0.kind, $0.reason) = (grant, error.reason) }
            throw error
        }
    }

    func form(_ call: IdentityCall) throws(SPiDFailure) -> OAuthParameters {
        do throws(OAuthFailure) {
            return try OAuthParameters(form: call.request)
        } catch {
            throw SPiDFailure(error)
        }
    }

    /// Authenticates by HTTP Basic, as the documentation recommends, or in the body, as the mobile SDKs do.
    func authenticatedClient(_ call: inout IdentityCall, _ form: OAuthParameters) throws(SPiDFailure) -> SPiDClient {
        var (id, secret) = (form["client_id"], form["client_secret"])
        var status = 400
        if let header = call.request.header("Authorization"), !header.lowercased().hasPrefix("bearer ") {
            status = 401
            guard let basic = BasicCredentials(header, isFormEncoded: true), id == nil || id == basic.user else {
                throw .oauth(.invalidClient, "The client's authentication is not understood", status: 401)
            }
            (id, secret) = (basic.user, basic.password)
        }
        guard let id else { throw .oauth(.invalidRequest, "client_id is missing") }
        guard let client = client(id) else { throw .oauth(.invalidClient, Self.unknownClient, status: status) }
        call.client = client.id
        guard client.registration.accepts(secret: secret) else {
            throw .oauth(.invalidClient, "The client's secret is wrong", status: status)
        }
        return client
    }

    private func scope(_ form: OAuthParameters) throws(SPiDFailure) -> String {
        let scope = form["scope"] ?? ""
        guard scope.utf8.count <= 512 else { throw .oauth(.invalidScope, "The scope is too long") }
        return scope
    }

    /// Issues tokens for a person who was just authenticated without a browser.
    mutating func begin(
        _ person: Int64, _ client: SPiDClient, _ scope: String?, _ call: inout IdentityCall
    ) throws(SPiDFailure) -> Response {
        guard (scope ?? "").utf8.count <= 512 else { throw .oauth(.invalidScope, "The scope is too long") }
        return issue(
            SPiDGrant(
                client: client.id, person: person, scope: scope ?? "", login: opaqueToken(), webSession: nil,
                issuedAt: call.now), &call)
    }

    /// A code can be tried once by its own client, right or wrong. A second attempt revokes the tokens of the first.
    private mutating func redeem(
        _ form: OAuthParameters, _ client: SPiDClient, _ call: inout IdentityCall
    ) throws(SPiDFailure) -> Response {
        guard let text = form["code"] else { throw .oauth(.invalidRequest, "code is missing") }
        let code: SPiDCode
        switch codes.find(text, at: call.now) {
        case .good(let found): code = found
        case .expired: throw .oauth(.invalidGrant, "The code has expired")
        case .unknown: throw .oauth(.invalidGrant, "The code is not known")
        }
        guard code.client == client.id else { throw .oauth(.invalidGrant, "The code was issued to another client") }
        if let login = code.login {
            endLogin(login)
            throw .oauth(.invalidGrant, "The code was used before")
        }
        let login = opaqueToken()
        codes.update(text) { $0.login = login }
        switch code.kind {
        case .session: throw .oauth(.invalidGrant, "The code is one for a session")
        case .authorization(let redirect, let challenge):
            guard form["redirect_uri"] == redirect else {
                throw .oauth(.redirectURIMismatch, "redirect_uri is not the one that the code was issued for")
            }
            guard proves(form["code_verifier"], challenge) else {
                throw .oauth(.invalidGrant, "code_verifier does not match")
            }
        case .exchange(let redirect):
            guard form["redirect_uri"] == redirect else {
                throw .oauth(.redirectURIMismatch, "redirect_uri is not the client's own")
            }
        }
        return issue(
            SPiDGrant(
                client: client.id, person: code.person, scope: code.scope, login: login, webSession: code.webSession,
                issuedAt: call.now), &call)
    }

    /// Each use replaces the refresh token. A second use means that the token was copied, and ends its sign-in.
    private mutating func renew(
        _ form: OAuthParameters, _ client: SPiDClient, _ call: inout IdentityCall
    ) throws(SPiDFailure) -> Response {
        guard let token = form["refresh_token"] else { throw .oauth(.invalidRequest, "refresh_token is missing") }
        guard case .good(let renewal) = refreshTokens.find(token, at: call.now), renewal.grant.client == client.id
        else {
            throw .oauth(.invalidGrant, "The refresh token is unknown, expired or of another client")
        }
        guard !renewal.isUsed else {
            endLogin(renewal.grant.login)
            call.note(.token, "reused") { $0.kind = "refresh_token" }
            throw .oauth(.invalidGrant, "The refresh token was used before")
        }
        refreshTokens.update(token) { $0.isUsed = true }
        accessTokens.removeAll { $0.login == renewal.grant.login }
        var grant = renewal.grant
        grant.issuedAt = call.now
        return issue(grant, &call)
    }

    mutating func endLogin(_ login: String) {
        accessTokens.removeAll { $0.login == login }
        refreshTokens.removeAll { $0.grant.login == login }
    }

    mutating func issueAccess(_ grant: SPiDGrant, at now: Int64) -> String {
        let token = opaqueToken()
        let lifetime = grant.person == nil ? Self.clientTokenLifetime : Self.accessLifetime
        accessTokens.insert(grant, key: token, until: now + lifetime * 1000, at: now)
        return token
    }

    private mutating func issue(_ grant: SPiDGrant, _ call: inout IdentityCall) -> Response {
        let lifetime = grant.person == nil ? Self.clientTokenLifetime : Self.accessLifetime
        var members: [JSONValue.Member] = [
            .init("access_token", .string(issueAccess(grant, at: call.now))), .init("expires_in", .integer(lifetime)),
            .init("scope", .string(grant.scope)), .init("token_type", "Bearer"),
            .init("user_id", grant.person.map { .string("\($0)") } ?? false), .init("is_admin", false),
        ]
        if let person = grant.person {
            call.person = people[person]?.email
            let token = opaqueToken()
            refreshTokens.insert(
                SPiDRenewal(grant: grant), key: token, until: call.now + Self.refreshLifetime * 1000, at: call.now)
            members.append(.init("refresh_token", .string(token)))
        }
        members.append(.init("server_time", .integer(call.now / 1000)))
        return Response(status: 200, content: .json(.object(members)), headers: OAuthFailure.uncached)
    }

    // MARK: Introspection

    /// RFC 7662, only for clients of the same merchant.
    mutating func introspect(_ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let form = try form(call)
        let client = try authenticatedClient(&call, form)
        guard let token = form["token"] else { throw .oauth(.invalidRequest, "token is missing") }
        let refresh = refreshTokens.value(token, at: call.now).flatMap { $0.isUsed ? nil : $0.grant }
        guard let grant = accessTokens.value(token, at: call.now) ?? refresh,
            self.client(grant.client)?.merchant == client.merchant,
            let end = accessTokens.end(of: token) ?? refreshTokens.end(of: token)
        else { return Response(["active": false]) }
        return Response([
            "active": true, "scope": .string(grant.scope), "client_id": .string(grant.client), "token_type": "Bearer",
            "exp": .integer(end / 1000), "iat": .integer(grant.issuedAt / 1000), "iss": .string(call.base + "/"),
            "aud": [.string(call.base)],
            "sub": grant.person.map { .string("\($0)") } ?? .string(grant.client),
        ])
    }
}

/// An app's assertion about a person who signed in to Facebook or Google: a JWT in the form of SPiD's SDKs, or of RFC 7515.
///
/// The SDKs' form has segments in standard base64 with padding, a signature in lower-case hex, and `exp` as a date.
struct SPiDAssertion: Equatable {
    var issuer: String
    /// `authorization`, `registration` or `attach`.
    fileprivate var subject: String
    fileprivate var audience: String
    /// Seconds since 1970.
    var expiresAt: Int64
    var provider: String
    var token: String

    private static let maximumLength = 8 << 10

    /// Returns nil for an assertion that was not signed with this secret, or that lacks a claim.
    init?(_ text: String, secret: String) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let expected = OpenSSLHashes.hmacSHA256(Array("\(parts[0]).\(parts[1])".utf8), key: Array(secret.utf8))
        let isStandard = parts[2].utf8.count == 43
        let given = isStandard ? Base64.urlDecoded(parts[2].utf8) : Hex.decoded(parts[2].utf8)
        guard let given, equalInConstantTime(given, expected), isStandard || parts[2] == parts[2].lowercased() else {
            return nil
        }
        let decode = { (part: Substring) in isStandard ? Base64.urlDecoded(part.utf8) : decodedBase64(part) }
        guard let header = decode(parts[0]).flatMap({ try? JSONValue(parsing: $0) }),
            header["alg"]?.string == "HS256",
            let claims = decode(parts[1]).flatMap({ try? JSONValue(parsing: $0) }),
            let issuer = claims["iss"]?.string, let subject = claims["sub"]?.string,
            let audience = claims["aud"]?.string, let provider = claims["token_type"]?.string,
            let token = claims["token_value"]?.string,
            let end = claims["exp"]?.integer ?? claims["exp"]?.string.flatMap(seconds(ofDate:))
        else { return nil }
        (self.issuer, self.subject, self.audience, self.provider) = (issuer, subject, audience, provider)
        (self.token, expiresAt) = (token, end)
    }
}

extension SPiDService {
    /// Checks the issuer, the purpose, the audience and the expiry.
    func assertion(
        _ text: String?, _ client: SPiDClient, _ subject: String, path: String, _ call: IdentityCall
    ) throws(SPiDFailure) -> SPiDAssertion {
        guard let text else { throw .oauth(.invalidRequest, "assertion is missing") }
        guard let secret = client.signSecret, let assertion = SPiDAssertion(text, secret: secret) else {
            throw .oauth(.invalidGrant, "The assertion is not signed by the client's sign secret")
        }
        guard client.thirdPartyIDs.contains(assertion.issuer) else {
            throw .oauth(.invalidGrant, "iss is not an application of the client's")
        }
        guard assertion.subject == subject else { throw .oauth(.invalidGrant, "sub is not \(subject)") }
        let hosts = [call.base] + (call.request.header("Host").map { ["http://\($0)"] } ?? [])
        guard hosts.contains(where: { assertion.audience == $0 + path }) else {
            throw .oauth(.invalidGrant, "aud is not the address of this endpoint")
        }
        guard call.now / 1000 < assertion.expiresAt else { throw .oauth(.invalidGrant, "The assertion has expired") }
        return assertion
    }

    /// Returns the person who is connected to the token's account; nil if there is none. An unknown token is refused.
    func person(of assertion: SPiDAssertion) throws(SPiDFailure) -> Person? {
        guard let account = thirdParties["\(assertion.provider):\(assertion.token)"] else {
            throw .oauth(.invalidGrant, "The third party does not accept its token")
        }
        return account.person.flatMap { people[$0] }
    }
}

/// Codes with which another client, or a browser, gets a session of a person who has signed in to this client.
extension SPiDService {
    /// `POST /api/2/oauth/exchange`, which the mobile documents call `/oauth/exchange`.
    mutating func exchange(_ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let form = try form(call)
        let caller = try caller(&call, form)
        guard let id = form["clientId"] ?? form["client_id"] else { throw .api(400, "clientId is missing") }
        guard let type = form["type"] else { throw .api(400, "type is missing") }
        do throws(SPiDFailure) {
            guard let person = caller.grant.person else { throw .api(403, "A user's token is needed") }
            guard let target = client(id), target.merchant == caller.client.merchant else {
                throw .api(403, "The client does not belong to this merchant")
            }
            let code = opaqueToken()
            let kind: SPiDCode.Kind
            let lifetime: Int64
            switch type {
            case "code":
                guard let redirect = target.defaultRedirect else {
                    throw .api(400, "The client has no default redirect uri")
                }
                (kind, lifetime) = (.exchange(redirect: redirect), Self.exchangeLifetime)
            case "session":
                guard let redirect = form["redirectUri"] ?? form["redirect_uri"] else {
                    throw .api(400, "redirectUri is missing")
                }
                guard target.registration.accepts(redirect: redirect) else {
                    throw .api(400, "redirectUri is not registered")
                }
                (kind, lifetime) = (.session(redirect: redirect), Self.sessionCodeLifetime)
            default: throw .api(400, "type must be code or session")
            }
            codes.insert(
                SPiDCode(
                    kind: kind, client: target.id, person: person, scope: caller.grant.scope,
                    webSession: caller.grant.webSession),
                key: code, until: call.now + lifetime * 1000, at: call.now)
            call.note(.exchange, "granted") { $0.kind = type }
            return answer(["code": .string(code)], object: "OAuth", caller, call)
        } catch {
            call.note(.exchange, "refused") { $0.reason = error.reason }
            throw error
        }
    }

    /// `GET /session/{code}`, also `/auth/session/{code}`: signs the browser in.
    mutating func openSession(_ code: String, _ call: inout IdentityCall) -> Response {
        call.route = "/\(call.parts.dropLast().joined(separator: "/"))/*"
        guard case .good(let found) = codes.find(code, at: call.now), case .session(let target) = found.kind,
            found.login == nil, let person = people[found.person]
        else {
            call.note(.exchange, "refused") { $0.kind = "session" }
            return IdentityPage.message(status: 400, title: "SPiD", "This link was used before, or is too old")
        }
        codes.remove(code)
        (call.client, call.person) = (found.client, person.email)
        call.note(.exchange, "redeemed") { $0.kind = "session" }
        return redirect(to: target, [], headers: [cookie("identity", beginWebSession(person.id, at: call.now))])
    }
}
