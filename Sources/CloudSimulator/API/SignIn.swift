import JSON

extension CloudAPI {
    /// `POST login2`: a password, or a refresh token.
    func logIn(_ call: Call) throws(APIError) -> Response {
        let body = try call.body()
        if let token = try body.string("refreshtoken") { return try refresh(token) }
        guard let name = try body.string("user_name"), !name.isEmpty else { throw .userNameMissing }
        guard let password = try body.string("password"), !password.isEmpty else { throw .passwordMissing }
        guard let user = readState({ $0.user(named: name) }), user.password.matches(password) else {
            throw .wrongPassword
        }

        let now = now
        var session = Session(id: makeUUID(), userID: user.id, startedAt: now)
        let refresh = RefreshToken.issue(session: session.id, expiresAt: now + options.refreshLifetime.milliseconds)
        session.refreshToken = refresh.token
        let begun = session
        let tokens = try issue(user, begun)
        try change { $0.begin(begun) }
        journal.login(user: user.userName)
        return success("Login successful", members(tokens) + [.init("refreshtoken", .string(refresh.text))])
    }

    /// `POST login2` with a refresh token ("extend session"). With rotation the reply has a new refresh token, too.
    private func refresh(_ text: String) throws(APIError) -> Response {
        let (tokens, replacement) = try renew(text)
        let rotated: [JSONValue.Member] = replacement.map { [.init("refreshtoken", .string($0))] } ?? []
        return success("Login successful", members(tokens) + rotated)
    }

    /// New tokens for a refresh token. One that was replaced long ago ends its session: whoever presents it may have
    /// stolen it, or the one who replaced it has.
    func renew(_ text: String) throws(APIError) -> (tokens: TokenIssuer.Tokens, refreshToken: String?) {
        let now = now
        let rotation = options.rotation
        let (verdict, session, user) = try change { state -> (RefreshToken.Verdict, Session?, User?) in
            guard let id = RefreshToken.session(of: text), var session = state.sessions[id],
                var token = session.refreshToken
            else { return (.unknown, nil, nil) }
            let verdict = token.redeem(text, at: now, rotation: rotation)
            session.refreshToken = token
            state.sessions[id] = verdict == .reused ? nil : session
            return (verdict, session, state.users[session.userID])
        }
        journal.refresh(user: user?.userName, outcome: verdict.outcome)
        switch verdict {
        case .accepted, .rotated, .grace: break
        case .reused, .unknown, .expired: throw .refreshFailed
        }
        guard let session, let user else { throw .refreshFailed }
        return (try issue(user, session), verdict.replacement)
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

    func issue(_ user: User, _ session: Session) throws(APIError) -> TokenIssuer.Tokens {
        do throws(SimulatorError) {
            return try issuer.issue(for: user, in: session, at: now)
        } catch {
            throw APIError(error)
        }
    }

    private func members(_ tokens: TokenIssuer.Tokens) -> [JSONValue.Member] {
        [.init("idtoken", .string(tokens.id)), .init("accesstoken", .string(tokens.access))]
    }

    /// As ``changeState(_:)``, with the API's own error.
    func change<Result: Sendable>(_ body: (inout CloudState) -> Result) throws(APIError) -> Result {
        do throws(SimulatorError) {
            return try changeState(body)
        } catch {
            throw APIError(error)
        }
    }
}
