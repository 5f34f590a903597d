// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainHTTP
import RainMaker

/// How a client comes to an account's session: its identity system, and the store that the session is in.
extension RainKitClient {
    func storedAccount() throws(AccountError) -> AccountAccess {
        guard let selection = configuration.provider else {
            let deployment = configuration.deployment
            if let store = configuration.sessions { return try access(deployment, ownStore: store) }
            let kept = try accounts.account(at: deployment.name, named: configuration.account)
            return try access(deployment, store: kept.store, account: kept.key.account, place: SessionPlace(kept))
        }
        let provider = try configuredProvider(selection)
        if let store = configuration.sessions { return try access(provider, ownStore: store) }
        let kept = try accounts.account(at: provider.name, named: configuration.account)
        return try access(provider, store: kept.store, account: kept.key.account, place: SessionPlace(kept))
    }

    /// For someone who signs in: an account whose place for the session is proven to work, before anything is asked. The client uses it
    /// once ``signIn(with:to:)`` has succeeded.
    ///
    /// - Parameters:
    ///   - user: who signs in, as far as that is known before.
    ///   - choice: where the session is to be kept.
    ///   - savesCredentials: whether to keep a session that holds the user's password, or cookies that are renewed with it. A store of the
    ///     program's own (``RainKitConfiguration/sessions``) keeps every session.
    /// - Throws: `storeAbsent`, `storeLocked`, `storeNotAnswering` or `cannotStore` when the store cannot be used now.
    public func newAccount(
        user: String? = nil, in choice: StoreChoice = .automatic, savingCredentials savesCredentials: Bool = false
    ) async throws(AccountError) -> AccountAccess {
        let provider = try configuration.provider.map { selection throws(AccountError) in
            try configuredProvider(selection)
        }
        if let store = configuration.sessions {
            if let provider { return try access(provider, ownStore: store) }
            return try access(configuration.deployment, ownStore: store)
        }
        let name = provider?.name ?? configuration.deployment.name
        let store = try await accounts.newAccount(
            at: name, named: configuration.account, user: user, in: choice, savingCredentials: savesCredentials)
        let place = SessionPlace(
            AccountDirectory.KeptAccount(
                key: try CredentialKey(name, account: configuration.account ?? user), kind: store.kind, store: store))
        if let provider { return try access(provider, store: store, account: nil, place: place) }
        return try access(configuration.deployment, store: store, account: nil, place: place)
    }

    private var ownPlace: SessionPlace { SessionPlace(kind: .memory, account: configuration.account) }

    // MARK: RainMaker

    private func access(
        _ deployment: Deployment, ownStore store: any CredentialStore
    ) throws(AccountError) -> AccountAccess {
        try access(deployment, store: store, account: configuration.account, place: ownPlace)
    }

    private func access(
        _ deployment: Deployment, store: any CredentialStore, account: String?, place: SessionPlace
    ) throws(AccountError) -> AccountAccess {
        var deployment = deployment
        deployment.certificateAuthorities = configuration.certificateAuthorities ?? deployment.certificateAuthorities
        let http = configuration.tools.http(deployment.certificateAuthorities)
        let tools = configuration.tools
        let server = ServerClock(clock: tools.clock)
        let session = AccountSession(
            provider: RainMakerIdentity(deployment, http: server.listening(to: http), clock: tools.clock), http: http,
            store: store, key: try CredentialKey(deployment.name, account: account), clock: tools.clock, server: server,
            logger: configuration.logger, timer: tools.timer)
        return AccountAccess(deployment, session: session, http: http, store: store, place: place)
    }

    // MARK: Other identity systems

    private func access(
        _ provider: OpenProvider, ownStore store: any CredentialStore
    ) throws(AccountError) -> AccountAccess {
        try access(provider, store: store, account: configuration.account, place: ownPlace)
    }

    private func access(
        _ provider: OpenProvider, store: any CredentialStore, account: String?, place: SessionPlace
    ) throws(AccountError) -> AccountAccess {
        let session = AccountSession(
            provider: provider.provider, http: provider.http, store: store,
            key: try CredentialKey(provider.name, account: account), clock: configuration.tools.clock,
            server: provider.server, logger: configuration.logger, timer: configuration.tools.timer)
        return AccountAccess(
            provider.provider, named: provider.name, session: session, http: provider.http,
            certificateAuthorities: configuration.certificateAuthorities, store: store, place: place)
    }
}
