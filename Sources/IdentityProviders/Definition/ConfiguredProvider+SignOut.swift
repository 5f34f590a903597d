// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP

extension ConfiguredProvider {
    /// Makes the refresh token and the access token worthless where the server can (RFC 7009). Where it cannot, and has a page to sign
    /// out, the session is ended there (RP-Initiated Logout 1.0), which may or may not end the tokens.
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
            // RFC 7009, section 2: servers must be able to revoke refresh tokens, and access tokens only should be. What is left ends soon.
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

    /// The id token says whose session it is (`id_token_hint`); it goes in a form's body, and into no address.
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
        // A page or a redirect is the answer for a browser. Only introspection tells what became of the tokens.
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

    /// nil where the server does not say.
    private func isActive(_ token: Secret, _ hint: FormRequest.TokenHint) async -> Bool? {
        guard let url = try? await findEndpoint("introspect") else { return nil }
        return try? await introspect(token, hint, at: url).isActive
    }

    /// What the server says about the access token (RFC 7662).
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
            throw AccountError(.malformedAnswer, message: "\(title) did not answer as it should: \(error.message)")
        }
    }
}
