// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// Liferay Portal from version 6.1: passwords with each request, a browser's session, or OAuth 2.0 (from version 7.1).
enum LiferayDefinition {
    static let text = """
        {
          "schemaVersion": 1,
          "id": "liferay",
          "title": "Liferay Portal",
          "modes": ["basic", "cookie", "oauth2Redirect", "oauth2UsernameAndPassword"],
          "modeGrants": { "oauth2Redirect": "authorizationCode", "oauth2UsernameAndPassword": "password" },
          "parameters": [
            { "name": "companyId", "value": "0", "description": "the portal instance; 0 means the instance of the server context" },
            { "name": "contextCompanyId",
              "description": "the server context's portal instance (default: the instance of the user's first site)" },
            { "name": "groupId", "value": "10184", "description": "the site within the portal" },
            { "name": "loginBy",
              "description": "email, screenName or userId, as configured in the portal (default: by the form of the name)" },
            { "name": "serverVersion", "description": "61, 62, 70, 71, 72, 73 or 74 (default: detected, from 62)" },
            { "name": "shouldHandleCookieExpiration", "value": "true",
              "description": "whether cookies are renewed by signing in again" },
            { "name": "cookieExpirationTime", "value": "900", "description": "how long cookies last, in seconds" }
          ],
          "endpoints": {
            "authorize": "{base}/o/oauth2/authorize",
            "token": "{base}/o/oauth2/token",
            "revoke": "{base}/o/oauth2/revoke",
            "introspect": "{base}/o/oauth2/introspect"
          },
          "grants": {
            "authorizationCode": {},
            "password": {
              "publicClient": false,
              "publicClientRemark": "Liferay's oauth2UsernameAndPassword requires the client's secret"
            },
            "clientCredentials": { "publicClient": false },
            "basic": {},
            "cookie": {},
            "refreshToken": {}
          },
          "unsupported": {
            "implicit": "Liferay's OAuth 2.0 has no implicit flow: use oauth2Redirect",
            "deviceCode": "Liferay has no grant for devices without a browser: paste the address instead",
            "assertion": "Liferay accepts no assertions about a user"
          },
          "client": {},
          "redirects": [{ "way": "loopback", "path": "/callback", "exactPort": true }],
          "expiry": [{ "field": "expires_in", "format": "seconds" }],
          "context": ["base", "clientID"],
          "links": { "forgot": "{base}/web/guest/home?p_p_id=com_liferay_login_web_portlet_LoginPortlet" }
        }
        """
}

/// Liferay's behavior that its definition cannot express: passwords with each request, sessions through its sign-in form, its JSON web
/// services.
struct LiferayExtension: ProviderExtension {
    /// The names of values that are stored with the tokens.
    private enum Extra {
        static let user = "user"
        static let loginBy = "loginBy"
        /// The company's id from the portal itself.
        static let company = "companyId"
        static let csrfToken = "csrf"
        /// The portal's version, if it was detected and is older than 7.0.
        static let version = "serverVersion"
        /// The proof for a server in front of the portal, and its header.
        static let preAuthorization = "preAuthorization"
        static let preAuthorizationHeader = "preAuthorizationHeader"
    }

    func failure(of response: HTTPResponse, _ json: JSONValue?, _ provider: ConfiguredProvider) -> AccountError? {
        // Token endpoints refuse in OAuth's format, which the default handles.
        if let json, json["error"]?.string != nil, json["exception"] == nil { return nil }
        let host = provider.resources.first?.authority ?? provider.title
        if let json {
            for value in [json] + (json.array ?? []) {
                guard let exception = LiferayException(value) else { continue }
                return exception.accountError(from: host, status: response.status)
            }
        }
        return LiferayReply.refusal(response, from: host)
    }

    func signOut(
        _ tokens: Tokens, everywhere: Bool, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> SignOutReport? {
        switch tokens.kind {
        case .basic: return .complete
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
            // The portal redirects browsers to its front page, wherever that is.
            if let refusal = LiferayReply.refusal(response, from: settings.server.authority),
                !(300..<400 ~= response.status)
            {
                throw refusal
            }
            return .complete
        default: return nil
        }
    }

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
            return true
        default: return false
        }
    }

    func check(_ provider: ConfiguredProvider) throws(AccountError) { _ = try LiferaySettings(provider) }

    var realm: String? { "PortalRealm" }

    func context(of provider: ConfiguredProvider) -> [String: String] {
        guard let company = try? LiferaySettings.companyID(provider) else { return [:] }
        return ["companyId": "\(company)"]
    }
}

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
                // For a password, RFC 6749's error for an invalid grant means that it is wrong (section 5.2).
                var error = error
                let isUnverified = error.serverMessage?.lowercased().contains("verified") == true
                error.code = isUnverified ? .unverifiedUser : .invalidCredentials
                error.message = isUnverified ? LiferayCookieSignIn.unverified : "wrong user name or password"
                throw error
            }
        case .oauth2Redirect:
            throw AccountError(
                .unsupported,
                message: "liferay's mode oauth2Redirect signs in with a browser; use another mode for a password")
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
            // There is no sign-in. The first call shows whether the portal accepts the password.
            try await check(&tokens, provider)
            return tokens
        } catch {
            // Portals answer a wrong kind of name like a wrong password.
            guard error.code == .invalidCredentials, error.remedies.isEmpty else { throw error }
            var error = error
            let why = settings.loginBy == nil ? "(loginBy)" : "(as loginBy says)"
            error.message =
                "wrong user name or password, or this portal does not let users sign in by \(login.kind.rawValue) \(why)"
            error.remedies = [.parameter(name: "loginBy")]
            throw error
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
        // The portal's lifetime starts with its answer. Ours starts before the question, so that we never renew too late.
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
        // A portal shows its page to anonymous visitors too. The first call shows whether a user is signed in.
        try await check(&tokens, provider)
        guard cookies.token != nil else {
            throw AccountError(
                .malformedAnswer,
                message: "\(settings.server.authority) showed a page without the session's token; try again later")
        }
        return tokens
    }

    /// Checks that the portal knows the user. If it asks for a sign-in, the password was wrong.
    private func check(_ tokens: inout Tokens, _ provider: ConfiguredProvider) async throws(AccountError) {
        do throws(AccountError) {
            _ = try await liferayUser(&tokens, provider)
        } catch {
            throw Self.wrongPassword(error)
        }
    }

    /// Returns the meaning of a refusal right after a password was sent.
    private static func wrongPassword(_ error: AccountError) -> AccountError {
        guard [.expired, .invalidCredentials].contains(error.code) else { return error }
        var error = error
        error.code = .invalidCredentials
        error.message = "wrong user name or password"
        return error
    }
}

extension LiferayExtension {
    func renew(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(RenewalError) -> Tokens? {
        switch tokens.kind {
        case .basic:
            throw .refused(
                AccountError(.expired, message: "the portal no longer accepts the password; sign in again"))
        case .cookie:
            guard let password = tokens.refresh, let user = tokens[Extra.user] else {
                throw .refused(
                    AccountError(
                        .expired, message: "the web session has ended and is not renewed; sign in again"))
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
                // This is a 401 of a server in front of the portal, which is temporary.
                if error.code == .invalidCredentials { error.code = .expired }
                // This answer has neither a user nor an exception.
                if error.code == .unknownUser { error.code = .malformedAnswer }
                throw .unavailable(error)
            }
        default: return nil
        }
    }

    /// Returns whether the error ends a session. Only the portal itself can end one: by an exception of its services, or by a redirect to
    /// its page for unconfirmed addresses. A status alone does not count, because a server in front of the portal may have sent it.
    private static func endsSession(_ error: AccountError) -> Bool {
        guard [.invalidCredentials, .unknownUser, .unverifiedUser].contains(error.code) else { return false }
        return error.code == .unverifiedUser || error.serverCause.map(LiferayException.names.contains) ?? false
    }
}

extension LiferayExtension {
    func user(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(AccountError) -> UserInfo? {
        if tokens["grant"] == GrantName.clientCredentials.rawValue { return nil }
        return try await liferayUser(tokens, provider).userInfo
    }

    private func liferayUser(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(AccountError) -> LiferayUser
    {
        var tokens = tokens
        return try await liferayUser(&tokens, provider)
    }

    /// - Parameter tokens: receive the portal's version if it is detected.
    private func liferayUser(_ tokens: inout Tokens, _ provider: ConfiguredProvider) async throws(AccountError)
        -> LiferayUser
    {
        let settings = try LiferaySettings(provider)
        let companyID = settings.companyID ?? tokens[Extra.company].flatMap { Int64($0) }
        let reply: ConfiguredProvider.Reply
        if tokens.kind == .basic {
            let kind = tokens[Extra.loginBy].flatMap(LiferayLogin.Kind.init(rawValue:))
            let login = LiferayLogin(tokens[Extra.user] ?? "", kind: kind)
            do throws(AccountError) {
                reply = try await self.reply(&tokens, settings, provider) { _ in
                    .user(login, companyID: companyID ?? 0)
                }
            } catch {
                guard error.code == .unknownUser else { throw error }
                // The portal accepted the password, so the user exists in another company.
                var error = error
                error.code = .wrongContext
                error.message =
                    "the portal accepts the password, but has no such user in its company \(companyID ?? 0) "
                    + "(\(settings.companySetting))"
                error.remedies = [.parameter(name: settings.companySetting)]
                throw error
            }
        } else {
            reply = try await self.reply(&tokens, settings, provider, LiferayCommand.currentUser(version:))
        }
        guard let user = LiferayUser(reply.json.array?.first ?? reply.json) else {
            throw AccountError(
                .unknownUser,
                message: "the portal found no such user; check the name, how users sign in there, and the company's id",
                status: reply.response.status)
        }
        if let company = user.companyID, let companyID, company != companyID {
            throw AccountError(
                .wrongContext,
                message:
                    "the user belongs to the portal's company \(company), but \(companyID) is configured "
                    + "(\(settings.companySetting))",
                remedies: [.parameter(name: settings.companySetting)])
        }
        return user
    }

    /// Calls a service whose name depends on the portal's version. If the version is not set, a portal that does not know the service of
    /// 7.0 is asked for that of 6.2.
    private func reply(
        _ tokens: inout Tokens, _ settings: LiferaySettings, _ provider: ConfiguredProvider,
        _ command: (LiferayVersion) -> LiferayCommand
    ) async throws(AccountError) -> ConfiguredProvider.Reply {
        let known = settings.version ?? tokens[Extra.version].flatMap { LiferayVersion($0) }
        var (refusal, last): (AccountError?, LiferayCommand?) = (nil, nil)
        for version in known.map({ [$0] }) ?? [.v70, .v62] {
            let command = command(version)
            if command == last { break }
            last = command
            do throws(AccountError) {
                let reply = try await provider.send(
                    LiferayCommand.request([command], settings, version: version), with: tokens)
                if known == nil, version < .v70 { tokens[Extra.version] = "\(version.rawValue)" }
                return reply
            } catch {
                guard error.code == .unsupported, !error.isFromGateway else { throw error }
                refusal = refusal ?? error
            }
        }
        var error = refusal ?? AccountError(.unsupported, message: "no version of the portal is known")
        let tried = known.map { "version \($0.rawValue)" } ?? "version 70 or 62"
        error.message =
            "no Liferay portal of \(tried) answers at \(settings.server.authority): check the portal's address and serverVersion"
        error.remedies = [.parameter(name: "serverVersion")]
        throw error
    }

    /// Returns the id of the company of the user's first site. Every user of a portal is a member of at least one site.
    private func companyID(
        _ tokens: inout Tokens, _ settings: LiferaySettings, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Int64 {
        let reply: ConfiguredProvider.Reply
        do throws(AccountError) {
            reply = try await self.reply(&tokens, settings, provider, LiferayCommand.sites(version:))
        } catch {
            throw LiferayExtension.wrongPassword(error)
        }
        let sites = reply.json.array?.first?.array ?? reply.json.array ?? []
        guard let id = sites.lazy.compactMap({ $0["companyId"].flatMap { LenientInteger($0)?.value } }).first, id > 0
        else {
            throw AccountError(
                .missingParameter,
                message: "\(provider.title) does not name the user's company",
                remedies: [.parameter(name: "companyId")])
        }
        return id
    }
}

/// A user in the form of the portal's `User` entity, under the portal's own names.
struct LiferayUser: Sendable, Equatable {
    /// The attributes. Numbers are numbers, even if the portal sent text: `userId`, `companyId`, `portraitId`, `contactId`…
    private var attributes: [JSONValue.Member]

    private static let numeric: Set<String> = [
        "userId", "companyId", "portraitId", "contactId", "facebookId", "createDate", "modifiedDate", "lastLoginDate",
        "loginDate", "status", "failedLoginAttempts", "graceLoginCount", "ldapServerId",
    ]
    /// The portal's data about passwords and password reminders, which is not stored.
    private static let omitted: Set<String> = [
        "password", "passwordEncrypted", "digest", "reminderQueryAnswer", "reminderQueryQuestion", "passwordReset",
        "passwordModifiedDate",
    ]

    /// Returns nil for an answer without a user's id. Portals send such an answer if the user does not exist.
    init?(_ json: JSONValue) {
        guard let members = json.members else { return nil }
        attributes = members.filter { !Self.omitted.contains($0.name) }.map { member in
            guard Self.numeric.contains(member.name), let number = LenientInteger(member.value) else { return member }
            return .init(member.name, .integer(number.value))
        }
        guard let id = self["userId"]?.integer, id > 0 else { return nil }
    }

    subscript(name: String) -> JSONValue? { attributes.last { $0.name == name }?.value }

    var companyID: Int64? { self["companyId"]?.integer }

    var userInfo: UserInfo {
        let id = self["userId"]?.integer ?? 0
        let email = self["emailAddress"]?.string
        let screenName = self["screenName"]?.string
        var user = UserInfo(userID: UserID("\(id)"), userName: email ?? screenName ?? "\(id)")
        let names = ["firstName", "middleName", "lastName"].compactMap { self[$0]?.string }.filter { !$0.isEmpty }
        user.name = names.isEmpty ? screenName : names.joined(separator: " ")
        user.email = email
        user.locale = self["languageId"]?.string
        user.attributes = attributes
        return user
    }
}
