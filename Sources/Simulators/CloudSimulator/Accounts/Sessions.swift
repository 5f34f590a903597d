// SPDX-License-Identifier: Apache-2.0
extension CloudAPI {
    struct Begun {
        var tokens: TokenIssuer.Tokens
        var refreshToken: String
    }

    /// A new session for a user who has just been authenticated.
    func beginSession(
        for user: User, id: String = makeUUID(), clientID: String = TokenIssuer.clientID, scope: String? = nil,
        nonce: String? = nil
    ) throws(APIError) -> Begun {
        let now = now
        var session = Session(id: id, userID: user.id, startedAt: now)
        session.clientID = clientID
        session.scope = scope
        let refresh = RefreshToken.issue(session: id, expiresAt: now + options.refreshLifetime.milliseconds)
        session.refreshToken = refresh.token
        let begun = session
        let tokens = try issue(user, begun, nonce: nonce)
        try change { $0.begin(begun) }
        return Begun(tokens: tokens, refreshToken: refresh.text)
    }

    /// New tokens for a refresh token. One that was replaced long ago ends its session: whoever presents it may have
    /// stolen it, or the one who replaced it has.
    ///
    /// - Parameter clientID: the client that presents it, which must be the session's own; nil for `login2`, which knows
    ///   no clients.
    func renew(
        _ text: String, clientID: String? = nil
    ) throws(APIError) -> (tokens: TokenIssuer.Tokens, refreshToken: String?) {
        let now = now
        let rotation = options.rotation
        let (verdict, session, user) = try change { state -> (RefreshToken.Verdict, Session?, User?) in
            guard let id = RefreshToken.session(of: text), var session = state.sessions[id],
                var token = session.refreshToken, clientID == nil || clientID == session.clientID
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

    private func issue(
        _ user: User, _ session: Session, nonce: String? = nil
    ) throws(APIError) -> TokenIssuer.Tokens {
        do throws(SimulatorError) {
            return try issuer.issue(for: user, in: session, nonce: nonce, at: now)
        } catch {
            throw APIError(error)
        }
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
