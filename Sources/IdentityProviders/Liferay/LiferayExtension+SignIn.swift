// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP

extension LiferayExtension {
    func signIn(
        _ credentials: SignInCredentials, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Tokens? {
        let settings = try LiferaySettings(provider)
        guard case .password(let user, let password) = credentials else { return nil }
        guard !user.isEmpty else { throw AccountError(.invalidUserName, message: "the user's name is empty") }
        guard !password.isEmpty else { throw AccountError(.invalidCredentials, message: "the password is empty") }
        switch settings.mode {
        case .basic:
            return try await basic(LiferayLogin(user, kind: settings.loginBy), password, settings, provider)
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

    private func basic(
        _ login: LiferayLogin, _ password: Secret, _ settings: LiferaySettings, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Tokens {
        let remedies = settings.loginBy == nil ? [] : [Remedy.parameter(name: "loginBy")]
        guard login.isPossible else {
            throw AccountError(
                .invalidUserName,
                message: "\"\(presentable(login.name))\" is not a user's id, which is a number (loginBy is userId)",
                remedies: remedies)
        }
        var tokens = Tokens(kind: .basic, access: password, received: provider.tools.clock.now)
        tokens[Extra.user] = login.name
        tokens[Extra.loginBy] = login.kind.rawValue
        do throws(AccountError) {
            if settings.companyID == nil, login.kind != .userId {
                tokens[Extra.company] = "\(try await companyID(&tokens, settings, provider))"
            }
            // There is nothing to sign in to: the first call shows whether the portal takes the password.
            try await check(&tokens, provider)
            return tokens
        } catch {
            // Portals answer a wrong kind of name like a wrong password.
            guard error.code == .invalidCredentials, error.remedies.isEmpty else { throw error }
            var error = error
            let why =
                settings.loginBy == nil
                ? "the form of this name says; loginBy sets the kind" : "the setting loginBy says"
            error.message =
                "wrong user name or password, or the portal does not let users sign in by \(login.kind.rawValue), as \(why)"
            error.remedies = [.parameter(name: "loginBy")]
            throw error
        }
    }

    func cookies(
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
        try await check(&tokens, provider)
        guard cookies.token != nil else {
            throw AccountError(
                .malformedAnswer,
                message: "\(settings.server.authority) showed a page without the session's token; try again later")
        }
        return tokens
    }

    /// Makes sure that the portal knows who is asking. One that asks for somebody means that the password was wrong.
    private func check(_ tokens: inout Tokens, _ provider: ConfiguredProvider) async throws(AccountError) {
        do throws(AccountError) {
            _ = try await liferayUser(&tokens, provider)
        } catch {
            throw Self.wrongPassword(error)
        }
    }

    /// What a refusal means where a password was just given.
    static func wrongPassword(_ error: AccountError) -> AccountError {
        guard [.expired, .invalidCredentials].contains(error.code) else { return error }
        var error = error
        error.code = .invalidCredentials
        error.message = "wrong user name or password"
        return error
    }
}
