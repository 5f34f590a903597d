// SPDX-License-Identifier: Apache-2.0
import Logging
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

extension RainMakerIdentity {
    /// `login2` with a password. Where a second step is switched on, the answer is not tokens but a session for it.
    func signIn(user: String, password: Secret) async throws(AccountError) -> Tokens {
        let body: JSONValue = ["user_name": .string(user), "password": .string(password.revealString())]
        let reply = try await service.call(RainMakerCall(.post, "login2", body: body))
        if reply["accesstoken"] == nil, let session = try secret(reply, "session") {
            var error = AccountError(
                .secondStepRequired,
                message: "the password is right, and the one-time code that was sent is wanted too")
            error.challenge = SignInChallenge(userName: user, session: session)
            throw error
        }
        return try tokens(ofSignIn: reply)
    }
}

extension RainMakerIdentity {
    /// `login2` with a user name alone: has a code sent to the user.
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

    /// `login2` with the code, after either first step.
    func answer(_ challenge: SignInChallenge, code: Secret) async throws(AccountError) -> Tokens {
        try RainMakerInput.check(code: code)
        let body: JSONValue = [
            "user_name": .string(challenge.userName), "verification_code": .string(code.revealString()),
            "session": .string(challenge.session.revealString()),
        ]
        return try tokens(ofSignIn: try await service.call(RainMakerCall(.post, "login2", body: body)))
    }
}

extension RainMakerIdentity {
    /// Redeems what a browser brought back from the sign-in page. From then on the session is like any other: it is renewed by
    /// `login2`.
    ///
    /// - Throws: `invalidGrant` for a code that is used up or not ours, `untrustedAnswer` for tokens that are not for this sign-in.
    func redeem(
        code: Secret, redirectURI: String, codeVerifier: Secret?, nonce: String?
    ) async throws(AccountError) -> Tokens {
        let server = try service.deployment.signInPage()
        let request = TokenRequest.authorizationCode(
            code, redirectURI: redirectURI, codeVerifier: codeVerifier.flatMap(CodeVerifier.init))
        let response = try await TokenEndpoint(url: server.tokenURL, client: server.client, http: service.http).redeem(
            request)
        // It came from the token endpoint over TLS, which stands in for its signature (OpenID Connect Core 1.0, section 3.1.3.7, rule 6),
        // and its end is left alone: nothing is decided by this token later, and the clock here may be wrong.
        if let identity = response.identityToken {
            try IdentityTokenCheck(clientID: server.clientID, issuer: server.issuer, nonce: nonce).check(identity)
        }
        try JSONWebToken.checkTimes(of: response.accessToken)
        var tokens = Tokens(
            jsonWebToken: response.accessToken, refresh: response.refreshToken, identity: response.identityToken,
            received: clock.now)
        // An access token that says nothing about itself: the answer it came in does.
        if tokens.expires == nil, let seconds = response.expiresIn { tokens.expires = tokens.received + seconds }
        return tokens
    }
}

extension RainMakerIdentity {
    /// A new account without a name, where the deployment has guests. The cloud gives it a name.
    func signInAsGuest() async throws(AccountError) -> Tokens {
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

    static func user(claimedBy tokens: Tokens) -> UserInfo? {
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
    /// What `user2` answers; nil without a user id.
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
    /// A session at a RainMaker deployment, stored under the deployment's name and the account's.
    /// - Parameter account: what the account is called in the store; nil where there is no other.
    public static func rainMaker(
        _ deployment: Deployment, http: any HTTPClient, store: any CredentialStore, account: String? = nil,
        clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) throws(AccountError) -> AccountSession {
        try rainMaker(
            deployment, http: http, store: store, account: account, clock: clock, logger: logger,
            timer: ContinuousClock())
    }

    /// - Parameter timer: by which what takes too long is given up.
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
    /// A RainMaker session from its tokens alone, as another client has kept them: the tokens say whose it is and until when. Nothing is
    /// sent.
    ///
    /// - Throws: `storeUnreadable` if they do not name a user.
    public init(rainMakerAccess access: Secret, refresh: Secret?, identity: Secret?) throws(AccountError) {
        do throws(AccountError) { try JSONWebToken.checkTimes(of: access) } catch {
            throw AccountError(.storeUnreadable, message: error.message)
        }
        let claims = JSONWebToken.claims(of: access)
        let end = claims?["exp"]?.double
        // It came when it was issued, which is hours ago perhaps: its end is the one that it states.
        let tokens = Tokens(
            access: access, refresh: refresh, identity: identity,
            received: UnixTime(seconds: claims?["iat"]?.double ?? end ?? 0),
            expires: end.map { UnixTime(seconds: $0) })
        guard let user = RainMakerIdentity.user(claimedBy: tokens), !user.userID.rawValue.isEmpty else {
            throw AccountError(
                .storeUnreadable, message: "the session's tokens do not say whose it is: sign in again",
                remedies: [.signIn])
        }
        self.init(provider: "rainmaker", userID: user.userID, userName: user.userName, tokens: tokens)
    }
}
