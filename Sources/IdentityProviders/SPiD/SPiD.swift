// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// Schibsted's accounts (SPiD): OAuth 2.0 draft 11, and version 2 of its API.
enum SPiDDefinition {
    static let text = """
        {
          "schemaVersion": 1,
          "id": "spid",
          "title": "Schibsted SPiD",
          "environments": {
            "production": "https://login.schibsted.com",
            "norway": "https://payment.schibsted.no",
            "sweden": "https://payment.schibsted.se",
            "stage": "https://identity-pre.schibsted.com"
          },
          "defaultEnvironment": "production",
          "client": { "authentication": "post" },
          "parameters": [
            { "name": "redirectURI", "description": "sent with grants that need no redirect, for servers that require it" },
            { "name": "locale", "description": "the sign-in page's language, such as nb_NO" },
            { "name": "assertionForm", "value": "spid",
              "description": "spid, or rfc7515 for servers that accept only standard JSON Web Tokens" },
            { "name": "sessionPath", "value": "/session",
              "description": "the path that exchanges codes for browser sessions; /auth/session in older documents" }
          ],
          "secrets": [
            { "name": "signSecret", "description": "signs third-party assertions, and checks signed answers" }
          ],
          "endpoints": {
            "authorize": "{base}/login",
            "token": "{base}/oauth/token",
            "introspect": "{base}/oauth/introspect",
            "user": "{base}/api/2/user/{user_id}",
            "me": "{base}/api/2/me",
            "exchange": "{base}/api/2/oauth/exchange",
            "logout": "{base}/api/2/logout",
            "logoutPage": "{base}/logout",
            "signUpAssertion": "{base}/api/2/signup_jwt",
            "attachAssertion": "{base}/api/2/user/attach_jwt"
          },
          "grants": {
            "authorizationCode": { "answersWithoutParameters": true, "authorizeParameters": { "locale": "{locale}" } },
            "implicit": { "authorizeParameters": { "locale": "{locale}" } },
            "password": { "parameters": { "redirect_uri": "{redirectURI}" } },
            "clientCredentials": { "parameters": { "redirect_uri": "{redirectURI}" } },
            "assertion": {},
            "refreshToken": {}
          },
          "unsupported": {
            "deviceCode": "SPiD has no grant for devices without a browser: paste the address, or use the password grant",
            "basic": "SPiD accepts no password with each request: sign in for a token",
            "cookie": "SPiD's web sessions are for browsers: account web-session makes one"
          },
          "redirects": [
            { "way": "loopback", "path": "/callback" },
            { "way": "scheme", "uri": "spidmobile-{clientID}://login" }
          ],
          "fields": { "server_time": ["server_time"] },
          "expiry": [{ "field": "expires_in", "format": "seconds" }],
          "keep": ["user_id", "is_admin"],
          "user": {
            "id": ["userId", "id"], "userName": ["email", "displayName"], "name": ["displayName", "name.formatted"],
            "email": ["email"], "phoneNumber": ["phoneNumber"], "locale": ["locale"], "idFromTokens": "user_id"
          },
          "context": ["base", "clientID"],
          "links": {
            "terms": "{base}/about/terms", "privacy": "{base}/about/privacy-policy",
            "register": "{base}/flow/signup[?client_id={clientID}]", "forgot": "{base}/flow/password[?client_id={clientID}]"
          }
        }
        """
}

/// SPiD's behavior that its definition cannot express: assertions for third parties, the container of its API's answers with its signature,
/// a sign-out that deletes tokens.
struct SPiDExtension: ProviderExtension {
    static let signSecretName = "signSecret"

    func signIn(
        _ credentials: SignInCredentials, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Tokens? {
        switch credentials {
        case .password(let user, let password):
            // SPiD's own apps remove spaces, which keyboards of telephones add.
            let name = Substring(user).trimmingSpaces
            guard name != user else { return nil }
            try provider.demand(.password)
            return try await provider.redeem(
                .password(user: name, password: password, scope: provider.scope), for: .password)
        case .thirdParty(let token):
            let assertion = try await assertion(for: token, subject: .authorization, use: "token", provider)
            return try await redeem(assertion, of: token, provider)
        case .assertion(let assertion): return try await redeem(assertion, of: nil, provider)
        default: return nil
        }
    }

    /// - Parameter token: the token that the assertion was made from; nil for a given assertion.
    private func redeem(
        _ assertion: Secret, of token: ThirdPartyToken?, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Tokens {
        try provider.demand(.assertion)
        try provider.check(assertion: assertion)
        do throws(AccountError) {
            return try await provider.redeem(.jwtBearer(assertion, scope: provider.scope), for: .assertion)
        } catch {
            throw SPiDAssertionRefusal(token: token, host: provider.resources.first?.authority ?? provider.title)
                .error(error)
        }
    }

    /// Returns an assertion that the user is signed in at a third party.
    /// - Parameter use: the endpoint that the assertion is for, which it names.
    func assertion(
        for token: ThirdPartyToken, subject: SPiDThirdPartyToken.Subject, use: String, serverIsAhead: Double = 0,
        _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Secret {
        guard let kind = SPiDThirdPartyToken.TokenKind(rawValue: token.provider) else {
            let known = SPiDThirdPartyToken.TokenKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw AccountError(
                .unsupported,
                message: "\(provider.title) accepts no tokens of \(presentable(token.provider)), only of \(known)")
        }
        guard !token.applicationID.isEmpty else {
            throw AccountError(
                .missingParameter,
                message:
                    "\(provider.title) requires the id of the application to which \(kind.rawValue) issued the token",
                remedies: [.applicationID])
        }
        guard let signSecret = provider.settings.secrets[Self.signSecretName] else {
            throw AccountError(
                .missingParameter,
                message:
                    "\(provider.title) accepts only assertions that are signed with the client's sign secret, which is missing",
                remedies: [.secretParameter(name: Self.signSecretName)])
        }
        // Google's tokens do not contain their expiry. SPiD's own apps assume an hour.
        let expires = token.expires ?? provider.tools.clock.now + 3600 + serverIsAhead
        let assertion = SPiDThirdPartyToken(
            issuer: token.applicationID, subject: subject, audience: try await provider.endpoint(use),
            expires: expires, kind: kind, token: token.token,
            form: provider["assertionForm"] == "rfc7515" ? .standard : .spid)
        return assertion.signed(with: signSecret, hashes: provider.tools.hashes)
    }

    func complete(
        _ tokens: inout Tokens, from reply: JSONValue, for grant: GrantName, _ provider: ConfiguredProvider
    ) throws(AccountError) {
        // A client's own tokens have `false` as the user, in one of several spellings.
        tokens["user_id"] = SPiDUser.userID(reply["user_id"])?.rawValue
    }

    func failure(of response: HTTPResponse, _ json: JSONValue?, _ provider: ConfiguredProvider) -> AccountError? {
        let host = provider.resources.first?.authority ?? provider.title
        if let json, json.members != nil {
            return SPiDFailure(json, status: response.status)?.accountError(from: host, retryAfter: response.retryAfter)
        }
        guard response.status == SPiDContainer.enhanceYourCalm else { return nil }
        return SPiDFailure(status: response.status).accountError(from: host, retryAfter: response.retryAfter)
    }

    func content(
        of json: JSONValue, in response: HTTPResponse, _ provider: ConfiguredProvider
    ) throws(AccountError) -> JSONValue {
        guard json["access_token"] == nil, json["data"] != nil, json["object"] != nil || json["sig"] != nil else {
            return json
        }
        let signature = provider.settings.secrets[Self.signSecretName].map {
            SPiDSignature(signSecret: $0, hashes: provider.tools.hashes)
        }
        let host = provider.resources.first?.authority ?? provider.title
        return try SPiDContainer(json, from: host, signature: signature).data
    }

    /// Deletes the access token and its refresh token at SPiD.
    func signOut(
        _ tokens: Tokens, everywhere: Bool, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> SignOutReport? {
        let request = HTTPRequest(
            method: .get, url: try await provider.endpoint("logout"), headers: HTTPRequest.usualHeaders)
        _ = try await provider.send(request, with: tokens, wantsJSON: false)
        return .complete
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        var rest = self
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}

/// SPiD's ids of users.
enum SPiDUser {
    /// Returns the user of a token; nil for a client's own token, for which SPiD writes `false`, `0` or nothing.
    static func userID(_ json: JSONValue?) -> UserID? {
        let text: String? = json?.string ?? json?.integer.map { "\($0)" }
        guard let text, !text.isEmpty, text != "0", text.utf8.count <= 64,
            text.utf8.allSatisfy({ $0.isASCIILetterOrDigit || $0 == 0x2D })
        else { return nil }
        return UserID(text)
    }
}
