// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

extension CloudAPI {
    /// `POST login2` with a password, a code that was sent, or a refresh token.
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

    /// Sends a code, and answers with the session that the client must return with the code.
    private func beginLogIn(_ user: User, for kind: Mailbox.Kind) throws(APIError) -> Response {
        let handle = try sendLogInCode(user, for: kind)
        return success(
            "Login request successful. Verification code sent", [.init("session", .string(handle))])
    }

    /// - Returns: the handle of the sign-in that waits for the code.
    func sendLogInCode(_ user: User, for kind: Mailbox.Kind) throws(APIError) -> String {
        var random = OpenSSLRandom()
        let handle = "\(kind.rawValue).\(Base64.urlText(random.bytes(24)))"
        try sendCode(to: user.phone ?? user.userName, for: kind, holder: handle, userID: user.id)
        return handle
    }

    private func finishLogIn(_ name: String, _ code: String, handle: String?) throws(APIError) -> Response {
        guard let handle, !handle.isEmpty else { throw .sessionMissing }
        guard let user = try finishLogIn(handle: handle, code: code), user.userName == name else { throw .loginFailed }
        return try loggedIn(user, by: handle.hasPrefix("\(Mailbox.Kind.secondStep.rawValue).") ? "mfa" : "code")
    }

    /// Returns the user whose sign-in the code completes; nil if there is no such sign-in, or it has expired.
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

    /// `POST logout2` ends this access token, and the refresh token if it is given. With `logout_all` it ends all sessions.
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

    private func members(_ begun: Begun) -> [JSONValue.Member] {
        members(begun.tokens) + [.init("refreshtoken", .string(begun.refreshToken))]
    }

    private func members(_ tokens: TokenIssuer.Tokens) -> [JSONValue.Member] {
        [.init("idtoken", .string(tokens.id)), .init("accesstoken", .string(tokens.access))]
    }
}

extension CloudAPI {
    /// `POST user2` makes a new account, which can be used once its code was entered. A repeated request sends another code.
    func signUp(_ call: Call) throws(APIError) -> Response {
        let body = try call.body()
        try checkLocale(call)
        let name = try validName(body)
        if let code = try body.code() { return try confirm(name, code, tags: try body.userTags()) }
        guard let password = try body.string("password"), !password.isEmpty else { throw .passwordMissing }
        guard AccountRules.accepts(password: password) else { throw .weakPassword }

        let hash = StoredPassword(password)
        let user = try addUser { state throws(APIError) in
            let known = state.user(named: name)
            guard known?.isConfirmed != true else { throw .accountExists }
            var user = known ?? User(id: makeUUID(), userName: name, password: hash)
            // Nobody has proven to own the name yet, so only the latest request for it can be confirmed.
            user.password = hash
            user.isConfirmed = false
            return user
        }
        journal.account("signed_up", user: name)
        try sendCode(to: name, for: .signUp, holder: user.id, userID: user.id)
        return success("User created successfully. Verification code sent", status: 201)
    }

    private func confirm(_ name: String, _ code: String, tags: [String]) throws(APIError) -> Response {
        guard let user = readState({ $0.user(named: name) }) else { throw .wrongPassword }
        guard !user.isConfirmed else { throw .alreadyVerified }
        try redeem(code, for: .signUp, holder: user.id) { state, pending in
            state.users[pending.userID]?.isConfirmed = true
            state.users[pending.userID]?.tags = tags
            return nil
        }
        journal.account("confirmed", user: name)
        return success("User confirmed successfully", status: 201)
    }
}

extension Fields {
    /// Like ``tags()``, with the error code of account calls for a tag without a value.
    func userTags() throws(APIError) -> [String] {
        do throws(APIError) {
            return try tags()
        } catch {
            throw error == .badTag ? .badUserTag : error
        }
    }
}

extension CloudAPI {
    /// Stores the new or known user that `make` returns, within the simulator's limits (``UserTable``).
    func addUser(_ make: (CloudState) throws(APIError) -> User) throws(APIError) -> User {
        let outcome = try change { state -> Result<(user: User, changes: [MappingChange]), APIError> in
            do throws(APIError) {
                let user = try make(state)
                guard let changes = state.add(user) else { return .failure(.noRoom) }
                return .success((user, changes))
            } catch {
                return .failure(error)
            }
        }
        let (user, changes) = try outcome.get()
        record(changes)
        return user
    }
}

extension CloudAPI {
    /// The lifetime of a guest account, in milliseconds.
    private static let guestLifetime: Int64 = 30 * 86_400_000

    /// `POST user/guest` makes an account without a name, which may later get one.
    func beGuest(_ call: Call) throws(APIError) -> Response {
        _ = try call.body(isOptional: true)
        let id = makeUUID()
        let end = now + Self.guestLifetime
        let guest = try addUser { _ in
            var guest = User(id: id, userName: "guest@\(id).temp.user", password: nil)
            guest.guestUntil = end
            return guest
        }
        let begun = try beginSession(for: guest)
        journal.account("guest", user: guest.userName)
        return success(
            "Login successful", members(begun) + [.init("user_name", .string(guest.userName))], status: 201)
    }

    /// `POST user/guest/conversion/initiate` sends a code to the guest's new address.
    func initiateConversion(_ call: Call) throws(APIError) -> Response {
        let (guest, name, _) = try conversion(call)
        try sendCode(to: name, for: .guestConversion, holder: guest.id, userID: guest.id, target: name)
        return success("Verification code sent")
    }

    /// `POST user/guest/conversion/verify`: the account keeps its id, its nodes and its sessions.
    func verifyConversion(_ call: Call) throws(APIError) -> Response {
        let (guest, name, body) = try conversion(call)
        guard let code = try body.code(), let password = try body.string("password"), !password.isEmpty else {
            throw .passwordMissing
        }
        guard AccountRules.accepts(password: password) else { throw .weakPassword }
        let hash = StoredPassword(password)
        try redeem(code, for: .guestConversion, holder: guest.id) { state, pending in
            guard pending.target == name else { return .wrongCode }
            guard state.user(named: name) == nil else { return .accountExists }
            state.users[guest.id]?.userName = name
            state.users[guest.id]?.password = hash
            state.users[guest.id]?.guestUntil = nil
            return nil
        }
        journal.account("converted", user: name)
        return success("User converted successfully")
    }

    private func conversion(_ call: Call) throws(APIError) -> (guest: User, name: String, body: Fields) {
        let guest = try call.caller()
        let body = try call.body()
        guard guest.isGuest else { throw .noGuest }
        if try body.string("user_name")?.hasPrefix("+") == true { throw .onlyEmail }
        let name = try validName(body)
        guard readState({ $0.user(named: name) }) == nil else { throw .accountExists }
        return (guest, name, body)
    }
}

extension CloudAPI {
    /// `PUT forgotpassword2`: first with the user name alone, then with the code and the new password. Sessions stay valid.
    func forgotPassword(_ call: Call) throws(APIError) -> Response {
        let body = try call.body()
        try checkLocale(call)
        let name = try validName(body)
        let password = try body.string("password")
        let code = try body.code()
        guard let user = readState({ $0.user(named: name) }) else { throw .userMissing }
        guard !user.isGuest else { throw .notForGuests }
        guard password != nil || code != nil else {
            // Mail is sent to confirmed addresses only. Users of an identity provider have no password here.
            guard user.isConfirmed, user.password != nil else { throw .resetFailed }
            try sendCode(to: name, for: .passwordReset, holder: user.id, userID: user.id)
            return success("Verification code sent")
        }
        guard let code else { throw .codeMissing }
        guard let password, !password.isEmpty else { throw .resetPasswordMissing }
        guard AccountRules.accepts(password: password) else { throw .weakPassword }
        let hash = StoredPassword(password)
        try redeem(code, for: .passwordReset, holder: user.id, refusals: CodeRefusals(expired: .codeExpired)) {
            state, pending in
            state.users[pending.userID]?.password = hash
            return nil
        }
        journal.account("password_reset", user: name)
        return success("Password changed successfully")
    }

    /// `PUT password2`: every session of the user ends, including this one.
    func changePassword(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let body = try call.body()
        guard !user.isGuest else { throw .notForGuests }
        guard let old = try body.string("password"), !old.isEmpty else { throw .wrongCurrentPassword }
        guard let new = try body.string("newpassword"), !new.isEmpty else { throw .newPasswordMissing }
        guard user.password != nil else { throw .passwordChangeFailed }
        guard user.accepts(password: old) else { throw .wrongCurrentPassword }
        guard AccountRules.accepts(password: new) else { throw .weakPassword }
        let hash = StoredPassword(new)
        try change { state in
            state.users[user.id]?.password = hash
            state.endSessions(of: user.id)
        }
        journal.account("password_changed", user: user.userName)
        return success("Password changed successfully")
    }
}
