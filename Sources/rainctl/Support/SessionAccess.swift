import Logging
import RainKit
import RainCore

/// A session, whoever its provider is.
struct SessionAccess: Sendable {
    /// Under which name sessions are kept: a deployment's, or a provider's.
    let name: String
    /// Where paths of requests begin; empty where the provider has no one such place.
    let base: String
    let certificateAuthorities: String?
    let session: AccountSession
    let store: StorePlace
    let newSession: NewAccountStore?
    /// nil for RainMaker's cloud, which has commands of its own.
    let provider: ConfiguredProvider?
    let rainMaker: RainMakerAccount?
}

extension AccountAccess {
    var asSession: SessionAccess {
        SessionAccess(
            name: deployment.name, base: deployment.base.text,
            certificateAuthorities: deployment.certificateAuthorities, session: session, store: store,
            newSession: newSession, provider: nil, rainMaker: user)
    }
}

extension Context {
    /// The session of the provider that is named, or of the RainMaker deployment in use.
    func session(_ options: ProviderOption) throws -> SessionAccess {
        guard let name = provider(options) else { return try account().asSession }
        let (provider, server, http) = try rememberedProvider(name)
        let kept = try accounts.account(at: name, named: accountName)
        return try access(provider, name, server, http, store: kept.store, account: kept.key.account, StorePlace(kept))
    }

    /// The provider with the settings of its last sign-in; without one those that are missing are not what stands in the way.
    private func rememberedProvider(_ name: String) throws -> (ConfiguredProvider, ServerClock, any HTTPClient) {
        if let remembered = try rememberedProviders.load()[name] { return try provider(remembered) }
        do {
            return try provider(RememberedProviders.Settings(provider: name))
        } catch let error as AccountError where error.code == .missingParameter {
            throw AccountError(
                .notSignedIn, message: "nobody is signed in to \(name) here; sign in first, with --provider \(name)")
        }
    }

    /// For someone who signs in to a provider.
    func newSession(
        _ settings: RememberedProviders.Settings, as name: String, user: String?, secret: Secret?,
        challenges: (any ChallengeResolver)? = nil, store options: StoreOptions
    ) async throws -> SessionAccess {
        let (provider, server, http) = try provider(settings, secret: secret, challenges: challenges)
        let store = try await accounts.newAccount(at: name, named: accountName, user: user, in: options.choice(self))
        if let note = store.note { output.say("note: \(note.asSentence)") }
        let kept = AccountDirectory.KeptAccount(
            key: try CredentialKey(name, account: accountName ?? user), kind: store.kind, store: store)
        return try access(provider, name, server, http, store: store, account: nil, StorePlace(kept))
    }

    /// The flag, then the environment; nil for RainMaker.
    func provider(_ options: ProviderOption) -> String? { provider(named: options.provider) }

    func provider(named given: String?) -> String? {
        guard let name = given ?? variable("RAINKIT_PROVIDER"), name != "rainmaker" else { return nil }
        return name
    }

    var providerFolder: ProviderFolder { ProviderFolder(path: "\(folders.configuration)/providers") }
    var rememberedProviders: RememberedProviders { RememberedProviders(path: "\(folders.state)/providers.json") }

    /// Takes a signed-out account off the list.
    func forget(_ session: SessionAccess) throws(AccountError) {
        guard let account = session.store.account else { return }
        try accounts.known.change { $0.remove(account, at: session.name) }
    }

    private func provider(
        _ settings: RememberedProviders.Settings, secret given: Secret? = nil,
        challenges: (any ChallengeResolver)? = nil
    ) throws -> (ConfiguredProvider, ServerClock, any HTTPClient) {
        let entry = try providerFolder.entry(settings.provider)
        let client = entry.definition.client
        let secret =
            try given ?? clientSecret(file: settings.clientSecretFile ?? client?.secretFile, client?.secretEnvironment)
        var secrets: [String: Secret] = [:]
        for (name, file) in settings.secretFiles ?? [:] {
            secrets[name] = try SecretSource.contents(of: file, name: name)
        }
        let server = ServerClock()
        let http = CurlHTTPClient(
            CurlConfiguration(certificateAuthorities: options.caFile ?? variable("RAINKIT_CA_FILE")))
        let tools = ProviderTools(
            http: server.listening(to: http), hashes: OpenSSLHashes.self, challenges: challenges
        ) { SystemRandom.bytes($0) }
        let provider = try ConfiguredProvider(
            definition: entry.definition,
            settings: ProviderSettings(
                environment: settings.environment, base: settings.base, clientID: settings.clientID,
                clientSecret: secret,
                scope: settings.scope, mode: settings.mode, parameters: settings.parameters ?? [:],
                secrets: secrets),
            tools: tools, extension: entry.hooks)
        return (provider, server, http)
    }

    /// A file first, then the variable that the profile names, then ours.
    private func clientSecret(file: String?, _ variableName: String?) throws(CommandFailure) -> Secret? {
        if let file { return try SecretSource.contents(of: file, name: "client secret") }
        return variableName.flatMap(variable).map { Secret($0) } ?? self.secret(.clientSecret)
    }

    private func access(
        _ provider: ConfiguredProvider, _ name: String, _ server: ServerClock, _ http: any HTTPClient,
        store: any CredentialStore, account: String?, _ place: StorePlace
    ) throws(AccountError) -> SessionAccess {
        let session = AccountSession(
            provider: provider, http: http, store: store, key: try CredentialKey(name, account: account),
            server: server,
            logger: logger)
        return SessionAccess(
            name: name, base: provider.resources.first?.text ?? "",
            certificateAuthorities: options.caFile ?? variable("RAINKIT_CA_FILE"), session: session, store: place,
            newSession: store as? NewAccountStore, provider: provider, rainMaker: nil)
    }
}
