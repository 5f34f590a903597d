// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore
import RainHTTP
import RainIO
import RainJSON

/// One user's session with one provider: signs in and out, and carries requests that need a signed-in user.
///
/// Any number of tasks may share it. Its state is in the credential store, which other processes share too. Every call ends within its
/// deadlines. Cancelling the calling task ends the call at once with `cancelled`; a sign-in that has tokens by then signs out first.
///
/// ```swift
/// let session = try AccountSession.rainMaker(.global, http: client, store: FileCredentialStore(folder: folder))
/// let user = try await session.signIn(.password(user: "dev@example.com", password: password))
/// print(user.userID)
/// ```
public final class AccountSession: Sendable {
    let provider: any IdentityProvider
    let http: any HTTPClient
    let keeper: TokenKeeper
    let logger: Logger

    /// A session that is kept in `store` under `key`. Nothing is read or sent before the first call.
    /// - Parameters:
    ///   - provider: signs in and renews. Its ``IdentityProvider/context`` must be the one that a stored session was made with.
    ///   - http: carries the requests for ``send(_:)``; the provider has a client of its own.
    ///   - key: the name of the session, by which other processes find the same one.
    ///   - server: the provider's clock, for tokens that do not say when they were issued; nil trusts this machine's.
    ///   - logger: gets messages without secrets; nil for none.
    public convenience init(
        provider: any IdentityProvider, http: any HTTPClient, store: any CredentialStore, key: CredentialKey,
        clock: any WallClock = SystemWallClock(), server: ServerClock? = nil, logger: Logger? = nil
    ) {
        self.init(
            provider: provider, http: http, store: store, key: key, clock: clock, server: server, logger: logger,
            timer: ContinuousClock())
    }

    /// - Parameter timer: by which what takes too long is given up.
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

    /// What happens to the session from now on: signed in, refreshed, expired, signed out, loaded and saved.
    ///
    /// Each listener has its own stream and gets each event once and in order. A listener with 256 unread events is dropped: its stream
    /// ends, so that no event is skipped unnoticed. All streams end with the session.
    public func events() -> AsyncStream<AccountEvent> { keeper.events.stream() }

    /// Makes sure that a session could be stored. Throws the store's error.
    public func probeStore() async throws(AccountError) { try await keeper.probeStore() }

    /// The signed-in user's id, from the stored session: nothing is sent.
    public func userID() async throws(AccountError) -> UserID { try await keeper.stored().userID }

    /// What the signed-in user signed in with, from the stored session: nothing is sent.
    public func userName() async throws(AccountError) -> String { try await keeper.stored().userName }

    /// The user as the service knows them now.
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
    /// Signs in and stores the session in the place of any earlier one.
    ///
    /// The store is checked before the provider is asked. The user comes from the service, or from the id token's claims while the
    /// service is not available. A session that was stored before is reported first (``AccountEvent/loaded(_:)``). A sign-in that fails or
    /// is cancelled after that is signed out at the provider, within five seconds.
    public func signIn(_ credentials: SignInCredentials) async throws(AccountError) -> UserInfo {
        do throws(AccountError) {
            return try await begin(credentials)
        } catch {
            let error = error.remarking(on: credentials)
            // A second step is no failure: the sign-in goes on with it.
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
            guard error.isTransient, let claimed = provider.user(claimedBy: tokens) else { throw error }
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

    /// How long the provider has to answer the sign-out of a sign-in that failed.
    static let signOutDeadline = Duration.seconds(5)

    /// Signs out at the provider, which has given tokens that nobody keeps.
    private func abandon(_ tokens: Tokens) async {
        let (provider, timer) = (provider, keeper.timer)
        // Not a child of the caller's task: a cancelled task cannot send. It is awaited, and ends by its deadline.
        await Task {
            let outcome = await withDeadline(Self.signOutDeadline, sleep: { try await timer.sleep(for: $0) }) {
                () async throws(AccountError) in try await provider.signOut(tokens, everywhere: false)
            }
            if case .success? = outcome { return }
            logger.debug("a failed sign-in was not signed out at the provider")
        }.value
    }
}

extension AccountError {
    /// A refused password with what may be wrong with it, such as a blank at its end.
    fileprivate func remarking(on credentials: SignInCredentials) -> AccountError {
        guard code == .invalidCredentials, !isFromGateway, case .password(_, let password) = credentials,
            let remark = password.remark(as: "password")
        else { return self }
        var error = self
        error.message = message.because(of: remark)
        return error
    }
}

extension AccountSession {
    /// Signs in with what a person brings from elsewhere, a browser above all. The store is tried first, so that nobody signs in
    /// at a page for a session that then cannot be kept.
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

/// A stored session without its secrets: fit to be shown.
public struct SessionStatus: Sendable, Equatable {
    /// The provider's name, such as `rainmaker`.
    public var provider: String
    /// Whose session it is, by the provider's id.
    public var userID: UserID
    /// What the user signed in with, such as an e-mail address.
    public var userName: String
    /// When the access token came, by this machine's clock.
    public var received: UnixTime
    /// When the access token expires, by this machine's clock; nil if nobody said.
    public var expires: UnixTime?
    /// Whether the access token is beyond its end.
    public var hasExpired: Bool
    /// Whether new tokens can be had without the user.
    public var isRenewable: Bool
    /// What kind of proof the session holds.
    public var kind = CredentialKind.oauth
    /// When what renews it expires itself, by this machine's clock; nil if nobody said.
    public var refreshExpires: UnixTime?
    /// What the provider said about the user at sign-in, in its own words.
    public var attributes: [JSONValue.Member] = []
}

/// What scripts and gateways need when another program makes the requests.
extension AccountSession {
    /// What is stored of the session: nothing is sent.
    public func status() async throws(AccountError) -> SessionStatus { keeper.status(of: try await keeper.stored()) }

    /// An access token that is good for a while, renewed first if it is not.
    ///
    /// Send it nowhere but to the provider's services (``isForTokens(_:)``).
    /// - Throws: `unsupported` for a session that holds a password in its place, which is not handed out.
    public func accessToken() async throws(AccountError) -> Secret {
        let tokens = try await keeper.fresh().tokens
        guard tokens.kind != .basic else {
            throw AccountError(
                .unsupported,
                message:
                    "the session at \(provider.title) holds the user's password and no token; the password is not handed out: make requests with the session, or sign in by OAuth 2.0"
            )
        }
        return tokens.access
    }

    /// What a request made now carries to prove who asks, with a token that is good for a while.
    /// - Parameter urls: where the requests go. What opens a server in front of the provider is handed out only if all of them go there.
    public func requestProof(for urls: [String] = []) async throws(AccountError) -> RequestProof {
        RequestProof(of: provider, with: try await keeper.fresh().tokens, for: urls)
    }

    /// The `Authorization` header of a request made now, with a token that is good for a while.
    ///
    /// A token that the provider takes in the URL is put into a header as well: services that take tokens at all take them there
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
                    "\(provider.title) takes no Authorization header for this session: make requests with the session")
        }
        return ("Authorization", Secret("Bearer ".utf8 + tokens.access.revealBytes()))
    }

    /// Renews the tokens now, however long the old ones would still live.
    ///
    /// If another process does so meanwhile, its tokens are taken.
    /// - Throws: `notRenewable` for a session that lives and has nothing to be renewed with.
    public func renew() async throws(AccountError) -> SessionStatus {
        keeper.status(of: try await keeper.renewed(try await keeper.stored()))
    }

    /// An access token for a backend of the user's own, which takes it as `Authorization: Bearer`.
    /// - Throws: `invalidConfiguration` for a session that holds a password or a cookie in its place.
    package func bearerToken() async throws(AccountError) -> Secret {
        let tokens = try await keeper.fresh().tokens
        try check(tokens)
        return tokens.access
    }

    /// Makes sure that the stored session has an access token: nothing is sent. Throws `invalidConfiguration` as ``bearerToken()`` does.
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
                "the session at \(provider.title) holds \(content) and no access token, and the backend needs one: sign in by OAuth 2.0",
            remedies: modes.isEmpty ? [] : [.signInMode(provider: provider.name, modes: modes)])
    }

    /// The token to try after a backend of the user's own did not accept that one; nil where there is none. The session goes on: only its
    /// provider can end it.
    package func bearerToken(replacing rejected: Secret) async throws(AccountError) -> Secret? {
        let tokens = try await keeper.stored().tokens
        guard tokens.access == rejected else { return tokens.access }
        guard tokens.haveRenewal else { return nil }
        return try await keeper.renewed(replacing: rejected).tokens.access
    }

    /// Whether a URL is one of the provider's services, where alone its tokens belong.
    public func isForTokens(_ url: String) -> Bool {
        provider.resources.contains { $0.isBase(of: url) }
    }
}

/// What a request carries to prove who asks, for another program that sends it. All values are secrets.
public struct RequestProof: Sendable {
    /// Headers, such as `Authorization` or `Cookie`.
    public var headers: [(name: String, value: Secret)]
    /// Parameters for the URL's query, percent-encoded as they are.
    public var query: [(name: String, value: Secret)]

    /// Whether a request needs nothing at all.
    public var isEmpty: Bool { headers.isEmpty && query.isEmpty }

    /// - Parameter urls: where the requests go. A header that is for some of these hosts only is left out.
    init(of provider: any IdentityProvider, with tokens: Tokens, for urls: [String]) {
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
    /// Sends a request in the user's name. When the service answers 401 the tokens are renewed and it is sent once more: what
    /// was answered with 401 has had no effect.
    /// - Throws: `invalidConfiguration` if the URL is not one of the provider's services, where alone its tokens belong.
    /// - Returns: any response, the last one after a 401.
    public func send(_ request: HTTPRequest) async throws(AccountError) -> HTTPResponse {
        try check(request)
        let (answer, _) = try await asking { tokens throws(AccountError) in
            try await send(request, with: tokens).response
        } isRefusal: {
            $0.status == 401
        }
        return answer
    }

    /// Sends a request as ``send(_:)`` does, for `read` to make something of the answer; what that reads as `expired` counts as a 401. What
    /// it throws has no secret of the request in it, not even the proof of who asks: some servers, and much that stands before them, throw
    /// back what they were sent.
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
                    "the session's tokens were not sent: \(Self.server(of: request.url)) is not a service of this account's provider"
            )
        }
    }

    /// The scheme and the host of a URL, for messages; its path and query may hold secrets.
    private static func server(of url: String) -> String {
        let shown = ShownText.withoutUserInfo(url)
        guard let scheme = shown.firstRange(of: "://") else { return "this address" }
        // A question mark and a combining mark behind it are one character.
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
            throw AccountError(error)
        }
    }
}

extension AccountSession {
    /// How often the tokens are renewed for one question: once more than usual where the new ones have ended before they were looked at.
    private static let renewals = 2

    /// Asks with tokens that are good for a while, and again with new ones where they were not accepted.
    /// - Returns: the last answer, and the tokens that it was asked with.
    func asking<Answer>(
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

    /// The same for answers that have been read.
    func asking<Value>(
        _ ask: (Tokens) async throws(AccountError) -> Result<Value, AccountError>
    ) async throws(AccountError) -> Value {
        let (answer, tokens) = try await asking(ask) { answer in
            // The RainMaker cloud says it with 400, and portals with 200.
            if case .failure(let error) = answer { error.status == 401 || error.code == .expired } else { false }
        }
        do throws(AccountError) {
            return try answer.get()
        } catch {
            // A session that had ended would have been told by the renewal.
            throw error.withSessionKept(tokens.haveExpired(at: keeper.now) ? tokens.lifetime : nil)
        }
    }
}

extension AccountError {
    /// What a service says of a session that it does not accept, where the provider has renewed it: the session goes on, and so
    /// may what was asked for.
    /// - Parameter lifetime: of the tokens, in seconds, where they had ended by then.
    func withSessionKept(_ lifetime: Double?) -> AccountError {
        guard code == .expired else { return self }
        var error = self
        error.code = .serverFault
        let status = status.map { " (HTTP \($0))" } ?? ""
        error.message =
            "the service did not accept the session\(status), which its provider has renewed and so has not ended; it is kept: "
            + "try again later"
        if let lifetime {
            let seconds = Int(lifetime.rounded())
            error.message += ". New tokens are good for \(seconds) s only, which was over before the answer came"
        }
        return error
    }
}

extension AccountSession {
    /// Whom the provider knew the user to be at sign-in, from the stored session: nothing is sent, so it works offline.
    public func storedUser() async throws(AccountError) -> UserInfo { try await keeper.stored().userInfo }
}

extension AccountSession {
    /// The stored session, tokens and all, for programs that it is handed to. Throws `wrongContext` for one of another address.
    package func savedSession() async throws(AccountError) -> SavedSession { try await keeper.stored() }
}

extension AccountSession {
    /// By how many seconds the provider's clock is ahead of this machine's, as far as the stored session knows.
    package func serverIsAhead() async throws(AccountError) -> Double? { try await keeper.stored().serverIsAhead }
}

extension AccountSession {
    /// Waits until every renewal of this process, whichever session it is of, whose request has gone out is answered and stored. To be called
    /// before a process ends, once the tasks that use its sessions are cancelled or done.
    ///
    /// A provider that replaces refresh tokens forgets the old one as it answers. A process that ends before it has stored that answer
    /// loses the session: the next one presents the old token, which such providers take for a stolen one (RFC 9700, section 4.14.2).
    /// Nothing is waited for where no request is under way, and a cancelled renewal that has not sent its request never does.
    ///
    /// ```swift
    /// work.cancel()
    /// await work.value
    /// await AccountSession.finishRenewals(within: .seconds(5))
    /// exit(0)
    /// ```
    ///
    /// - Parameter limit: how long to wait at most. No renewal takes longer than the 30 seconds that it is by default.
    /// - Returns: whether none is under way any more. False, at once, where the calling task is cancelled meanwhile.
    @discardableResult
    public static func finishRenewals(within limit: Duration = .seconds(30)) async -> Bool {
        await RenewalsUnderWay.current.finish(within: limit)
    }
}
