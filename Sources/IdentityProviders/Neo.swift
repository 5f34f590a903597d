// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// RainMaker Neo: accounts with rotating refresh tokens.
enum NeoDefinition {
    static let text = """
        {
          "schemaVersion": 1,
          "id": "neo",
          "title": "RainMaker Neo",
          "environments": {},
          "resources": ["{base}"],
          "context": ["base"],
          "client": { "authentication": "none" },
          "endpoints": {
            "authorize": "{base}/oauth2/authorize",
            "token": "{base}/oauth2/token",
            "signIn": "{base}/v1/user/auth/token",
            "refresh": "{base}/v1/user/auth/token/refresh",
            "signOut": "{base}/v1/user/auth/signout",
            "user": "{base}/v1/users/me"
          },
          "scope": { "usual": ["openid", "email", "profile"] },
          "redirects": [{ "way": "loopback", "path": "/callback" }],
          "grants": {
            "authorizationCode": { "nonce": false },
            "password": {},
            "refreshToken": {}
          },
          "user": { "id": ["user_id", "sub"], "userName": ["email", "phone_number", "user_id"] },
          "unsupported": {
            "implicit": "Neo issues codes, which are safer than tokens in addresses",
            "deviceCode": "Neo has no sign-in on another device",
            "clientCredentials": "Neo's tokens belong to users, never to a program",
            "assertion": "Neo accepts no assertions of other providers directly: sign in through the browser",
            "basic": "Neo accepts tokens, not a password with each request",
            "cookie": "Neo accepts tokens, not cookies"
          }
        }
        """
}

/// Neo's own calls. A password and a refresh token are sent as JSON, each refresh token is valid for one renewal, and refusals are
/// `{"message": …}`.
struct NeoExtension: ProviderExtension {
    func signIn(
        _ credentials: SignInCredentials, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Tokens? {
        guard case .password(let user, let password) = credentials else { return nil }
        let body: JSONValue = ["username": .string(user), "password": .string(password.revealString())]
        do throws(AccountError) {
            return try await tokens(at: "signIn", body, provider)
        } catch {
            throw error.nothingThere(at: provider, provider.resources.first?.authority ?? provider.name)
        }
    }

    func renew(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(RenewalError) -> Tokens? {
        guard let refresh = tokens.refresh else { return nil }
        do throws(AccountError) {
            let body: JSONValue = ["refresh_token": .string(refresh.revealString())]
            return try await self.tokens(at: "refresh", body, renewing: tokens, provider)
        } catch {
            // 400 and 401 are Neo's decision about this refresh token: it was used before, was revoked or is too old.
            let isWord = [400, 401].contains(error.status) && error.serverCause == Self.spoke
            throw isWord ? .refused(error) : .unavailable(error)
        }
    }

    func signOut(
        _ tokens: Tokens, everywhere: Bool, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> SignOutReport? {
        guard let refresh = tokens.refresh else { return SignOutReport(leaving: tokens) }
        let body: JSONValue = ["refresh_token": .string(refresh.revealString())]
        let request = try await request(at: "signOut", body, provider)
        _ = try await provider.send(request, with: tokens, wantsJSON: false)
        return .complete
    }

    func failure(of response: HTTPResponse, _ json: JSONValue?, _ provider: ConfiguredProvider) -> AccountError? {
        // An answer with `error` comes from the OAuth endpoints, and is read by their rules. An answer that is not JSON comes from a proxy
        // or gateway.
        guard response.status >= 400, let message = json?["message"]?.string, json?["error"] == nil else { return nil }
        let (code, sentence): (AccountError.Code, String) =
            switch (response.status, message.lowercased()) {
            case (_, let words) where words.contains("not confirmed") || words.contains("not verified"):
                (.unverifiedUser, "the user's address is not confirmed yet")
            case (404, let words) where words.contains("user"):
                (.unknownUser, "\(provider.title) does not know the user")
            case (400...401, let words) where words.contains("password") || words.contains("credential"):
                (.invalidCredentials, "wrong user name or password")
            case (401, _): (.expired, "the session has ended; sign in again")
            case (403, _): (.forbidden, "the signed-in user may not do this")
            case (429, _): (.rateLimited, "\(provider.title) received too many requests; try again in a few minutes")
            case (500..., _): (.serverFault, "\(provider.title) has an internal fault; try again later")
            default: (.rejected, "\(provider.title) refused the request (HTTP \(response.status))")
            }
        var error = AccountError(
            code, message: sentence, serverMessage: presentable(message), status: response.status)
        error.serverCause = Self.spoke
        return error
    }

    /// Marks an answer of the service itself, not of a gateway on the way.
    private static let spoke = "message"

    private func tokens(
        at use: String, _ body: JSONValue, renewing old: Tokens? = nil, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Tokens {
        let reply = try await provider.exchange(try await request(at: use, body, provider))
        // These calls name no client, so an ID token cannot be checked against one.
        return try await provider.tokens(
            try provider.response(reply), reply.json, for: .refreshToken, renewing: old, namesClient: false,
            at: reply.response)
    }

    private func request(
        at use: String, _ body: JSONValue, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> HTTPRequest {
        HTTPRequest(
            method: .post, url: try await provider.endpoint(use),
            headers: HTTPRequest.usualHeaders + [HTTPHeader("Content-Type", "application/json")],
            body: body.serialized())
    }
}
