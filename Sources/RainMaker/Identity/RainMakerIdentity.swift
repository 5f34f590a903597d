// SPDX-License-Identifier: Apache-2.0
import Logging
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// Signs users in at the RainMaker cloud: by password, by one-time code, by browser, or as a guest.
public struct RainMakerIdentity: IdentityProvider {
    public let name = "rainmaker"
    public let title = "RainMaker"
    private let service: RainMakerService
    private let clock: any WallClock

    /// Creates the sign-in of one deployment. Sends nothing.
    /// - Parameter clock: gives the time at which tokens arrive.
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
            // The cloud sends no new refresh token, but a deployment that rotates them does. Without a new one, the old one is kept.
            return try self.tokens(
                reply, refresh: try secret(reply, "refreshtoken") ?? refresh,
                identity: try secret(reply, "idtoken") ?? tokens.identity)
        } catch {
            throw Self.endsSession(error) ? .refused(error) : .unavailable(error)
        }
    }

    /// Whether the error ends the session: refresh token refused, log-in failed, logged out elsewhere, user deleted. The official apps sign
    /// out for these errors too. Only the service itself can report them. An answer without `error_code`, or a 5xx, comes from a gateway or
    /// proxy and does not count.
    private static func endsSession(_ error: AccountError) -> Bool {
        guard let code = error.serverCode, let status = error.status, 400..<500 ~= status else { return false }
        return [101_016, 101_017, 100_047, 101_025, 119_006].contains(code)
    }

    @discardableResult
    public func signOut(_ tokens: Tokens, everywhere: Bool) async throws(AccountError) -> SignOutReport {
        let query = [(name: "logout_all", value: everywhere ? "true" : "false")]
        // The cloud revokes the refresh token in the body. Without it, the cloud would revoke only the access token.
        let body = tokens.refresh.map { JSONValue.object([.init("refreshtoken", .string($0.revealString()))]) }
        do throws(AccountError) {
            _ = try await call(RainMakerCall(.post, "logout2", query: query, body: body), with: tokens)
            return .complete
        } catch {
            guard error.saysNoSuchCall else { throw error }
            return SignOutReport(leaving: tokens)
        }
    }

    /// Adds the access token without `Bearer`.
    public func authorize(_ request: inout HTTPRequest, with tokens: Tokens) {
        request.headers.append(HTTPHeader("Authorization", tokens.access.revealString()))
    }

    // MARK: Calls

    private func call(_ call: RainMakerCall, with tokens: Tokens) async throws(AccountError) -> JSONValue {
        try await service.send(call) { authorize(&$0, with: tokens) }
    }

    /// Returns the access, ID and refresh token of a completed sign-in.
    private func tokens(ofSignIn reply: JSONValue) throws(AccountError) -> Tokens {
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
    private func secret(_ reply: JSONValue, _ name: String) throws(AccountError) -> Secret? {
        guard let value = reply[name]?.unlessNull, value != "" else { return nil }
        guard let text = value.string, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw AccountError(
                .malformedAnswer,
                message: "\(service.deployment.base.authority) answered with a \(name) that is not a token")
        }
        return Secret(text)
    }
}

extension RainMakerIdentity {
    /// Signs in by `login2` with a password. If a second step is switched on, the answer has no tokens but a session for that step.
    private func signIn(user: String, password: Secret) async throws(AccountError) -> Tokens {
        let body: JSONValue = ["user_name": .string(user), "password": .string(password.revealString())]
        let reply = try await service.call(RainMakerCall(.post, "login2", body: body))
        if reply["accesstoken"] == nil, let session = try secret(reply, "session") {
            var error = AccountError(
                .secondStepRequired,
                message: "the password is right, but the one-time code that was sent is needed too")
            error.challenge = SignInChallenge(userName: user, session: session)
            throw error
        }
        return try tokens(ofSignIn: reply)
    }
}

extension RainMakerIdentity {
    /// Asks the cloud to send a code to the user: `login2` with only a user name.
    func requestOneTimeCode(user: String) async throws(AccountError) -> SignInChallenge {
        let reply: JSONValue
        do throws(AccountError) {
            reply = try await service.call(RainMakerCall(.post, "login2", body: ["user_name": .string(user)]))
        } catch {
            throw error.about(user)
        }
        guard let session = try secret(reply, "session") else { throw service.incomplete("session") }
        return SignInChallenge(userName: user, session: session)
    }

    /// Sends the code by `login2`, after either first step.
    private func answer(_ challenge: SignInChallenge, code: Secret) async throws(AccountError) -> Tokens {
        try RainMakerInput.check(code: code)
        let body: JSONValue = [
            "user_name": .string(challenge.userName), "verification_code": .string(code.revealString()),
            "session": .string(challenge.session.revealString()),
        ]
        let reply: JSONValue
        do throws(AccountError) {
            reply = try await service.call(RainMakerCall(.post, "login2", body: body))
        } catch {
            guard error.serverCode == 101_016 else { throw error }
            // The cloud says this of a wrong password too. Of a code it has another number, so here it is the session of the sign-in.
            var error = error
            error.code = .challengeExpired
            error.message =
                "the sign-in no longer waits for a code: it is too old, or it already received the right code or several wrong codes; begin again"
            throw error
        }
        return try tokens(ofSignIn: reply)
    }
}

extension RainMakerIdentity {
    /// Exchanges the code that a browser brought back from the sign-in page. From then on the session is like any other: `login2` renews
    /// it.
    ///
    /// - Throws: `invalidGrant` for a code that was used before or is not ours, `untrustedAnswer` for tokens that are not for this sign-in.
    private func redeem(
        code: Secret, redirectURI: String, codeVerifier: Secret?, nonce: String?
    ) async throws(AccountError) -> Tokens {
        let server = try service.deployment.signInPage()
        let request = TokenRequest.authorizationCode(
            code, redirectURI: redirectURI, codeVerifier: codeVerifier.flatMap(CodeVerifier.init))
        let response = try await TokenEndpoint(url: server.tokenURL, client: server.client, http: service.http).redeem(
            request)
        // The token came from the token endpoint over TLS, which replaces a check of its signature (OpenID Connect Core 1.0, section
        // 3.1.3.7, rule 6). Its expiry is not checked: nothing depends on this token later, and the local clock may be wrong.
        if let identity = response.identityToken {
            try IdentityTokenCheck(clientID: server.clientID, issuer: server.issuer, nonce: nonce).check(identity)
        }
        try JSONWebToken.checkTimes(of: response.accessToken)
        var tokens = Tokens(
            jsonWebToken: response.accessToken, refresh: response.refreshToken, identity: response.identityToken,
            received: clock.now)
        // If the access token has no expiry of its own, the answer's `expires_in` counts.
        if tokens.expires == nil, let seconds = response.expiresIn { tokens.expires = tokens.received + seconds }
        return tokens
    }
}

extension RainMakerIdentity {
    /// Creates a new account without a name, if the deployment has guests. The cloud gives it a name.
    private func signInAsGuest() async throws(AccountError) -> Tokens {
        try tokens(ofSignIn: try await service.call(RainMakerCall(.post, "user/guest")))
    }
}

extension RainMakerIdentity {
    public func user(_ tokens: Tokens) async throws(AccountError) -> UserInfo {
        let reply = try await call(RainMakerCall(.get, "user2"), with: tokens)
        guard let user = UserInfo(rainMaker: reply) else { throw service.incomplete("user_id") }
        return user
    }

    public func user(claimedBy tokens: Tokens) -> UserInfo? { Self.user(claimedBy: tokens) }

    fileprivate static func user(claimedBy tokens: Tokens) -> UserInfo? {
        guard let claims = tokens.identity.flatMap(JSONWebToken.claims),
            let userID = claims["custom:user_id"]?.string, !userID.isEmpty
        else { return nil }
        let email = claims["email"]?.string
        let phoneNumber = claims["phone_number"]?.string
        var user = UserInfo(userID: UserID(userID), userName: email ?? phoneNumber ?? userID)
        user.email = email
        user.phoneNumber = phoneNumber
        return user
    }
}

extension UserInfo {
    /// Reads the answer of `user2`. Returns nil without a user id.
    init?(rainMaker reply: JSONValue) {
        guard let userID = reply["user_id"]?.string, !userID.isEmpty else { return nil }
        self.init(userID: UserID(userID), userName: reply["user_name"]?.string ?? reply["email"]?.string ?? userID)
        name = reply["name"]?.string
        email = reply["email"]?.string
        phoneNumber = reply["phone_number"]?.string
        locale = reply["locale"]?.string
        usesSecondFactor = reply["mfa"]?.bool
    }
}

extension AccountSession {
    /// Creates a session at a RainMaker deployment. The store holds it under the names of the deployment and the account.
    /// - Parameter account: the account's name in the store; nil if the deployment has only one.
    public static func rainMaker(
        _ deployment: Deployment, http: any HTTPClient, store: any CredentialStore, account: String? = nil,
        clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) throws(AccountError) -> AccountSession {
        try rainMaker(
            deployment, http: http, store: store, account: account, clock: clock, logger: logger,
            timer: ContinuousClock())
    }

    /// - Parameter timer: measures the time limits.
    package static func rainMaker(
        _ deployment: Deployment, http: any HTTPClient, store: any CredentialStore, account: String? = nil,
        clock: any WallClock = SystemWallClock(), logger: Logger? = nil, timer: any Clock<Duration>
    ) throws(AccountError) -> AccountSession {
        let server = ServerClock(clock: clock)
        return AccountSession(
            provider: RainMakerIdentity(deployment, http: server.listening(to: http), clock: clock), http: http,
            store: store, key: try CredentialKey(deployment.name, account: account), clock: clock, server: server,
            logger: logger, timer: timer)
    }
}

extension SavedSession {
    /// Creates a RainMaker session from tokens that another client has stored. The tokens name the user and the expiry. Nothing is sent.
    ///
    /// - Throws: `storeUnreadable` if they do not name a user.
    public init(rainMakerAccess access: Secret, refresh: Secret?, identity: Secret?) throws(AccountError) {
        do throws(AccountError) { try JSONWebToken.checkTimes(of: access) } catch {
            throw AccountError(.storeUnreadable, message: error.message)
        }
        let claims = JSONWebToken.claims(of: access)
        let end = claims?["exp"]?.double
        // The token arrived when it was issued, perhaps hours ago. Its expiry is the one that it contains.
        let tokens = Tokens(
            access: access, refresh: refresh, identity: identity,
            received: UnixTime(seconds: claims?["iat"]?.double ?? end ?? 0),
            expires: end.map { UnixTime(seconds: $0) })
        guard let user = RainMakerIdentity.user(claimedBy: tokens), !user.userID.rawValue.isEmpty else {
            throw AccountError(
                .storeUnreadable, message: "the session's tokens do not name a user",
                remedies: [.signIn])
        }
        self.init(provider: "rainmaker", userID: user.userID, userName: user.userName, tokens: tokens)
    }
}
