// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

extension CloudAPI {
    /// `POST login2`: a password, a code that was sent, or a refresh token.
    func logIn(_ call: Call) throws(APIError) -> Response {
        let body = try call.body()
        if let token = try body.string("refreshtoken") { return try refresh(token) }
        let name = try validName(body)
        if let code = try body.code() { return try finishLogIn(name, code, handle: try body.string("session")) }
        let user = readState { $0.user(named: name) }
        if let password = try body.string("password") {
            guard !password.isEmpty else { throw .passwordMissing }
            guard let user, user.accepts(password: password) else { throw .wrongPassword }
            guard user.isConfirmed else { throw .notVerified }
            guard !user.needsSecondStep else { return try beginLogIn(user, for: .secondStep) }
            return try loggedIn(user, by: "password")
        }
        guard let user else { throw .wrongPassword }
        guard !user.isGuest else { throw .notForGuests }
        guard user.isConfirmed else { throw .notVerified }
        return try beginLogIn(user, for: .signIn)
    }

    /// Sends a code, and answers with the session that the client must send back with the code.
    private func beginLogIn(_ user: User, for kind: Mailbox.Kind) throws(APIError) -> Response {
        let handle = try sendLogInCode(user, for: kind)
        return success(
            "Login request successful. Verification code sent", [.init("session", .string(handle))])
    }

    /// - Returns: the handle of the sign-in that waits for the code.
    func sendLogInCode(_ user: User, for kind: Mailbox.Kind) throws(APIError) -> String {
        var random = OpenSSLRandom()
        let handle = "\(kind.rawValue).\(base64URL(random.bytes(24)))"
        try sendCode(to: user.phone ?? user.userName, for: kind, holder: handle, userID: user.id)
        return handle
    }

    private func finishLogIn(_ name: String, _ code: String, handle: String?) throws(APIError) -> Response {
        guard let handle, !handle.isEmpty else { throw .sessionMissing }
        guard let user = try finishLogIn(handle: handle, code: code), user.userName == name else { throw .loginFailed }
        return try loggedIn(user, by: handle.hasPrefix("\(Mailbox.Kind.secondStep.rawValue).") ? "mfa" : "code")
    }

    /// The user whose sign-in the code completes; nil if there is no such sign-in, or no longer.
    func finishLogIn(handle: String, code: String) throws(APIError) -> User? {
        let kind = handle.split(separator: ".").first.flatMap { Mailbox.Kind(rawValue: String($0)) } ?? .signIn
        let now = now
        let (verdict, user) = try change { state -> (VerificationCodes.Verdict, User?) in
            let verdict = state.codes.redeem(.init(kind, handle), code: code, at: now)
            guard case .right(let pending) = verdict else { return (verdict, nil) }
            return (verdict, state.users[pending.userID])
        }
        switch verdict {
        case .right: return user
        case .wrong: throw .wrongCode
        case .missing, .expired, .exhausted: return nil
        }
    }

    private func loggedIn(_ user: User, by method: String) throws(APIError) -> Response {
        let begun = try beginSession(for: user)
        journal.login(user: user.userName, by: method)
        return success("Login successful", members(begun))
    }

    /// `POST login2` with a refresh token ("extend session"). With rotation the reply has a new refresh token, too.
    private func refresh(_ text: String) throws(APIError) -> Response {
        let (tokens, replacement) = try renew(text)
        let rotated: [JSONValue.Member] = replacement.map { [.init("refreshtoken", .string($0))] } ?? []
        return success("Login successful", members(tokens) + rotated)
    }

    /// `POST logout2`: this access token ends now, the refresh token if it is given; everything with `logout_all`.
    func logOut(_ call: Call) throws(APIError) -> Response {
        guard let access = call.access else { throw .unauthorized }
        let user = try call.caller()
        let body = try call.body(isOptional: true)
        let everywhere: Bool
        switch call.request.query("logout_all") {
        case "true": everywhere = true
        case "false": everywhere = false
        case nil where !body.has("logout_all"): everywhere = false
        case nil:
            guard let given = body.value["logout_all"]?.bool else { throw .badLogoutAll }
            everywhere = given
        default: throw .badLogoutAll
        }
        let refreshToken = try body.string("refreshtoken")
        let now = now
        try change { state in
            if everywhere { state.endSessions(of: user.id) }
            state.sessions[access.sessionID]?.end(access: access.tokenID, expiresAt: access.expiresAt, now: now)
            if let refreshToken, let id = RefreshToken.session(of: refreshToken), var session = state.sessions[id],
                session.userID == user.id, session.refreshToken?.accepts(refreshToken, at: now) == true
            {
                session.refreshToken = nil
                state.sessions[id] = session
            }
        }
        journal.logout(user: user.userName, everywhere: everywhere)
        return success("Logout successful")
    }

    func members(_ begun: Begun) -> [JSONValue.Member] {
        members(begun.tokens) + [.init("refreshtoken", .string(begun.refreshToken))]
    }

    private func members(_ tokens: TokenIssuer.Tokens) -> [JSONValue.Member] {
        [.init("idtoken", .string(tokens.id)), .init("accesstoken", .string(tokens.access))]
    }
}
