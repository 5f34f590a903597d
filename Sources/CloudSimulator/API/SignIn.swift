import JSON

extension CloudAPI {
    /// `POST login2`: a password, or a refresh token.
    func logIn(_ call: Call) throws(APIError) -> Response {
        let body = try call.body()
        if let token = try body.string("refreshtoken") { return try refresh(token) }
        guard let name = try body.string("user_name"), !name.isEmpty else { throw .userNameMissing }
        guard let password = try body.string("password"), !password.isEmpty else { throw .passwordMissing }
        guard let user = readState({ $0.user(named: name) }), user.accepts(password: password) else {
            throw .wrongPassword
        }
        let begun = try beginSession(for: user)
        journal.login(user: user.userName, by: "password")
        return success(
            "Login successful", members(begun.tokens) + [.init("refreshtoken", .string(begun.refreshToken))])
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
        case nil: everywhere = try body.bool("logout_all") ?? false
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

    private func members(_ tokens: TokenIssuer.Tokens) -> [JSONValue.Member] {
        [.init("idtoken", .string(tokens.id)), .init("accesstoken", .string(tokens.access))]
    }
}
