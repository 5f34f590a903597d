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
            // Also beyond the refresh token's own end: that is by the clock here, and the word that ends a session is the server's.
            try demand(.refreshToken)
            // What the new id token is checked against is asked for before the refresh token is spent.
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

    /// Only the provider's word on the refresh token itself ends a session: `invalid_grant` and its like, not a 401 on the way.
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
                message: "\(title) does not say who is signed in: it has no user endpoint and no id token"
            )
        }
        let reply = try await send(HTTPRequest(method: .get, url: url, headers: HTTPRequest.usualHeaders), with: tokens)
        guard var found = user(in: reply.json) else {
            throw AccountError(
                .malformedAnswer, message: "\(title) answered without a user's id that is a text or a number",
                status: reply.response.status)
        }
        found.attributes += keptAttributes(of: tokens).filter { kept in
            kept.name != definition.user?.idFromTokens && !found.attributes.contains { $0.name == kept.name }
        }
        // OpenID Connect Core 1.0, section 5.3.2: another subject's answer must not be used.
        if let subject = tokens.identity.flatMap(JSONWebToken.claims)?["sub"]?.string,
            let own = reply.json["sub"]?.unlessNull, own.plainText != subject
        {
            throw AccountError(
                .untrustedAnswer, message: "\(title) told about another user than the one who signed in; sign in again")
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

    /// What the token response said about the user, such as SPiD's `is_admin`. Tokens keep everything as text.
    private func keptAttributes(of tokens: Tokens) -> [JSONValue.Member] {
        (definition.keep ?? []).compactMap { name in
            tokens[name].map { text in
                .init(name, text == "true" || text == "false" ? .bool(text == "true") : .string(text))
            }
        }
    }

    /// The user in an answer, by the definition's names; nil without an id.
    public func user(in json: JSONValue, id names: [String]? = nil) -> UserInfo? {
        let rules = definition.user
        let json = rules?.at.flatMap { json[$0] } ?? json
        let text = { (names: [String]?, usual: [String]) in
            (names ?? usual).lazy.compactMap { json.text(at: $0) }.first { !$0.isEmpty }
        }
        // An id of another type does not count as absent: the next member may be of somebody else.
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
