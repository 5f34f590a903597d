// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainHTTP
import RainJSON

extension ConfiguredProvider {
    public func signIn(_ credentials: SignInCredentials) async throws(AccountError) -> Tokens {
        do throws(AccountError) {
            var tokens = try await redeemed(credentials)
            gate.keep(in: &tokens)
            return tokens
        } catch {
            throw withRemark(withPage(error))
        }
    }

    /// Adds the address of the provider's page where the user can fix the problem.
    private func withPage(_ error: AccountError) -> AccountError {
        let page: String? =
            switch error.code {
            case .unknownUser: "register"
            case .passwordResetRequired: "forgot"
            default: nil
            }
        guard let template = page.flatMap({ definition.links?[$0] }), let address = url(template) else { return error }
        var error = error
        error.message += ": \(address)"
        return error
    }

    /// Adds what may be wrong with the client's secret, if the provider refuses the client.
    private func withRemark(_ error: AccountError) -> AccountError {
        // `unauthorized_client` means that the client has proved its identity.
        guard error.code == .clientRefused, !error.isFromGateway,
            error.serverCause != OAuthError.Code.unauthorizedClient.rawValue
        else { return error }
        var error = error
        error.message = error.message.because(of: settings.clientSecret?.remark(as: "client secret"))
        return error
    }

    private func redeemed(_ credentials: SignInCredentials) async throws(AccountError) -> Tokens {
        if let tokens = try await hooks.signIn(credentials, self) { return tokens }
        let grant: GrantName
        let request: TokenRequest
        var nonce: String?
        var lacksRedirect = false
        switch credentials {
        case .authorizationCode(let code, let redirectURI, let verifier, let expected):
            grant = .authorizationCode
            nonce = expected
            lacksRedirect = redirectURI.isEmpty
            request = .authorizationCode(
                code, redirectURI: lacksRedirect ? nil : redirectURI, codeVerifier: verifier.flatMap(CodeVerifier.init))
        case .password(let user, let password):
            grant = .password
            request = .password(user: user, password: password, scope: scope)
        case .clientCredentials:
            grant = .clientCredentials
            request = .clientCredentials(scope: scope)
        case .assertion(let assertion):
            grant = .assertion
            request = .jwtBearer(assertion, scope: scope)
        case .tokens(let response, let nonce, let isDirect):
            return try await tokens(
                response, response.json, for: isDirect ? .deviceCode : .implicit, nonce: nonce)
        case .oneTimeCode, .guest, .thirdParty:
            throw unsupported(credentials)
        }
        try demand(grant)
        if case .assertion(let assertion) = credentials { try check(assertion: assertion) }
        do throws(AccountError) {
            return try await redeem(request, for: grant, nonce: nonce)
        } catch {
            if grant == .password, error.serverCause == OAuthError.Code.unsupportedGrantType.rawValue {
                throw withoutPasswords(error)
            }
            // The grant is the password (RFC 6749, section 5.2).
            if grant == .password, error.code == .invalidGrant {
                var error = error
                error.message =
                    "wrong user name or password, or \(resources.first?.authority ?? title) does not let this user sign in"
                throw error
            }
            // The token request must repeat the redirect URI of the code's request (RFC 6749, section 4.1.3), but the caller gave none.
            guard lacksRedirect, !error.isTransient, error.code != .cancelled else { throw error }
            var error = error
            error.message += ". The code may belong to a redirect URI, but none was given"
            error.remedies.append(.redirectURI)
            throw error
        }
    }

    /// Throws `unsupported`, with the definition's reason, unless the provider has the grant.
    public func demand(_ grant: GrantName) throws(AccountError) {
        if definition.grants?[grant.rawValue] != nil { return }
        throw AccountError(
            .unsupported,
            message: definition.unsupported?[grant.rawValue]
                ?? "\(title) has no sign-in of this kind (\(grant.rawValue))")
    }

    /// Returns the error of a server that does not accept passwords, with the provider's other sign-in modes.
    private func withoutPasswords(_ error: AccountError) -> AccountError {
        let ways: [(grant: GrantName, words: String)] = [
            (.authorizationCode, "in the browser"), (.deviceCode, "by a device code"),
        ]
        let others = ways.filter { definition.grants?[$0.grant.rawValue] != nil }.map(\.words)
        var error = error
        error.message =
            "\(resources.first?.authority ?? title) has no sign-in by password (unsupported_grant_type)"
            + (others.isEmpty ? "" : "; sign in \(others.joined(separator: " or "))")
        return error
    }

    /// Refuses text that cannot be a JSON Web Token before it is sent. The server would only report a wrong signature.
    func check(assertion: Secret) throws(AccountError) {
        guard !assertion.isEmpty else {
            throw AccountError(.invalidInput, message: "the assertion for \(title) is empty; nothing was sent")
        }
        guard !JSONWebToken.hasForm(assertion) else { return }
        throw AccountError(
            .invalidInput,
            message:
                "\(title) accepts only assertions that are JSON Web Tokens (RFC 7519), but this one is not; nothing was sent"
        )
    }

    /// Exchanges a grant for tokens.
    /// - Parameter old: the tokens that are renewed. The new ones must belong to the same user.
    public func redeem(
        _ request: TokenRequest, for grant: GrantName, nonce: String? = nil, renewing old: Tokens? = nil
    ) async throws(AccountError) -> Tokens {
        let client = try await client(for: grant)
        let reply = try await post(
            form(request, for: grant), to: try await endpoint("token"), as: client, for: grant)
        return try await tokens(
            try response(reply), reply.json, for: grant, nonce: nonce, renewing: old, at: reply.response)
    }

    /// Returns the request's form with the definition's additions.
    private func form(_ request: TokenRequest, for grant: GrantName) -> FormRequest {
        var request = request
        let rules = definition.grants?[grant.rawValue]
        if let name = rules?.grantType { request.grantType = GrantType(rawValue: name) }
        var form = request.form
        if let name = rules?.userField, let index = form.fields.firstIndex(where: { $0.name == "username" }) {
            form.fields[index].name = name
        }
        for (name, template) in (rules?.parameters ?? [:]).sorted(by: { $0.key < $1.key }) {
            if let text = text(template) { form.set(name, Secret(text)) }
        }
        return form
    }

    /// Reads the token response in a reply, by the definition's names for its members.
    public func response(_ reply: Reply) throws(AccountError) -> TokenResponse {
        var members = reply.json.members ?? []
        for (name, aliases) in definition.fields ?? [:] where reply.json[name] == nil {
            if let value = aliases.lazy.compactMap({ reply.json[$0] }).first { members.append(.init(name, value)) }
        }
        do throws(OAuth2FormatError) {
            return try TokenResponse(.object(members))
        } catch {
            throw AccountError(
                .malformedAnswer, message: "\(title) did not give a valid token response: \(error.message)",
                status: reply.response.status)
        }
    }

    /// Returns the tokens to keep from a token response.
    /// - Parameters:
    ///   - json: the unchanged answer.
    ///   - old: the tokens that are renewed. The new ones must belong to the same user.
    ///   - namesClient: whether the request named the client, so that an ID token must be for it.
    ///   - answer: the HTTP response, for the server's time.
    /// - Throws: `untrustedAnswer` for an ID token that is not for this sign-in.
    public func tokens(
        _ response: TokenResponse, _ json: JSONValue, for grant: GrantName, nonce: String? = nil,
        renewing old: Tokens? = nil, namesClient: Bool = true, at answer: HTTPResponse? = nil
    ) async throws(AccountError) -> Tokens {
        let now = tools.clock.now
        try response.checkType(from: title)
        try JSONWebToken.checkTimes(of: response.accessToken)
        if let identity = response.identityToken {
            var receipt = IdentityTokenReceipt(token: identity, access: response.accessToken)
            receipt.nonce = nonce
            receipt.renewing = old?.identity
            receipt.namesClient = namesClient
            receipt.isDirect = grant != .implicit
            receipt.serverTime = statedTime(json) ?? answer?.date
            try await check(receipt)
        }
        var tokens = Tokens(
            access: response.accessToken, refresh: response.refreshToken, identity: response.identityToken,
            received: now)
        let serverTime = statedTime(json)
        tokens.serverIsAhead = serverTime.map { ($0.seconds - now.seconds).rounded() }
        let reading = ExpiryReading(json: json, response: response, now: now, serverNow: serverTime ?? answer?.date)
        tokens.expires = try reading.end(
            definition.expiry ?? [
                .init(field: "expires_in", format: "seconds"), .init(field: "access_token", format: "jwt"),
            ])
        tokens.refreshExpires = try reading.end(definition.refreshExpiry ?? [])
        tokens.renewalMargin = definition.refresh?.margin
        for name in definition.keep ?? [] {
            if let value = json.value(at: name)?.unlessNull, value.plainText == nil {
                throw .wrongType(name, value, in: "a token response")
            }
            tokens[name] = json.text(at: name)
        }
        if grant == .clientCredentials {
            tokens.signsInAgain = true
            tokens["grant"] = grant.rawValue
        }
        try hooks.complete(&tokens, from: json, for: grant, self)
        return tokens
    }

    /// Returns the server's time from its answer.
    private func statedTime(_ json: JSONValue) -> UnixTime? {
        guard let field = definition.fields?["server_time"]?.first, let text = json.text(at: field),
            let seconds = Double(text), seconds > 0, seconds < 1e12
        else { return nil }
        return UnixTime(seconds: seconds)
    }
}

/// Computes when a token expires, by this machine's clock.
private struct ExpiryReading {
    var json: JSONValue
    var response: TokenResponse
    var now: UnixTime
    var serverNow: UnixTime?

    /// - Throws: `malformedAnswer` for a member of another type. A token with an unreadable expiry must not count as one that never
    ///   expires.
    func end(_ sources: [ProviderDefinition.ExpirySource]) throws(AccountError) -> UnixTime? {
        for source in sources {
            if source.format != "jwt", let value = json.value(at: source.field)?.unlessNull,
                value.bool != nil || value.plainText == nil
            {
                throw .wrongType(source.field, value, in: "a token response")
            }
            if let end = end(source) { return end }
        }
        return nil
    }

    private func end(_ source: ProviderDefinition.ExpirySource) -> UnixTime? {
        switch source.format {
        case "jwt":
            let token = source.field == "id_token" ? response.identityToken : response.accessToken
            return token.flatMap {
                Tokens(jsonWebToken: $0, refresh: nil, identity: nil, received: now).expires
            }
        case "date":
            return json.text(at: source.field).flatMap { text in
                // A client may have stored a date from an address, where it is escaped.
                CivilTime(text.utf8.contains(UInt8(ascii: "%")) ? FormEncoding.decoded(text.utf8) ?? text : text)?.time
            }.map(here)
        case "epoch": return number(source.field).map { here(UnixTime(seconds: $0)) }
        default: return number(source.field).map { now + $0 }
        }
    }

    private func number(_ field: String) -> Double? {
        json.text(at: field).flatMap(Double.init).flatMap { (0..<1e12).contains($0) ? $0 : nil }
    }

    /// Converts a time of the server's clock to the local clock.
    private func here(_ moment: UnixTime) -> UnixTime {
        guard let serverNow else { return moment }
        return now + (moment.seconds - serverNow.seconds)
    }
}

extension AccountError {
    fileprivate static func wrongType(_ member: String, _ value: JSONValue, in document: String) -> AccountError {
        let what = JSONError("\"\(presentable(member))\"", is: value, not: "a string or a number")
        return AccountError(.malformedAnswer, message: "\(document) cannot be used: \(what.message)")
    }
}

extension ConfiguredProvider {
    /// Returns the page at which a browser signs in, for a code or, with the implicit grant, for tokens at once.
    /// - Parameter more: parameters of this sign-in, such as `prompt`.
    /// - Throws: `unsupported`, with the definition's reason, for a grant that the provider does not have. `missingParameter` if the code
    ///   could not be redeemed because the client's secret is missing.
    public func signInPage(
        _ grant: GrantName = .authorizationCode, _ more: [(name: String, value: String)] = []
    ) async throws(AccountError) -> AuthorizationServer {
        try demand(grant)
        try hooks.check(self)
        let isImplicit = grant == .implicit
        // Nobody should sign in at a page for a code that cannot be redeemed here.
        if !isImplicit { _ = try await client(for: grant) }
        let rules = definition.grants?[grant.rawValue]
        var server = AuthorizationServer(
            authorizeURL: try await endpoint("authorize"), tokenURL: isImplicit ? "" : try await endpoint("token"),
            clientID: try clientID(), scope: scope, issuer: try await issuer())
        server.responseType = isImplicit ? .token : .code
        server.usesCodeChallenge = rules?.pkce != "none"
        server.answersWithoutParameters = rules?.answersWithoutParameters ?? false
        server.usesNonce = rules?.nonce ?? false
        if definition.discovery != nil { server.namesIssuer = try await serverMetadata().namesIssuerInResponses }
        for (name, template) in (rules?.authorizeParameters ?? [:]).sorted(by: { $0.key < $1.key }) {
            if let text = text(template) { server.parameters.append((name, text)) }
        }
        server.parameters += more
        return server
    }

    /// Shows the user the sign-in page, and returns its answer.
    public func signInThroughBrowser(
        _ grant: GrantName = .authorizationCode, by agent: any AuthorizationUserAgent
    ) async throws(AccountError) -> SignInCredentials {
        var random = tools.randomSource
        return try await signInPage(grant).signIn(through: agent, random: &random, with: tools.hashes)
    }
}

extension AuthorizationServer {
    fileprivate func signIn(
        through agent: any AuthorizationUserAgent, random: inout ProviderTools.Random, with hashes: any Hashes.Type
    ) async throws(AccountError) -> SignInCredentials {
        try await signIn(through: agent, random: &random, hashes: hashes)
    }
}

extension ConfiguredProvider {
    /// Requests the codes for a sign-in on another device (RFC 8628). The user opens the page there and enters the user code.
    public func beginDeviceSignIn() async throws(AccountError) -> DeviceAuthorization {
        try demand(.deviceCode)
        let url = try await endpoint("device")
        let reply = try await post(
            .deviceAuthorization(scope: scope), to: url, as: try await client(for: .deviceCode), for: .deviceCode)
        do throws(OAuth2FormatError) {
            return try DeviceAuthorization(reply.json)
        } catch {
            throw AccountError(.malformedAnswer, message: "\(title) issued no codes for a device: \(error.message)")
        }
    }

    /// Asks at the server's pace until the user has answered.
    ///
    /// - Throws: `accessDenied` if the user refused, `codeExpired` after the time limit, `cancelled` at once. Temporary errors (no network,
    ///   a fault of the server) only make the questions less frequent.
    public func awaitDeviceSignIn(
        _ authorization: DeviceAuthorization, by clock: some Clock<Duration> = ContinuousClock()
    ) async throws(AccountError) -> SignInCredentials {
        let client = try await client(for: .deviceCode)
        let url = try await endpoint("token")
        let form = form(.deviceCode(authorization.deviceCode), for: .deviceCode)
        var polling = DevicePolling(interval: authorization.interval, expiresIn: authorization.expiresIn)
        let start = clock.now
        while let wait = polling.wait(at: start.duration(to: clock.now) / .seconds(1)) {
            guard (try? await clock.sleep(for: .seconds(wait))) != nil else {
                throw AccountError(
                    .cancelled, message: "cancelled while waiting for the sign-in on another device",
                    unfinished: "nobody has entered the code on another device")
            }
            do throws(AccountError) {
                let reply = try await post(form, to: url, as: client, for: .deviceCode)
                return .tokens(try response(reply), isDirect: true)
            } catch {
                polling.hear(try outcome(of: error))
            }
        }
        throw Self.deviceCodeExpired
    }

    private static let deviceCodeExpired = AccountError(
        .codeExpired, message: "nobody entered the code in time; begin again")

    /// Maps an answer without tokens to the next question. Throws the error that ends the wait.
    private func outcome(of error: AccountError) throws(AccountError) -> DevicePolling.Outcome {
        switch error.serverCause {
        case OAuthError.Code.authorizationPending.rawValue: return .pending
        case OAuthError.Code.slowDown.rawValue: return .slowDown
        // A provider may use this name for tokens, too. Here it is about the device's code (RFC 8628, section 3.5).
        case OAuthError.Code.expiredToken.rawValue: throw Self.deviceCodeExpired
        default: break
        }
        guard [.network, .proxy, .timeout, .serverFault, .rateLimited].contains(error.code) else { throw error }
        return .nothing(retryAfter: error.retryAfter.map { $0 / .seconds(1) })
    }
}
