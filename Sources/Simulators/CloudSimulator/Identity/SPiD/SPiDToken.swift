// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// `POST /oauth/token`: every grant of SPiD.
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

    /// By HTTP Basic, which the documentation recommends, or in the body, as the mobile SDKs do it.
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

    /// Tokens for a person who was just authenticated without a browser.
    mutating func begin(
        _ person: Int64, _ client: SPiDClient, _ scope: String?, _ call: inout IdentityCall
    ) throws(SPiDFailure) -> Response {
        guard (scope ?? "").utf8.count <= 512 else { throw .oauth(.invalidScope, "The scope is too long") }
        return issue(
            SPiDGrant(
                client: client.id, person: person, scope: scope ?? "", login: opaqueToken(), webSession: nil,
                issuedAt: call.now), &call)
    }

    /// A code can be tried once by its own client, right or wrong. A second try revokes the tokens of the first.
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

    /// Each use replaces the refresh token. A token that is used twice was copied: its sign-in ends.
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

    /// RFC 7662, for clients of the same merchant only.
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
