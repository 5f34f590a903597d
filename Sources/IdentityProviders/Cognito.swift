// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// Amazon Cognito user pools, on which RainMaker's own deployments are built. This definition uses their JSON calls.
enum CognitoDefinition {
    static let text = """
        {
          "schemaVersion": 1,
          "id": "cognito",
          "title": "Amazon Cognito",
          "environments": {},
          "parameters": [
            { "name": "domain", "description": "the user pool's sign-in domain, for browsers, as https://…" }
          ],
          "context": ["base", "clientID"],
          "endpoints": {
            "calls": "{base}/",
            "authorize": "{domain}/oauth2/authorize",
            "token": "{domain}/oauth2/token",
            "revoke": "{domain}/oauth2/revoke"
          },
          "scope": { "usual": ["openid", "email", "profile", "aws.cognito.signin.user.admin"] },
          "redirects": [{ "way": "loopback", "path": "/callback" }],
          "client": { "authentication": "none" },
          "grants": { "authorizationCode": { "nonce": true }, "password": {}, "refreshToken": {} },
          "unsupported": {
            "implicit": "Cognito issues codes, which are safer than tokens in addresses",
            "deviceCode": "Cognito has no sign-in on another device",
            "clientCredentials": "a user pool's client credentials are for its own services, not for users' sessions",
            "assertion": "Cognito accepts no assertions of other providers directly: sign in through the browser",
            "basic": "Cognito accepts tokens, not a password with each request",
            "cookie": "Cognito accepts tokens, not cookies"
          },
          "errors": [
            { "at": "__type", "error": "NotAuthorizedException", "says": "username or password", "reason": "invalid_credentials" },
            { "at": "__type", "error": "NotAuthorizedException", "reason": "invalid_grant" },
            { "at": "__type", "error": "UserNotFoundException", "reason": "unknown_user" },
            { "at": "__type", "error": "UserNotConfirmedException", "reason": "unverified_user" },
            { "at": "__type", "error": "PasswordResetRequiredException", "reason": "password_reset_required" },
            { "at": "__type", "error": "TooManyRequestsException", "reason": "rate_limited" },
            { "at": "__type", "error": "ResourceNotFoundException", "reason": "client_refused" },
            { "at": "__type", "error": "InternalErrorException", "reason": "server_fault" }
          ]
        }
        """
}

/// Cognito's own calls: `InitiateAuth` with a password or a refresh token, which stays the same, and `GetUser`.
struct CognitoExtension: ProviderExtension {
    func signIn(
        _ credentials: SignInCredentials, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Tokens? {
        guard case .password(let user, let password) = credentials else { return nil }
        return try await initiate(
            "USER_PASSWORD_AUTH", ["USERNAME": .string(user), "PASSWORD": .string(password.revealString())],
            for: .password, provider)
    }

    func renew(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(RenewalError) -> Tokens? {
        guard let refresh = tokens.refresh else { return nil }
        do throws(AccountError) {
            return try await initiate(
                "REFRESH_TOKEN_AUTH", ["REFRESH_TOKEN": .string(refresh.revealString())], for: .refreshToken,
                renewing: tokens, provider)
        } catch {
            throw ConfiguredProvider.endsSession(error) ? .refused(error) : .unavailable(error)
        }
    }

    func user(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(AccountError) -> UserInfo? {
        let reply = try await provider.exchange(
            try await request("GetUser", ["AccessToken": .string(tokens.access.revealString())], provider))
        var members: [JSONValue.Member] = []
        for attribute in reply.json["UserAttributes"]?.array ?? [] {
            if let name = attribute["Name"]?.string, let value = attribute["Value"] {
                members.append(.init(name, value))
            }
        }
        if let name = reply.json["Username"] { members.append(.init("username", name)) }
        let user = JSONValue.object(members)
        return provider.user(in: user) ?? provider.user(in: user, id: ["username"])
    }

    func signOut(
        _ tokens: Tokens, everywhere: Bool, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> SignOutReport? {
        // Revoking needs the pool's domain. `GlobalSignOut` ends all sessions of the user, so it is used only on request.
        guard everywhere else { return provider["domain"] == nil ? SignOutReport(leaving: tokens) : nil }
        _ = try await provider.exchange(
            try await request("GlobalSignOut", ["AccessToken": .string(tokens.access.revealString())], provider))
        return .complete
    }

    private func initiate(
        _ flow: String, _ parameters: JSONValue, for grant: GrantName, renewing old: Tokens? = nil,
        _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Tokens {
        let body: JSONValue = [
            "AuthFlow": .string(flow), "ClientId": .string(try provider.clientID()), "AuthParameters": parameters,
        ]
        let reply = try await provider.exchange(try await request("InitiateAuth", body, provider))
        if let challenge = reply.json["ChallengeName"]?.string {
            throw AccountError(
                .secondStepRequired,
                message:
                    "Cognito requires a second step (\(presentable(challenge))), which only its sign-in page supports",
                remedies: [.signInPage])
        }
        let result = reply.json["AuthenticationResult"] ?? .null
        let names = [
            "access_token": "AccessToken", "refresh_token": "RefreshToken", "id_token": "IdToken",
            "token_type": "TokenType", "expires_in": "ExpiresIn",
        ]
        let members = names.sorted { $0.key < $1.key }.compactMap { name, theirs in
            result[theirs].map { JSONValue.Member(name, $0) }
        }
        let json = JSONValue.object(members)
        let response = try provider.response(ConfiguredProvider.Reply(json: json, response: reply.response))
        return try await provider.tokens(response, json, for: grant, renewing: old, at: reply.response)
    }

    private func request(
        _ call: String, _ body: JSONValue, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> HTTPRequest {
        HTTPRequest(
            method: .post, url: try await provider.endpoint("calls"),
            headers: [
                HTTPHeader("Content-Type", "application/x-amz-json-1.1"), HTTPHeader("User-Agent", "RainKit"),
                HTTPHeader("X-Amz-Target", "AWSCognitoIdentityProviderService.\(call)"),
            ], body: body.serialized())
    }
}
