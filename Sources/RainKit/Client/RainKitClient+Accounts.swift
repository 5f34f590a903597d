// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainMaker

/// Finds an account's session: its identity system, and the store that has the session.
extension RainKitClient {
    /// Returns the account that the configuration names, or the one in use, and whether somebody has signed in to it.
    func storedAccount() throws(AccountError) -> (account: AccountAccess, isListed: Bool) {
        guard let selection = configuration.provider else {
            let deployment = configuration.deployment
            if let store = configuration.sessions {
                let account = try access(deployment, ownStore: store)
                return (account, true)
            }
            let kept = try accounts.account(at: deployment.name, named: configuration.account)
            let account = try shared(.rainMaker(trusting(deployment)), kept) { () throws(AccountError) in
                try access(deployment, store: kept.store, account: kept.key.account, place: SessionPlace(kept))
            }
            return (account, kept.isListed)
        }
        let provider = try configuredProvider(selection)
        if let store = configuration.sessions {
            let account = try access(provider, ownStore: store)
            return (account, true)
        }
        let kept = try accounts.account(at: provider.name, named: configuration.account)
        // Challenges are answered for one client only.
        let service: SharedAccounts.Service? =
            selection.challenges == nil
            ? .provider(
                provider.name, provider.provider.definition, provider.provider.settings,
                certificateAuthorities: configuration.certificateAuthorities) : nil
        let account = try shared(service, kept) { () throws(AccountError) in
            try access(provider, store: kept.store, account: kept.key.account, place: SessionPlace(kept))
        }
        return (account, kept.isListed)
    }

    /// Returns the account that an earlier client has made, if clients share accounts; otherwise makes it.
    private func shared(
        _ service: SharedAccounts.Service?, _ kept: AccountDirectory.KeptAccount,
        _ make: () throws(AccountError) -> AccountAccess
    ) throws(AccountError) -> AccountAccess {
        guard let service, let accounts = configuration.sharedAccounts else { return try make() }
        return try accounts.account(at: service, kept, orMake: make)
    }

    /// Returns an account for a user who is about to sign in. It first tests that the store for the session works. The client uses the
    /// account once ``signIn(with:to:)`` has succeeded.
    ///
    /// - Parameters:
    ///   - user: the user's name, if it is known before.
    ///   - choice: the store to keep the session in.
    ///   - savesCredentials: whether to keep a session that holds the user's password, or cookies that are renewed with it. A store of the
    ///   program's own (``RainKitConfiguration/sessions``) keeps every session.
    /// - Throws: `storeAbsent`, `storeLocked`, `storeNotAnswering` or `cannotStore` when the store cannot be used now.
    public func newAccount(
        user: String? = nil, in choice: StoreChoice = .automatic, savingCredentials savesCredentials: Bool = false
    ) async throws -> AccountAccess {
        try await RainKitError.rethrowing { () async throws(AccountError) in
            try await accountToSignInTo(user: user, in: choice, savingCredentials: savesCredentials)
        }
    }

    private func accountToSignInTo(
        user: String?, in choice: StoreChoice, savingCredentials savesCredentials: Bool
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
        let deployment = trusting(deployment)
        if let neo = deployment.neo { return try access(deployment, neo, store: store, account: account, place: place) }
        let http = configuration.tools.http(deployment.certificateAuthorities)
        let tools = configuration.tools
        let server = ServerClock(clock: tools.clock)
        let session = AccountSession(
            provider: RainMakerIdentity(deployment, http: server.listening(to: http), clock: tools.clock), http: http,
            store: store, key: try CredentialKey(deployment.name, account: account), clock: tools.clock, server: server,
            logger: configuration.logger, timer: tools.timer)
        return AccountAccess(deployment, session: session, http: http, store: store, place: place)
    }

    /// Returns an account of RainMaker Neo. Its users sign in at the deployment's API for accounts, and its nodes have another cloud.
    private func access(
        _ deployment: Deployment, _ neo: NeoServices, store: any CredentialStore, account: String?, place: SessionPlace
    ) throws(AccountError) -> AccountAccess {
        let tools = configuration.tools
        let server = ServerClock(clock: tools.clock)
        let http = tools.http(deployment.certificateAuthorities)
        let provider = try ProviderRegistry.builtIn.provider(
            "neo",
            settings: ProviderSettings(
                base: neo.accounts.text, clientID: deployment.clientID ?? NeoOutputs.usualClientID),
            tools: tools.providerTools(http: server.listening(to: http)))
        let session = AccountSession(
            provider: provider, http: http, store: store, key: try CredentialKey(deployment.name, account: account),
            clock: tools.clock, server: server, logger: configuration.logger, timer: tools.timer)
        let nodes = NeoCloud(
            deployment.base, neo, session: session, http: http, tools: liveTools(deployment.certificateAuthorities))
        return AccountAccess(
            deployment, provider, nodes: nodes, session: session, http: http, store: store, place: place)
    }

    /// Returns the deployment with the authorities that this client trusts.
    private func trusting(_ deployment: Deployment) -> Deployment {
        var deployment = deployment
        deployment.certificateAuthorities = configuration.certificateAuthorities ?? deployment.certificateAuthorities
        return deployment
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

/// A provider with its settings, ready for a session.
struct OpenProvider {
    /// The name under which its sessions are kept.
    var name: String
    var provider: ConfiguredProvider
    var server: ServerClock
    var http: any HTTPClient
}

extension RainKitClient {
    /// The definitions of identity providers: the built-in ones and the user's own.
    public var providerDefinitions: ProviderFolder { ProviderFolder(path: configuration.definitions) }

    /// The settings of each provider's last sign-in from this folder.
    public var rememberedProviders: RememberedProviders {
        RememberedProviders(state: configuration.state)
    }

    /// Remembers the settings of a sign-in for the next clients: on disk, or in memory like the session. A client that shares no sessions in
    /// memory forgets them.
    package func remember(
        _ settings: RememberedProviders.Settings, as name: String, for session: NewAccountStore?
    ) throws(AccountError) {
        if session?.outlivesProcess == true { return try rememberedProviders.remember(settings, as: name) }
        configuration.sharedAccounts?.inMemory.remember(settings, as: name)
    }

    func configuredProvider(_ selection: ProviderSelection) throws(AccountError) -> OpenProvider {
        if let settings = selection.settings {
            let entry = try providerDefinitions.entry(selection.name)
            return try configuredProvider(
                entry, settings, named: entry.definition.name(in: settings.environment), selection.challenges)
        }
        var remembered = configuration.sharedAccounts?.inMemory.settings(of: selection.name)
        if remembered == nil { remembered = try rememberedProviders.load()[selection.name] }
        do throws(AccountError) {
            let settings = remembered ?? RememberedProviders.Settings(provider: selection.name)
            let entry = try providerDefinitions.entry(settings.provider)
            let found = try configuredProvider(
                entry, try settings.withSecrets(for: entry.definition, environment: configuration.environment),
                named: selection.name, selection.challenges)
            // A provider without an address has no services.
            guard remembered != nil || found.provider["base"] != nil || entry.definition.resources != nil else {
                throw AccountError(
                    .missingParameter, message: "\(selection.name) cannot be used without its server's address")
            }
            return found
        } catch {
            // For a user who never signed in, the cause is not the missing settings.
            guard remembered == nil, error.code == .missingParameter else { throw error }
            throw AccountError(
                .notSignedIn,
                message: "nobody is signed in to \(title(of: selection)); sign in to that provider first")
        }
    }

    /// The provider's name as its owners write it.
    func title(of selection: ProviderSelection) -> String {
        (try? providerDefinitions.entry(selection.name).definition.displayName) ?? selection.name
    }

    private func configuredProvider(
        _ entry: ProviderRegistry.Entry, _ settings: ProviderSettings, named name: String,
        _ challenges: (any ChallengeResolver)?
    ) throws(AccountError) -> OpenProvider {
        let tools = configuration.tools
        let server = ServerClock(clock: tools.clock)
        let http = tools.http(configuration.certificateAuthorities)
        let provider = try ConfiguredProvider(
            definition: entry.definition, settings: settings,
            tools: tools.providerTools(http: server.listening(to: http), challenges: challenges),
            extension: entry.hooks)
        return OpenProvider(name: name, provider: provider, server: server, http: http)
    }
}

extension ProviderDefinition {
    /// The name of its settings and sessions for that environment.
    public func name(in environment: String?) -> String {
        guard let environment, environment != defaultEnvironment else { return id }
        return "\(id)-\(environment)"
    }
}
