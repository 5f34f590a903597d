import RainAccount
import RainHTTP
import RainJSON
import RainOAuth
import RainCore

/// What Liferay does that its definition cannot say: passwords with each request, sessions out of its sign-in form, its JSON web services.
struct LiferayExtension: ProviderExtension {
    /// Names under which tokens keep what goes with them.
    enum Extra {
        static let user = "user"
        static let loginBy = "loginBy"
        static let csrfToken = "csrf"
        /// What a server before the portal wants, and in which header.
        static let preAuthorization = "preAuthorization"
        static let preAuthorizationHeader = "preAuthorizationHeader"
    }

    // MARK: In

    func signIn(
        _ credentials: SignInCredentials, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Tokens? {
        let settings = try LiferaySettings(provider)
        guard case .password(let user, let password) = credentials else { return nil }
        guard !user.isEmpty else { throw AccountError(.invalidUserName, message: "the user's name is empty") }
        guard !password.isEmpty else { throw AccountError(.invalidCredentials, message: "the password is empty") }
        switch settings.mode {
        case .basic:
            let login = LiferayLogin(user, kind: settings.loginBy)
            guard login.isPossible else {
                throw AccountError(.invalidUserName, message: "a user's id is a number: \(presentable(user)) is none")
            }
            var tokens = Tokens(kind: .basic, access: password, received: provider.tools.clock.now)
            tokens[Extra.user] = login.name
            tokens[Extra.loginBy] = login.kind.rawValue
            // There is nothing to sign in to: the first call shows whether the portal takes the password.
            try await check(tokens, provider)
            return tokens
        case .cookie:
            return try await cookies(user: user, password: password, settings, provider)
        case .oauth2UsernameAndPassword:
            try provider.demand(.password)
            do throws(AccountError) {
                return try await provider.redeem(
                    .password(user: user, password: password, scope: provider.scope), for: .password)
            } catch {
                guard error.code == .invalidGrant else { throw error }
                // With a password, RFC 6749's word for a bad grant means that it is wrong (section 5.2).
                var error = error
                let isUnverified = error.serverMessage?.lowercased().contains("verified") == true
                error.code = isUnverified ? .unverifiedUser : .invalidCredentials
                error.message = isUnverified ? LiferayCookieSignIn.unverified : "wrong user name or password"
                throw error
            }
        case .oauth2Redirect:
            throw AccountError(
                .unsupported,
                message: "liferay's mode oauth2Redirect signs in with a browser; for a password use another mode")
        }
    }

    private func cookies(
        user: String, password: Secret, passing gate: LiferayCookies.PreAuthorization? = nil,
        _ settings: LiferaySettings, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Tokens {
        let began = provider.tools.clock.now
        let signIn = LiferayCookieSignIn(
            server: settings.server, user: user, password: password, preAuthorization: gate)
        let cookies = try await LiferayCookieRun(tools: provider.tools).run(signIn)
        // The portal's clock runs from its answer; ours from before the question, so that we are never late.
        var tokens = Tokens(kind: .cookie, access: cookies.jar.header ?? Secret(""), received: began)
        tokens.extras[Extra.csrfToken] = cookies.token
        tokens.extras[Extra.preAuthorization] = cookies.preAuthorization?.value
        tokens[Extra.preAuthorizationHeader] = cookies.preAuthorization?.name
        tokens[Extra.user] = user
        if settings.renewsCookies {
            tokens.refresh = password
            tokens.expires = began + settings.cookieLifetime
            tokens.renewalMargin = 0
        }
        // A portal shows its page to strangers, too: the first call shows whether this is somebody.
        try await check(tokens, provider)
        guard cookies.token != nil else {
            throw AccountError(
                .malformedAnswer,
                message: "\(settings.server.authority) showed a page without the session's token; try again later")
        }
        return tokens
    }

    /// Makes sure that the portal knows who is asking. One that asks for somebody means that the password was wrong.
    private func check(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(AccountError) {
        do throws(AccountError) {
            _ = try await liferayUser(tokens, provider)
        } catch {
            guard error.code == .expired else { throw error }
            var error = error
            error.code = .invalidCredentials
            error.message = "wrong user name or password"
            throw error
        }
    }

    // MARK: On

    func renew(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(RenewalError) -> Tokens? {
        switch tokens.kind {
        case .basic:
            throw .refused(
                AccountError(.expired, message: "the portal does not take the password any more; sign in again"))
        case .cookie:
            guard let password = tokens.refresh, let user = tokens[Extra.user] else {
                throw .refused(
                    AccountError(
                        .expired, message: "the web session has ended, and is not to be renewed; sign in again"))
            }
            do throws(AccountError) {
                let settings = try LiferaySettings(provider)
                var gate: LiferayCookies.PreAuthorization?
                if let name = tokens[Extra.preAuthorizationHeader], let value = tokens.extras[Extra.preAuthorization] {
                    gate = .init(name: name, value: value)
                }
                return try await cookies(user: user, password: password, passing: gate, settings, provider)
            } catch {
                if Self.endsSession(error) { throw .refused(error) }
                var error = error
                // A 401 of something before the portal, which is passing.
                if error.code == .invalidCredentials { error.code = .expired }
                // An answer without a user, and without an exception.
                if error.code == .unknownUser { error.code = .malformedAnswer }
                throw .unavailable(error)
            }
        default: return nil
        }
    }

    /// Only the portal's own word ends a session, which comes as an exception of its services, or as the way to its page for those who
    /// have not confirmed their address. A status does not: something before the portal may have given it.
    static func endsSession(_ error: AccountError) -> Bool {
        guard [.invalidCredentials, .unknownUser, .unverifiedUser].contains(error.code) else { return false }
        return error.code == .unverifiedUser || error.serverCause.map(LiferayException.names.contains) ?? false
    }

    // MARK: Who

    func user(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(AccountError) -> UserInfo? {
        if tokens["grant"] == GrantName.clientCredentials.rawValue { return nil }
        return try await liferayUser(tokens, provider).userInfo
    }

    private func liferayUser(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(AccountError) -> LiferayUser
    {
        let settings = try LiferaySettings(provider)
        let command: LiferayCommand
        if tokens.kind == .basic {
            let kind = tokens[Extra.loginBy].flatMap(LiferayLogin.Kind.init(rawValue:))
            command = .user(LiferayLogin(tokens[Extra.user] ?? "", kind: kind), companyID: settings.companyID)
        } else {
            command = .currentUser(version: settings.version)
        }
        let request = LiferayCommand.request([command], settings)
        let reply: ConfiguredProvider.Reply
        do throws(AccountError) {
            reply = try await provider.send(request, with: tokens)
        } catch {
            guard tokens.kind == .basic, error.code == .unknownUser else { throw error }
            // The portal took the password, so there is such a user: elsewhere.
            var error = error
            error.code = .wrongContext
            error.message =
                "the portal takes the password and knows no such user in its company \(settings.companyID); set companyId"
            throw error
        }
        guard let user = LiferayUser(reply.json.array?.first ?? reply.json) else {
            throw AccountError(
                .unknownUser,
                message: "the portal found no such user; check the name, how users sign in there, and the company's id",
                status: reply.response.status)
        }
        if let company = user.companyID, company != settings.companyID {
            throw AccountError(
                .wrongContext,
                message:
                    "the user belongs to the portal's company \(company), and \(settings.companyID) is configured; set companyId"
            )
        }
        return user
    }

    func failure(of response: HTTPResponse, _ json: JSONValue?, _ provider: ConfiguredProvider) -> AccountError? {
        // Token endpoints refuse in OAuth's words, which the engine knows.
        if let json, json["error"]?.string != nil, json["exception"] == nil { return nil }
        let host = provider.resources.first?.authority ?? provider.name
        if let json {
            for value in [json] + (json.array ?? []) {
                guard let exception = LiferayException(value) else { continue }
                return exception.accountError(from: host, status: response.status)
            }
        }
        return LiferayReply.refusal(response, from: host)
    }

    // MARK: Out

    func signOut(
        _ tokens: Tokens, everywhere: Bool, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Bool {
        switch tokens.kind {
        case .basic: return true
        case .cookie:
            let settings = try LiferaySettings(provider)
            var request = HTTPRequest(
                method: .get, url: settings.server.text + "/c/portal/logout",
                headers: [HTTPHeader("User-Agent", "RainKit")])
            provider.authorize(&request, with: tokens)
            let response: HTTPResponse
            do throws(HTTPError) {
                response = try await provider.tools.http.send(request)
            } catch {
                throw AccountError(error)
            }
            // It sends a browser on to its front page; where that is does not matter.
            if let refusal = LiferayReply.refusal(response, from: settings.server.authority),
                !(300..<400 ~= response.status)
            {
                throw refusal
            }
            return true
        default: return false
        }
    }

    // MARK: Each request

    func authorize(_ request: inout HTTPRequest, with tokens: Tokens, _ provider: ConfiguredProvider) -> Bool {
        switch tokens.kind {
        case .basic:
            let value = BasicAuthorization.value(user: tokens[Extra.user] ?? "", password: tokens.access)
            request.headers.append(HTTPHeader("Authorization", value.revealString()))
            return true
        case .cookie:
            request.headers.append(HTTPHeader("Cookie", tokens.access.revealString()))
            if let token = tokens[Extra.csrfToken] {
                request.headers.append(HTTPHeader(LiferayAuthToken.header, token))
            }
            if let name = tokens[Extra.preAuthorizationHeader], let value = tokens[Extra.preAuthorization] {
                request.headers.append(HTTPHeader(name, value))
            }
            return true
        default: return false
        }
    }

    func context(of provider: ConfiguredProvider) -> [String: String] {
        guard let company = try? LiferaySettings.companyID(provider) else { return [:] }
        return ["companyId": "\(company)"]
    }
}
