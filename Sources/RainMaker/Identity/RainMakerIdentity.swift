// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// Sign-in at the RainMaker cloud: by password, by one-time code, by what a browser brought back, or as a guest. Each way in has a
/// file of its own beside this one.
public struct RainMakerIdentity: IdentityProvider {
    public let name = "rainmaker"
    public let title = "RainMaker"
    let service: RainMakerService
    let clock: any WallClock

    /// The sign-in of one deployment. Nothing is sent.
    /// - Parameter clock: says when tokens came.
    public init(_ deployment: Deployment, http: any HTTPClient, clock: any WallClock = SystemWallClock()) {
        service = RainMakerService(deployment, http: http)
        self.clock = clock
    }

    public var resources: [ServiceURL] { [service.deployment.base] + [service.deployment.claim].compactMap(\.self) }

    public var context: [String: String] { service.deployment.sessionContext }

    public func signIn(_ credentials: SignInCredentials) async throws(AccountError) -> Tokens {
        switch credentials {
        case .password(let user, let password):
            do throws(AccountError) { return try await signIn(user: user, password: password) } catch {
                throw error.about(user)
            }
        case .oneTimeCode(let challenge, let code):
            do throws(AccountError) { return try await answer(challenge, code: code) } catch {
                throw error.about(challenge.userName)
            }
        case .guest:
            return try await signInAsGuest()
        case .authorizationCode(let code, let redirectURI, let codeVerifier, let nonce):
            return try await redeem(
                code: code, redirectURI: redirectURI, codeVerifier: codeVerifier, nonce: nonce)
        case .tokens, .clientCredentials, .assertion, .thirdParty:
            throw unsupported(credentials)
        }
    }

    public func renew(_ tokens: Tokens) async throws(RenewalError) -> Tokens {
        guard let refresh = tokens.refresh else {
            throw .refused(AccountError(.expired, message: "the session has ended; sign in again"))
        }
        do throws(AccountError) {
            let body: JSONValue = ["refreshtoken": .string(refresh.revealString())]
            let reply = try await service.send(RainMakerCall(.post, "login2", body: body))
            // The cloud sends no new refresh token, and a deployment that rotates them does: the old one is kept else.
            return try self.tokens(
                reply, refresh: try secret(reply, "refreshtoken") ?? refresh,
                identity: try secret(reply, "idtoken") ?? tokens.identity)
        } catch {
            throw Self.endsSession(error) ? .refused(error) : .unavailable(error)
        }
    }

    /// Refresh token refused, log-in failed, logged out elsewhere, user gone: what the official apps sign out for too. Only the
    /// service itself can say so: a gateway or a proxy on the way (no `error_code`, or 5xx) cannot.
    private static func endsSession(_ error: AccountError) -> Bool {
        guard let code = error.serverCode, let status = error.status, 400..<500 ~= status else { return false }
        return [101_016, 101_017, 100_047, 101_025, 119_006].contains(code)
    }

    @discardableResult
    public func signOut(_ tokens: Tokens, everywhere: Bool) async throws(AccountError) -> SignOutReport {
        let query = [(name: "logout_all", value: everywhere ? "true" : "false")]
        // The refresh token in the body is what gets revoked; without it only the access token would be.
        let body = tokens.refresh.map { JSONValue.object([.init("refreshtoken", .string($0.revealString()))]) }
        do throws(AccountError) {
            _ = try await call(RainMakerCall(.post, "logout2", query: query, body: body), with: tokens)
            return .complete
        } catch {
            guard error.saysNoSuchCall else { throw error }
            return SignOutReport(leaving: tokens)
        }
    }

    /// The bare access token, without `Bearer`.
    public func authorize(_ request: inout HTTPRequest, with tokens: Tokens) {
        request.headers.append(HTTPHeader("Authorization", tokens.access.revealString()))
    }

    // MARK: Calls

    func call(_ call: RainMakerCall, with tokens: Tokens) async throws(AccountError) -> JSONValue {
        try await service.send(call) { authorize(&$0, with: tokens) }
    }

    /// The access, id and refresh token that a finished sign-in brings.
    func tokens(ofSignIn reply: JSONValue) throws(AccountError) -> Tokens {
        guard let refresh = try secret(reply, "refreshtoken"), let identity = try secret(reply, "idtoken") else {
            throw service.incomplete("refreshtoken or idtoken")
        }
        return try tokens(reply, refresh: refresh, identity: identity)
    }

    private func tokens(_ reply: JSONValue, refresh: Secret, identity: Secret?) throws(AccountError) -> Tokens {
        guard let access = try secret(reply, "accesstoken") else { throw service.incomplete("accesstoken") }
        try JSONWebToken.checkTimes(of: access)
        return Tokens(jsonWebToken: access, refresh: refresh, identity: identity, received: clock.now)
    }

    /// Returns a token of the answer; nil if the answer has none.
    /// - Throws: `malformedAnswer`, naming the member, for a value that is not a text, or does not fit a header line.
    func secret(_ reply: JSONValue, _ name: String) throws(AccountError) -> Secret? {
        guard let value = reply[name]?.unlessNull, value != "" else { return nil }
        guard let text = value.string, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw AccountError(
                .malformedAnswer,
                message: "\(service.deployment.base.authority) answered with a \(name) that is not a token")
        }
        return Secret(text)
    }
}
