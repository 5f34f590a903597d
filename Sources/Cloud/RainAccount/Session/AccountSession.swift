import RainWaiting
import RainHTTP
import Logging
import RainCore

/// One user's session with one provider: signs in and out, and carries requests that need a signed-in user.
///
/// It may be shared by any number of tasks; what it knows is in the credential store, which other processes share too. Every
/// call ends within its deadlines, and cancelling the calling task ends it at once with `cancelled`; but a sign-in that has its tokens
/// already is signed out first.
///
/// ```swift
/// let session = try AccountSession.rainMaker(.global, http: client, store: FileCredentialStore(folder: folder))
/// let profile = try await session.signIn(.password(user: "dev@example.com", password: password))
/// print(profile.userID)
/// ```
public final class AccountSession: Sendable {
    let provider: any IdentityProvider
    private let http: any HTTPClient
    let keeper: TokenKeeper
    private let logger: Logger

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

    /// What becomes of the session from now on: signed in, refreshed, expired, signed out, and what the store gave and got.
    ///
    /// Every listener has a stream of its own, hears each event once and in order, and ends it by leaving its loop. One that lets 256
    /// events wait is let go: its stream ends, and nothing is skipped in silence. The streams end with the session.
    public func events() -> AsyncStream<AccountEvent> { keeper.events.stream() }

    // MARK: In and out

    /// Signs in and stores the session in the place of any earlier one.
    ///
    /// The store is tried before the provider is. The profile comes from the service; if it cannot be had for a passing reason, what
    /// the id token claims stands in. What fails or is cancelled after that is signed out at the
    /// provider, which has five seconds for it.
    public func signIn(_ credentials: SignInCredentials) async throws(AccountError) -> UserInfo {
        do throws(AccountError) {
            return try await begin(credentials)
        } catch {
            // A second step is no failure: the sign-in goes on with it.
            if error.code != .secondStepRequired { keeper.events.happened(.signInFailed(error)) }
            throw error
        }
    }

    private func begin(_ credentials: SignInCredentials) async throws(AccountError) -> UserInfo {
        try await keeper.probeStore()
        let tokens = try await provider.signIn(credentials)
        do throws(AccountError) {
            return try await begin(tokens)
        } catch {
            await abandon(tokens)
            throw error
        }
    }

    private func begin(_ tokens: Tokens) async throws(AccountError) -> UserInfo {
        let profile: UserInfo
        do throws(AccountError) {
            profile = try await provider.user(tokens)
        } catch {
            guard error.isTransient, let claimed = provider.user(claimedBy: tokens) else { throw error }
            logger.debug("profile not to be had, the id token's claims are used", metadata: ["cause": "\(error.code)"])
            profile = claimed
        }
        try await keeper.begin(
            SavedSession(
                provider: provider.name, userID: profile.userID, userName: profile.userName, tokens: tokens,
                attributes: profile.attributes, context: provider.context))
        logger.debug("signed in", metadata: ["provider": "\(provider.name)"])
        return profile
    }

    /// How long the provider has for being told of a sign-in that came to nothing.
    static let signOutLimit = Duration.seconds(5)

    /// Ends at the provider what nobody here knows any more, as far as that is to be had quickly.
    private func abandon(_ tokens: Tokens) async {
        let (provider, timer) = (provider, keeper.timer)
        // No child of the caller's task: if that is cancelled, nothing can be sent in it. Awaited, and done by its deadline.
        await Task {
            let told = await withDeadline(Self.signOutLimit, sleep: { try await timer.sleep(for: $0) }) {
                () async throws(AccountError) in try await provider.signOut(tokens, everywhere: false)
            }
            if case .success? = told { return }
            logger.debug("the provider was not told of a sign-in that came to nothing")
        }.value
    }

    /// Makes sure that a session could be stored. Throws the store's error.
    public func probeStore() async throws(AccountError) { try await keeper.probeStore() }

    /// How far a sign-out came. Here the session is over in any case.
    public enum SignOutOutcome: Sendable {
        case complete
        /// The provider could not be told: to it the session lives until its tokens expire.
        case onlyHere(AccountError)
    }

    /// Ends the session here and at the provider; `everywhere` ends all of the user's sessions on all devices.
    ///
    /// No other process can renew the session meanwhile and so bring it back.
    public func signOut(everywhere: Bool = false) async throws(AccountError) -> SignOutOutcome {
        let provider = provider
        let failure = try await keeper.end { tokens async throws(AccountError) in
            try await provider.signOut(tokens, everywhere: everywhere)
        }
        return failure.map { .onlyHere($0) } ?? .complete
    }

    /// Removes the user's stored session, which the provider has ended, without telling it. One of another user stays.
    package func forget(_ user: UserID) async throws(AccountError) {
        let session: SavedSession
        do throws(AccountError) {
            session = try await keeper.stored()
        } catch {
            if error.code == .notSignedIn { return }
            throw error
        }
        guard session.userID == user else { return }
        try await keeper.remove(session)
    }

    // MARK: Who

    /// The signed-in user's id, from the stored session: nothing is sent.
    public func userID() async throws(AccountError) -> UserID { try await keeper.stored().userID }

    /// What the signed-in user signed in with, from the stored session: nothing is sent.
    public func userName() async throws(AccountError) -> String { try await keeper.stored().userName }

    /// The profile as the service has it now.
    public func user() async throws(AccountError) -> UserInfo {
        let session = try await keeper.fresh()
        do throws(AccountError) {
            return try await provider.user(session.tokens)
        } catch {
            // Portals say it with another status.
            guard error.status == 401 || error.code == .expired else { throw error }
            return try await provider.user(try await keeper.renewed(replacing: session.tokens.access).tokens)
        }
    }

    // MARK: Requests

    /// Sends a request in the user's name. When the service answers 401 the tokens are renewed and it is sent once more: what
    /// was answered with 401 has had no effect.
    /// - Throws: `invalidConfiguration` if the URL is not one of the provider's services, where alone its tokens belong.
    /// - Returns: any response, the second one after a 401.
    public func send(_ request: HTTPRequest) async throws(AccountError) -> HTTPResponse {
        try await answer(to: request).response
    }

    /// Sends a request as ``send(_:)`` does, for `read` to make something of the answer. What that throws has no secret of the request in
    /// it, not even the proof of who asks: some servers, and much that stands before them, throw back what they were sent.
    package func send<Result>(
        _ request: HTTPRequest, _ read: (HTTPResponse) throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        let (sent, response) = try await answer(to: request)
        do throws(AccountError) {
            return try read(response)
        } catch {
            throw error.without(RequestSecrets(sent))
        }
    }

    /// The answer, and the request as it went out last.
    private func answer(
        to request: HTTPRequest
    ) async throws(AccountError) -> (sent: HTTPRequest, response: HTTPResponse) {
        guard isForTokens(request.url) else {
            throw AccountError(
                .invalidConfiguration, message: "the session's tokens are not for this service and were not sent")
        }
        let session = try await keeper.fresh()
        let first = try await send(request, with: session.tokens)
        guard first.response.status == 401 else { return first }
        logger.debug("answered 401, renewing")
        return try await send(request, with: try await keeper.renewed(replacing: session.tokens.access).tokens)
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
