// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import Logging
import RainCore

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
