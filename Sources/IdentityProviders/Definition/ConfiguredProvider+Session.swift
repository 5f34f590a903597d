// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

extension ConfiguredProvider {
    public func renew(_ tokens: Tokens) async throws(RenewalError) -> Tokens {
        gate.learn(from: tokens, host: resources.first?.authority)
        if let renewed = try await hooks.renew(tokens, self) { return renewed }
        do throws(AccountError) {
            if tokens["grant"] == GrantName.clientCredentials.rawValue { return try await signIn(.clientCredentials) }
            guard let refresh = tokens.refresh else {
                throw AccountError(.expired, message: "the session has ended; sign in again", status: 400)
            }
            // The request is sent even after the refresh token's expiry by the local clock, because only the server can end a session.
            try demand(.refreshToken)
            // The values for checking the new ID token are fetched before the refresh token is used.
            if tokens.identity != nil { _ = try await issuer() }
            return try await redeem(.refreshToken(refresh), for: .refreshToken, renewing: tokens)
        } catch {
            throw Self.endsSession(error) ? .refused(error) : .unavailable(error)
        }
    }

    public func canRenew(_ tokens: Tokens) -> Bool {
        guard tokens.kind == .oauth, tokens["grant"] != GrantName.clientCredentials.rawValue else { return true }
        return definition.grants?[GrantName.refreshToken.rawValue] != nil && !lacksSecret(for: .refreshToken)
    }

    /// Returns whether the error ends a session. Only the provider's answer about the refresh token counts: `invalid_grant` and similar
    /// codes, not a 401 on the way.
    public static func endsSession(_ error: AccountError) -> Bool {
        guard let status = error.status, 400..<500 ~= status else { return false }
        if error.code == .expired { return status == 400 }
        return [.invalidGrant, .usedCode, .codeExpired, .unknownUser].contains(error.code)
    }

    // MARK: The user

    public func user(_ tokens: Tokens) async throws(AccountError) -> UserInfo {
        if let user = try await hooks.user(tokens, self) { return user }
        if tokens["grant"] == GrantName.clientCredentials.rawValue {
            let id = try clientID()
            return UserInfo(userID: UserID(id), userName: id)
        }
        let extras = tokens.extras.mapValues { $0.revealString() }
        guard let url = try await findEndpoint("user", extras) else {
            if let user = self.user(claimedBy: tokens) { return user }
            throw AccountError(
                .unsupported,
                message: "\(title) does not name the signed-in user: it has no user endpoint and issues no ID token"
            )
        }
        let reply = try await send(HTTPRequest(method: .get, url: url, headers: HTTPRequest.usualHeaders), with: tokens)
        guard var found = user(in: reply.json) else {
            throw AccountError(
                .malformedAnswer,
                message: "the answer of \(title) has no user id, or one that is neither text nor a number",
                status: reply.response.status)
        }
        found.attributes += keptAttributes(of: tokens).filter { kept in
            kept.name != definition.user?.idFromTokens && !found.attributes.contains { $0.name == kept.name }
        }
        // Another subject's answer must not be used (OpenID Connect Core 1.0, section 5.3.2).
        if let subject = tokens.identity.flatMap(JSONWebToken.claims)?["sub"]?.string,
            let own = reply.json["sub"]?.unlessNull, own.plainText != subject
        {
            throw AccountError(
                .untrustedAnswer,
                message: "\(title) returned a different user from the one who signed in; sign in again")
        }
        return found
    }

    public func user(claimedBy tokens: Tokens) -> UserInfo? {
        if let name = definition.user?.idFromTokens, let id = tokens[name], !id.isEmpty {
            var user = UserInfo(userID: UserID(id), userName: id)
            user.attributes = keptAttributes(of: tokens)
            return user
        }
        guard let claims = tokens.identity.flatMap(JSONWebToken.claims) else { return nil }
        return user(in: claims, id: ["sub"])
    }

    /// Returns the token response's data about the user, such as SPiD's `is_admin`. Tokens store all values as text.
    private func keptAttributes(of tokens: Tokens) -> [JSONValue.Member] {
        (definition.keep ?? []).compactMap { name in
            tokens[name].map { text in
                .init(name, text == "true" || text == "false" ? .bool(text == "true") : .string(text))
            }
        }
    }

    /// Reads the user from an answer, by the definition's names. Returns nil without an id.
    public func user(in json: JSONValue, id names: [String]? = nil) -> UserInfo? {
        let rules = definition.user
        let json = rules?.at.flatMap { json[$0] } ?? json
        let text = { (names: [String]?, usual: [String]) in
            (names ?? usual).lazy.compactMap { json.text(at: $0) }.first { !$0.isEmpty }
        }
        // An id of another type does not count as missing, because the next member may belong to another user.
        let ids = (names ?? rules?.id ?? ["sub", "user_id", "id"]).compactMap { json.value(at: $0)?.unlessNull }
        guard let first = ids.first(where: { $0 != "" }), first.bool == nil, let id = first.plainText else {
            return nil
        }
        let email = text(rules?.email, ["email"])
        var user = UserInfo(
            userID: UserID(id),
            userName: text(rules?.userName, ["preferred_username", "username", "user_name", "email"]) ?? id)
        user.name = text(rules?.name, ["name"])
        user.email = email
        user.phoneNumber = text(rules?.phoneNumber, ["phone_number"])
        user.locale = text(rules?.locale, ["locale"])
        user.attributes = json.members ?? []
        return user
    }

    // MARK: Each request

    public func authorize(_ request: inout HTTPRequest, with tokens: Tokens) {
        if !hooks.authorize(&request, with: tokens, self) { place(tokens.access, in: &request) }
        GatePass.apply(tokens, to: &request, for: host(of: request.url), usual: resources.first?.authority)
    }

    private func place(_ access: Secret, in request: inout HTTPRequest) {
        let token = access.revealString()
        switch definition.placement?.kind {
        case "raw": request.headers.append(HTTPHeader("Authorization", token))
        case "query":
            request.url +=
                (request.url.contains("?") ? "&" : "?") + (definition.placement?.name ?? "access_token") + "="
                + FormEncoding.encodedForQuery(token)
        case "none": break
        default: request.headers.append(HTTPHeader("Authorization", "Bearer \(token)"))
        }
    }
}

extension ConfiguredProvider {
    /// Revokes the refresh token and the access token, if the server can (RFC 7009). Otherwise the session is ended at the provider's
    /// sign-out page, if it has one (RP-Initiated Logout 1.0). That may or may not end the tokens.
    @discardableResult
    public func signOut(_ tokens: Tokens, everywhere: Bool) async throws(AccountError) -> SignOutReport {
        if let report = try await hooks.signOut(tokens, everywhere: everywhere, self) { return report }
        guard tokens.kind == .oauth else { return .complete }
        guard let url = try await findEndpoint("revoke") else { return try await endSession(tokens) }
        let client = try await client(for: .refreshToken)
        guard let refresh = tokens.refresh else {
            try await revoke(tokens.access, .accessToken, at: url, as: client)
            return .complete
        }
        try await revoke(refresh, .refreshToken, at: url, as: client)
        do throws(AccountError) {
            try await revoke(tokens.access, .accessToken, at: url, as: client)
        } catch {
            // Servers must be able to revoke refresh tokens, but for access tokens it is only recommended (RFC 7009, section 2). The access
            // token ends soon.
            guard error.serverCause == OAuthError.Code.unsupportedTokenType.rawValue else { throw error }
        }
        return .complete
    }

    private func revoke(
        _ token: Secret, _ hint: FormRequest.TokenHint, at url: String, as client: ClientAuthentication
    ) async throws(AccountError) {
        _ = try await post(
            .revocation(of: token, hint: hint), to: url, as: client, for: .refreshToken, wantsJSON: false)
    }

    // MARK: Without revocation

    /// Ends the session at the sign-out page. The ID token names the session (`id_token_hint`). It is sent in a form's body, and never in
    /// an address.
    private func endSession(_ tokens: Tokens) async throws(AccountError) -> SignOutReport {
        var report = SignOutReport(leaving: tokens)
        guard let url = try await findEndpoint("endSession") else { return report }
        report.page = url
        guard let identity = tokens.identity else { return report }
        var form = FormRequest()
        form.set("id_token_hint", identity)
        if let target = definition.postLogoutRedirect.flatMap(self.url) {
            form.append("post_logout_redirect_uri", target)
        }
        let request = HTTPRequest(form, to: url, as: .none(clientID: try clientID()))
        let response: HTTPResponse
        do throws(HTTPError) {
            response = try await tools.http.send(request)
        } catch {
            throw AccountError(error)
        }
        // The answer is a page or a redirect for a browser. Only introspection shows whether the tokens ended.
        guard 200..<400 ~= response.status else { return report }
        var left: [SignOutReport.Token] = []
        for token in report.stillValid {
            let secret = token.kind == .refresh ? tokens.refresh : tokens.access
            let isActive = await isActive(
                secret ?? tokens.access, token.kind == .refresh ? .refreshToken : .accessToken)
            guard isActive != false else { continue }
            left.append(.init(kind: token.kind, expires: token.expires, isCertain: isActive == true))
        }
        report.stillValid = left
        return report
    }

    /// Returns whether the token is active; nil if the server does not say.
    private func isActive(_ token: Secret, _ hint: FormRequest.TokenHint) async -> Bool? {
        guard let url = try? await findEndpoint("introspect") else { return nil }
        return try? await introspect(token, hint, at: url).isActive
    }

    /// Returns the server's information about the access token (RFC 7662).
    public func introspect(_ tokens: Tokens) async throws(AccountError) -> Introspection {
        try await introspect(tokens.access, .accessToken, at: try await endpoint("introspect"))
    }

    private func introspect(
        _ token: Secret, _ hint: FormRequest.TokenHint, at url: String
    ) async throws(AccountError) -> Introspection {
        let reply = try await post(
            .introspection(of: token, hint: hint), to: url, as: try await client(for: .clientCredentials),
            for: .clientCredentials)
        do throws(OAuth2FormatError) {
            return try Introspection(reply.json)
        } catch {
            throw AccountError(
                .malformedAnswer, message: "\(title) did not give a valid introspection response: \(error.message)")
        }
    }
}
