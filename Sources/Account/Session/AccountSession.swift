// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore
import RainHTTP
import RainIO
import RainJSON

/// A session of one user with one provider: signs in and out, and sends requests that need a signed-in user.
///
/// Any number of tasks can share it. Its state is in the credential store, which other processes share too. Every call ends within its
/// deadlines. Cancelling the calling task ends the call at once with `cancelled`. A sign-in that already has tokens signs out first.
///
/// ```swift
/// let session = try AccountSession.rainMaker(.global, http: client, store: FileCredentialStore(folder: folder))
/// let user = try await session.signIn(.password(user: "dev@example.com", password: password))
/// print(user.userID)
/// ```
public final class AccountSession: Sendable {
    let provider: any IdentityProvider
    private let http: any HTTPClient
    let keeper: TokenKeeper
    private let logger: Logger

    /// Creates a session that is kept in `store` under `key`. Nothing is read or sent before the first call.
    /// - Parameters:
    ///   - provider: signs in and renews. Its ``IdentityProvider/context`` must be the one with which a stored session was made.
    ///   - http: carries the requests for ``send(_:)``; the provider has its own client.
    ///   - key: the name of the session, under which other processes find it.
    ///   - server: the provider's clock, for tokens that do not contain their time of issue; nil trusts this machine's clock.
    ///   - logger: gets messages without secrets; nil for none.
    public convenience init(
        provider: any IdentityProvider, http: any HTTPClient, store: any CredentialStore, key: CredentialKey,
        clock: any WallClock = SystemWallClock(), server: ServerClock? = nil, logger: Logger? = nil
    ) {
        self.init(
            provider: provider, http: http, store: store, key: key, clock: clock, server: server, logger: logger,
            timer: ContinuousClock())
    }

    /// - Parameter timer: measures the time limits.
    package init(
        provider: any IdentityProvider, http: any HTTPClient, store: any CredentialStore, key: CredentialKey,
        clock: any WallClock, server: ServerClock? = nil, logger: Logger? = nil, timer: any Clock<Duration>
    ) {
        self.provider = provider
        self.http = http
        self.logger = logger ?? Logger(label: "account") { _ in SwiftLogNoOpLogHandler() }
        keeper = TokenKeeper(
            provider: provider, store: store, key: key, clock: clock, server: server, logger: self.logger,
            timer: timer)
    }

    /// Returns the events of the session from now on: signed in, refreshed, expired, signed out, loaded and saved.
    ///
    /// Each listener has its own stream and gets each event once and in order. The stream of a listener with 256 unread events ends, so
    /// that no event is skipped unnoticed. All streams end with the session.
    public func events() -> AsyncStream<AccountEvent> { keeper.events.stream() }

    /// Checks that a session could be stored. Throws the store's error.
    public func probeStore() async throws(AccountError) { try await keeper.probeStore() }

    /// Returns the signed-in user's id from the stored session. Sends nothing.
    public func userID() async throws(AccountError) -> UserID { try await keeper.stored().userID }

    /// Returns the name with which the user signed in, from the stored session. Sends nothing.
    public func userName() async throws(AccountError) -> String { try await keeper.stored().userName }

    /// Returns the current data of the user from the service.
    public func user() async throws(AccountError) -> UserInfo {
        try await asking { tokens throws(AccountError) in
            do throws(AccountError) {
                return .success(try await provider.user(tokens))
            } catch {
                return .failure(error)
            }
        }
    }
}

extension AccountSession {
    /// Signs in, and stores the session instead of any earlier one.
    ///
    /// The store is checked before the provider is asked. The user comes from the service, or from the ID token's claims while the service
    /// is not available. A session that was stored before is reported first (``AccountEvent/loaded(_:)``). If a sign-in fails or is
    /// cancelled after the provider issued tokens, it is signed out at the provider within five seconds.
    public func signIn(_ credentials: SignInCredentials) async throws(AccountError) -> UserInfo {
        do throws(AccountError) {
            return try await begin(credentials)
        } catch {
            let error = error.remarking(on: credentials)
            // A second step is not a failure: the sign-in continues with it.
            if error.code != .secondStepRequired { keeper.events.happened(.signInFailed(error)) }
            throw error
        }
    }

    private func begin(_ credentials: SignInCredentials) async throws(AccountError) -> UserInfo {
        try await keeper.probeStore()
        await keeper.reportStored()
        let tokens = try await provider.signIn(credentials)
        do throws(AccountError) {
            return try await begin(tokens)
        } catch {
            await abandon(tokens)
            throw error
        }
    }

    private func begin(_ tokens: Tokens) async throws(AccountError) -> UserInfo {
        let user: UserInfo
        do throws(AccountError) {
            user = try await provider.user(tokens)
        } catch {
            guard error.isTransient, let claimed = provider.user(claimedBy: tokens) else {
                throw error.refusingNewTokens(of: provider.title)
            }
            logger.debug(
                "no user from the service, the id token's claims are used", metadata: ["cause": "\(error.code)"])
            user = claimed
        }
        try await keeper.begin(
            SavedSession(
                provider: provider.name, userID: user.userID, userName: user.userName, tokens: tokens,
                attributes: user.attributes, context: provider.context))
        logger.debug("signed in", metadata: ["provider": "\(provider.name)"])
        return user
    }

    /// The time limit for the sign-out after a failed sign-in.
    private static let signOutDeadline = Duration.seconds(5)

    /// Signs out at the provider, because nobody keeps the tokens.
    private func abandon(_ tokens: Tokens) async {
        let (provider, timer) = (provider, keeper.timer)
        // This is not a child of the caller's task, because a cancelled task cannot send. It is awaited, and ends by its deadline.
        await Task {
            let outcome = await withDeadline(Self.signOutDeadline, sleep: { try await timer.sleep(for: $0) }) {
                () async throws(AccountError) in try await provider.signOut(tokens, everywhere: false)
            }
            if case .success? = outcome { return }
            logger.debug("the provider could not end the session of a failed sign-in")
        }.value
    }
}

extension AccountError {
    /// A refusal of tokens that the provider has just issued: no session has ended, and another sign-in has the same outcome.
    fileprivate func refusingNewTokens(of title: String) -> AccountError {
        guard code == .expired else { return self }
        var error = self
        error.code = .signInFailed
        error.message =
            "\(title) does not accept the tokens that it has just issued\(status.map { " (HTTP \($0))" } ?? ""); report this to its operator"
        return error
    }

    /// Adds a possible reason to a refused sign-in, such as a space at the end of the password.
    fileprivate func remarking(on credentials: SignInCredentials) -> AccountError {
        guard code == .invalidCredentials, !isFromGateway, case .password(let user, let password) = credentials,
            let remark = GivenText.remark(on: user, as: "The user name") ?? password.remark(as: "password")
        else { return self }
        var error = self
        error.message = message.because(of: remark)
        return error
    }
}

extension AccountSession {
    /// Signs in with credentials from elsewhere, usually a browser. The store is checked first, so that nobody signs in for a session that
    /// cannot be saved.
    ///
    /// ```swift
    /// let page = try Deployment.global.signInPage(identityProvider: "github")
    /// let user = try await session.signIn { () async throws(AccountError) in
    ///     var random = OpenSSLRandom()
    ///     return try await page.signIn(through: agent, random: &random, hashes: OpenSSLHashes.self)
    /// }
    /// ```
    public func signIn(
        with credentials: @Sendable () async throws(AccountError) -> SignInCredentials
    ) async throws(AccountError) -> UserInfo {
        try await probeStore()
        return try await signIn(try await credentials())
    }
}

/// A stored session without its secrets, safe to show.
public struct SessionStatus: Sendable, Equatable {
    /// The provider's name, such as `rainmaker`.
    public var provider: String
    /// The user's id at the provider.
    public var userID: UserID
    /// The name with which the user signed in, such as an e-mail address.
    public var userName: String
    /// When the access token arrived, by this machine's clock.
    public var received: UnixTime
    /// When the access token expires, by this machine's clock; nil if unknown.
    public var expires: UnixTime?
    /// Whether the access token has expired.
    public var hasExpired: Bool
    /// Whether the session can get new tokens without the user.
    public var isRenewable: Bool
    /// The kind of proof that the session holds.
    public var kind = CredentialKind.oauth
    /// When the refresh token expires, by this machine's clock; nil if unknown.
    public var refreshExpires: UnixTime?
    /// The provider's own data about the user at sign-in.
    public var attributes: [JSONValue.Member] = []
}

/// Values for scripts and gateways, if another program sends the requests.
extension AccountSession {
    /// Returns the state of the stored session. Sends nothing.
    public func status() async throws(AccountError) -> SessionStatus { keeper.status(of: try await keeper.stored()) }

    /// Returns an access token that is valid for a while. It is renewed first if necessary.
    ///
    /// Send it only to the provider's services (``isForTokens(_:)``).
    /// - Throws: `unsupported` for a session that holds a password instead. The password is not returned.
    public func accessToken() async throws(AccountError) -> Secret {
        let tokens = try await keeper.fresh().tokens
        guard tokens.kind != .basic else {
            throw AccountError(
                .unsupported,
                message:
                    "the session at \(provider.title) stores the user's password and has no token. The session never gives out the "
                    + "password: send requests through the session, or sign in by OAuth 2.0"
            )
        }
        guard tokens.kind != .cookie else {
            throw AccountError(
                .unsupported,
                message:
                    "the sign-in at \(provider.title) gave cookies for web pages, and no access token. Sign in by OAuth 2.0, or send "
                    + "requests with the session's own functions"
            )
        }
        return tokens.access
    }

    /// Returns the headers and parameters that authenticate a request now, with a token that is valid for a while.
    /// - Parameter urls: the URLs of the requests. The credentials of a server in front of the provider are included only if all requests
    ///   go there.
    public func requestProof(for urls: [String] = []) async throws(AccountError) -> RequestProof {
        RequestProof(of: provider, with: try await keeper.fresh().tokens, for: urls)
    }

    /// Returns the `Authorization` header of a request now, with a token that is valid for a while.
    ///
    /// A token that the provider accepts in the URL is returned as a header too. Every service that accepts tokens accepts them there
    /// (RFC 6750, section 2.1).
    /// - Throws: `invalidConfiguration` for a session that has no token, such as a portal's cookies.
    public func authorization() async throws(AccountError) -> (name: String, value: Secret) {
        let tokens = try await keeper.fresh().tokens
        let proof = RequestProof(of: provider, with: tokens, for: [])
        if let header = proof.headers.first(where: { $0.name.lowercased() == "authorization" }) { return header }
        guard tokens.kind == .oauth, !proof.query.isEmpty else {
            throw AccountError(
                .invalidConfiguration,
                message:
                    "\(provider.title) accepts no Authorization header for this session: send requests through the session"
            )
        }
        return ("Authorization", Secret("Bearer ".utf8 + tokens.access.revealBytes()))
    }

    /// Returns the access token of the stored session, whether it is still valid or not. Sends nothing. Nil for a session that holds a
    /// password or a cookie instead.
    package func storedAccessToken() async throws(AccountError) -> Secret? {
        let tokens = try await keeper.stored().tokens
        return [.basic, .cookie].contains(tokens.kind) ? nil : tokens.access
    }

    /// Renews the tokens now, even if the old ones are still valid.
    ///
    /// If another process renews them meanwhile, its tokens are used.
    /// - Throws: `notRenewable` for a valid session that cannot be renewed.
    public func renew() async throws(AccountError) -> SessionStatus {
        keeper.status(of: try await keeper.renewed(try await keeper.stored()))
    }

    /// Returns an access token for the user's own backend, which accepts it as `Authorization: Bearer`.
    /// - Throws: `invalidConfiguration` for a session that holds a password or a cookie instead.
    package func bearerToken() async throws(AccountError) -> Secret {
        let tokens = try await keeper.fresh().tokens
        try check(tokens)
        return tokens.access
    }

    /// Checks that the stored session has an access token. Sends nothing. Throws `invalidConfiguration` like ``bearerToken()``.
    package func checkHasToken() async throws(AccountError) { try check(try await keeper.stored().tokens) }

    private func check(_ tokens: Tokens) throws(AccountError) {
        guard tokens.kind != .oauth else { return }
        let content =
            switch tokens.kind {
            case .basic: "the user's password"
            case .cookie: "a web session's cookies"
            default: "another proof (\(tokens.kind.rawValue))"
            }
        let modes = provider.modesWithToken
        throw AccountError(
            .invalidConfiguration,
            message:
                "the session at \(provider.title) has \(content) and no access token, but the backend needs an access token: sign in by "
                + "OAuth 2.0",
            remedies: modes.isEmpty ? [] : [.signInMode(provider: provider.name, modes: modes)])
    }

    /// Returns the next token to try after the user's own backend refused one; nil if there is none. The session continues, because only
    /// its provider can end it.
    package func bearerToken(replacing rejected: Secret) async throws(AccountError) -> Secret? {
        let tokens = try await keeper.stored().tokens
        guard tokens.access == rejected else { return tokens.access }
        guard tokens.haveRenewal else { return nil }
        return try await keeper.renewed(replacing: rejected).tokens.access
    }

    /// Returns the access token and the ID token of one sign-in, for a service that takes both.
    /// - Parameter rejected: an access token that the service refused. The session is renewed, unless another task has done so.
    package func tokenPair(
        replacing rejected: Secret? = nil
    ) async throws(AccountError) -> (access: Secret, identity: Secret?) {
        var tokens = try await keeper.fresh().tokens
        if let rejected, tokens.access == rejected { tokens = try await keeper.renewed(replacing: rejected).tokens }
        return (tokens.access, tokens.identity)
    }

    /// Returns whether a URL belongs to the provider's services. Tokens may be sent only there.
    public func isForTokens(_ url: String) -> Bool {
        provider.resources.contains { $0.isBase(of: url) }
    }
}

/// The headers and parameters that authenticate a request, for another program that sends it. All values are secrets.
public struct RequestProof: Sendable {
    /// Headers, such as `Authorization` or `Cookie`.
    public var headers: [(name: String, value: Secret)]
    /// Parameters for the URL's query, already percent-encoded.
    public var query: [(name: String, value: Secret)]

    /// Whether a request needs no proof.
    public var isEmpty: Bool { headers.isEmpty && query.isEmpty }

    /// - Parameter urls: the URLs of the requests. A header for only some of these hosts is omitted.
    fileprivate init(of provider: any IdentityProvider, with tokens: Tokens, for urls: [String]) {
        let places = (urls.isEmpty ? [""] : urls).map { String($0.prefix { $0 != "?" && $0 != "#" }) }
        let requests = places.map { place in
            var request = HTTPRequest(method: .get, url: place)
            provider.authorize(&request, with: tokens)
            return request
        }
        headers = requests[0].headers
            .filter { header in requests.allSatisfy { $0.headers.contains(header) } }
            .map { ($0.name, Secret($0.value)) }
        query = requests[0].url.dropFirst(places[0].count).drop { $0 == "?" }.split(separator: "&").map { pair in
            let name = pair.prefix { $0 != "=" }
            return (String(name), Secret(String(pair.dropFirst(name.count + 1))))
        }
    }
}

extension AccountSession {
    /// Sends a request as the signed-in user. If the service answers 401, the tokens are renewed and the request is sent once more. A
    /// request with a 401 had no effect.
    /// - Throws: `invalidConfiguration` if the URL does not belong to the provider's services, because tokens may be sent only there.
    /// - Returns: any response; after a 401, the second one.
    public func send(_ request: HTTPRequest) async throws(AccountError) -> HTTPResponse {
        try check(request)
        let (answer, _) = try await asking { tokens throws(AccountError) in
            try await send(request, with: tokens).response
        } isRefusal: {
            $0.status == 401
        }
        return answer
    }

    /// Sends a request like ``send(_:)``, and returns the result of `read` for the answer. An `expired` error of `read` counts as a 401.
    /// Errors contain no secret of the request and no token, because some servers and proxies repeat what they received.
    package func send<Result>(
        _ request: HTTPRequest, _ read: (HTTPResponse) throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        try check(request)
        return try await asking { tokens throws(AccountError) in
            let (sent, response) = try await send(request, with: tokens)
            do throws(AccountError) {
                return .success(try read(response))
            } catch {
                return .failure(error.without(RequestSecrets(sent), in: response, read))
            }
        }
    }

    private func check(_ request: HTTPRequest) throws(AccountError) {
        guard isForTokens(request.url) else {
            throw AccountError(
                .invalidConfiguration,
                message:
                    "the session's tokens were not sent: \(Self.server(of: request.url)) does not belong to this account's provider"
            )
        }
    }

    /// Returns the scheme and host of a URL, for messages. The path and query may contain secrets.
    private static func server(of url: String) -> String {
        let shown = ShownText.withoutUserInfo(url)
        guard let scheme = shown.firstRange(of: "://") else { return "this address" }
        // A question mark and a combining mark after it are one character.
        let rest = shown.unicodeScalars[scheme.upperBound...]
        return presentable(
            String(shown[..<scheme.upperBound]) + String(rest.prefix { !"/?#\\".unicodeScalars.contains($0) }))
    }

    private func send(
        _ request: HTTPRequest, with tokens: Tokens
    ) async throws(AccountError) -> (sent: HTTPRequest, response: HTTPResponse) {
        var request = request
        provider.authorize(&request, with: tokens)
        do throws(HTTPError) {
            return (request, try await http.send(request))
        } catch {
            throw AccountError(error, isChange: request.isChange)
        }
    }
}

extension AccountSession {
    /// How often the tokens are renewed for one question. The second time is for new tokens that expired before the service checked them.
    private static let renewals = 2

    /// Asks with tokens that are valid for a while, and again with new ones if they were not accepted.
    /// - Returns: the last answer, and the tokens that it was asked with.
    private func asking<Answer>(
        _ ask: (Tokens) async throws(AccountError) -> Answer, isRefusal: (Answer) -> Bool
    ) async throws(AccountError) -> (Answer, Tokens) {
        var session = try await keeper.fresh()
        var answer = try await ask(session.tokens)
        for attempt in 0..<Self.renewals {
            guard isRefusal(answer), attempt == 0 || session.tokens.haveExpired(at: keeper.now) else { break }
            logger.debug("the tokens were not accepted, renewing")
            session = try await keeper.renewed(replacing: session.tokens.access)
            answer = try await ask(session.tokens)
        }
        return (answer, session.tokens)
    }

    /// Asks in the same way, for answers that have been read.
    private func asking<Value>(
        _ ask: (Tokens) async throws(AccountError) -> Result<Value, AccountError>
    ) async throws(AccountError) -> Value {
        let (answer, tokens) = try await asking(ask) { answer in
            // The RainMaker cloud reports an ended session with status 400, and portals with 200.
            if case .failure(let error) = answer { error.status == 401 || error.code == .expired } else { false }
        }
        do throws(AccountError) {
            return try answer.get()
        } catch {
            // If the session had ended, the renewal would have failed.
            throw error.withSessionKept(tokens.haveExpired(at: keeper.now) ? tokens.lifetime : nil)
        }
    }
}

extension AccountError {
    /// Returns the error of a service that refused a session, although the provider has renewed it. The session continues, and the request
    /// may succeed later.
    /// - Parameter lifetime: the lifetime of the tokens in seconds, if they had expired by then.
    fileprivate func withSessionKept(_ lifetime: Double?) -> AccountError {
        guard code == .expired else { return self }
        var error = self
        error.code = .serverFault
        let status = status.map { " (HTTP \($0))" } ?? ""
        error.message =
            "the service does not accept the session\(status), although its provider has just renewed the session. The session is kept: "
            + "try again later"
        if let lifetime {
            let seconds = Int(lifetime.rounded())
            error.message += ". New tokens are valid for only \(seconds) s, and had expired before the answer arrived"
        }
        return error
    }
}

extension AccountSession {
    /// Returns the provider's data about the user at sign-in, from the stored session. Sends nothing, so it works offline.
    public func storedUser() async throws(AccountError) -> UserInfo { try await keeper.stored().userInfo }
}

extension AccountSession {
    /// Returns the stored session with its tokens, for programs that receive it. Throws `wrongContext` for one of another address.
    package func savedSession() async throws(AccountError) -> SavedSession { try await keeper.stored() }
}

extension AccountSession {
    /// Returns how many seconds the provider's clock is ahead of this machine's, if the stored session knows.
    package func serverIsAhead() async throws(AccountError) -> Double? { try await keeper.stored().serverIsAhead }
}

extension AccountSession {
    /// Waits until every renewal of this process, of any session, whose request was sent has been answered and stored. Call it before a
    /// process ends, after the tasks that use its sessions have ended or were cancelled.
    ///
    /// A provider that replaces refresh tokens forgets the old one when it answers. A process that ends before it has stored the answer
    /// loses the session. The next process sends the old token, and such providers treat it as stolen (RFC 9700, section 4.14.2). If no
    /// request was sent, this returns at once, and a cancelled renewal never sends one later.
    ///
    /// ```swift
    /// work.cancel()
    /// await work.value
    /// await AccountSession.finishRenewals(within: .seconds(5))
    /// exit(0)
    /// ```
    ///
    /// - Parameter limit: the maximum time to wait. No renewal takes longer than the default of 30 seconds.
    /// - Returns: whether all renewals have ended; false, at once, if the calling task is cancelled.
    @discardableResult
    public static func finishRenewals(within limit: Duration = .seconds(30)) async -> Bool {
        await RenewalsUnderWay.current.finish(within: limit)
    }
}
