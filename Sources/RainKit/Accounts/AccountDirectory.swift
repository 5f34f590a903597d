// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import Logging
import RainAccount
import RainHTTP
import RainMaker

/// The accounts of one user on this machine. Finds the session of an account, and a place for a new one.
///
/// ```swift
/// let accounts = AccountDirectory(folder: "/var/lib/gateway/rainkit", environment: [:])
/// let kept = try accounts.account(at: "global")
/// let session = try AccountSession.rainMaker(.global, http: client, store: kept.store, account: kept.key.account)
/// ```
public struct AccountDirectory: Sendable {
    /// The list of the accounts that were signed in, in `accounts.json` of the folder.
    public let known: KnownAccounts
    /// The folder of session files and of the locks of all stores.
    public let sessionsFolder: String
    private let environment: [String: String]
    private let logger: Logger?
    private let inMemory: AccountsInMemory?

    /// - Parameters:
    ///   - folder: private to the user, such as `~/.local/state/rainkit`; created when it is needed.
    ///   - environment: that of the process, for the session bus and `CREDENTIALS_DIRECTORY`.
    public init(folder: String, environment: [String: String], logger: Logger? = nil) {
        self.init(folder: folder, environment: environment, logger: logger, shared: nil)
    }

    /// - Parameter shared: has the sessions in memory; nil if they end with the value that made them.
    package init(folder: String, environment: [String: String], logger: Logger?, shared: SharedAccounts?) {
        inMemory = shared?.inMemory
        known = KnownAccounts(path: "\(folder)/accounts.json", inMemory: inMemory)
        sessionsFolder = "\(folder)/sessions"
        self.environment = environment
        self.logger = logger
    }

    /// The place of an account's session.
    public struct KeptAccount: Sendable {
        /// The names of provider and account under which the store has the session.
        public var key: CredentialKey
        /// The kind of the store, for people and for the list of accounts.
        public var kind: StoreKind
        /// The store, which loads and saves the session.
        public var store: any CredentialStore
        /// Whether the account signed in on this machine, or came from systemd.
        var isListed = true

        public init(key: CredentialKey, kind: StoreKind, store: any CredentialStore) {
            self.key = key
            self.kind = kind
            self.store = store
        }
    }

    /// Returns the place of the account of that name, or of the one in use. If nobody of that name ever signed in, the place holds no
    /// session.
    ///
    /// A credential from systemd has priority, since it was set up for this process. Otherwise the store is the one that the account was
    /// signed in with, even if that store cannot be used now. No other store is tried.
    public func account(at deployment: String, named name: String? = nil) throws(AccountError) -> KeptAccount {
        if let credentials = SystemdCredentialStore(environment: environment) {
            let key = try CredentialKey(deployment, account: name)
            if try credentials.load(key) != nil { return KeptAccount(key: key, kind: .systemd, store: credentials) }
        }
        let content = try known.load()
        guard let entry = name.map({ content.entry($0, at: deployment) }) ?? content.current(at: deployment) else {
            var nobody = KeptAccount(
                key: try CredentialKey(deployment, account: name), kind: .file,
                store: FileCredentialStore(
                    folder: sessionsFolder,
                    credentials: SystemdCredentialStore(environment: environment).flatMap { _ in
                        environment["CREDENTIALS_DIRECTORY"]
                    }))
            nobody.isListed = false
            return nobody
        }
        return KeptAccount(
            key: try CredentialKey(deployment, account: entry.name), kind: entry.store, store: store(entry.store))
    }

    /// Returns a tested place for the session of a user who is about to sign in.
    ///
    /// - Parameters:
    ///   - name: the account's name; its user name if nil.
    ///   - user: the user's name, if it is known before.
    ///   - savesCredentials: whether to keep a session that uses the user's password, or cookies that are renewed with it
    ///   (`CredentialKind.basic`, `CredentialKind.cookie`). Without it such a session ends with the process.
    /// - Throws: `storeAbsent`, `storeLocked`, `storeNotAnswering` or `cannotStore` when the store that was requested, or is remembered for
    ///   this account, cannot be used now.
    public func newAccount(
        at deployment: String, named name: String? = nil, user: String? = nil, in choice: StoreChoice = .automatic,
        savingCredentials savesCredentials: Bool = false
    ) async throws(AccountError) -> NewAccountStore {
        let content = try known.load()
        let earlier = (name ?? user).flatMap { wanted in
            content.entry(wanted, at: deployment)
                ?? content.entries(at: deployment).first { name == nil && $0.userName == wanted }
        }
        let key = try CredentialKey(deployment, account: name ?? earlier?.name ?? user)
        let chosen: (kind: StoreKind, note: String?)
        switch choice {
        case .kind(let kind):
            chosen = (kind, nil)
            try await store(kind).probe(key, within: Self.probeLimit)
        case .automatic:
            if let earlier {
                chosen = (earlier.store, nil)
                try await store(earlier.store).probe(key, within: Self.probeLimit)
            } else {
                chosen = try await firstThatWorks(key)
            }
        }
        return NewAccountStore(
            directory: self, deployment: deployment, name: name ?? earlier?.name, user: user, kind: chosen.kind,
            isAsked: choice != .automatic, savesCredentials: savesCredentials,
            earlier: try earlier.map { entry throws(AccountError) in
                KeptAccount(
                    key: try CredentialKey(deployment, account: entry.name), kind: entry.store,
                    store: store(entry.store))
            }, note: chosen.note)
    }

    /// How long to wait for another process to finish. The Secret Service has its own deadline.
    private static let probeLimit = StoreLockTimes.wait

    private func firstThatWorks(_ key: CredentialKey) async throws(AccountError) -> (kind: StoreKind, note: String?) {
        do throws(AccountError) {
            try await store(.secretService).probe(key, within: Self.probeLimit)
            return (.secretService, nil)
        } catch {
            guard [.storeAbsent, .storeLocked, .storeNotAnswering].contains(error.code) else { throw error }
            try await store(.file).probe(key, within: Self.probeLimit)
            return (
                .file,
                "the session is stored in a file that only you can read (\(sessionsFolder)), because \(error.message)"
            )
        }
    }

    /// Returns a store of that kind, used or not.
    public func store(_ kind: StoreKind) -> any CredentialStore {
        switch kind {
        case .file: FileCredentialStore(folder: sessionsFolder)
        case .memory: inMemory?.store ?? InMemoryCredentialStore()
        case .secretService: SecretServiceStore(lockFolder: sessionsFolder, environment: environment, logger: logger)
        case .systemd: SystemdCredentialStore(directory: environment["CREDENTIALS_DIRECTORY"] ?? "")
        }
    }
}

/// One account as a client uses it: its session and its operations, for any identity system.
public struct AccountAccess: Sendable {
    /// The name under which its session is kept: a deployment's or a provider's.
    public let name: String
    /// The base address of the service's paths; empty if they have no common base.
    public let base: String
    /// The PEM file of authorities for checking its servers; nil for the system's.
    public let certificateAuthorities: String?
    /// The session: signs in and out, renews tokens, and sends requests as the user.
    public let session: AccountSession
    /// The place of the session.
    public let place: SessionPlace
    /// The place for the session of a user who signs in by ``RainKitClient/newAccount(user:in:savingCredentials:)``.
    public let newSession: NewAccountStore?
    /// The operations of a RainMaker account; nil for any other.
    public let rainMaker: RainMakerAccount?
    /// The nodes of a RainMaker or RainMaker Neo account; nil for any other.
    public let nodes: (any NodeCloud)?
    /// The identity provider, if it is not RainMaker's own.
    public let provider: ConfiguredProvider?
    let deployment: Deployment?
    let http: any HTTPClient

    init(
        _ deployment: Deployment, session: AccountSession, http: any HTTPClient, store: any CredentialStore,
        place: SessionPlace
    ) {
        name = deployment.name
        base = deployment.base.text
        certificateAuthorities = deployment.certificateAuthorities
        self.session = session
        self.place = place
        newSession = NewAccountStore.of(store)
        rainMaker = RainMakerAccount(deployment, session: session, http: http)
        nodes = RainMakerCloud(deployment, session: session, http: http)
        provider = nil
        self.deployment = deployment
        self.http = http
    }

    /// An account of RainMaker Neo: its sessions are those of the provider `neo`.
    init(
        _ deployment: Deployment, _ provider: ConfiguredProvider, nodes: NeoCloud, session: AccountSession,
        http: any HTTPClient, store: any CredentialStore, place: SessionPlace
    ) {
        name = deployment.name
        base = deployment.base.text
        certificateAuthorities = deployment.certificateAuthorities
        self.session = session
        self.place = place
        newSession = NewAccountStore.of(store)
        rainMaker = nil
        self.nodes = nodes
        self.provider = provider
        self.deployment = deployment
        self.http = http
    }

    init(
        _ provider: ConfiguredProvider, named name: String, session: AccountSession, http: any HTTPClient,
        certificateAuthorities: String?, store: any CredentialStore, place: SessionPlace
    ) {
        self.name = name
        base = provider.resources.first?.text ?? ""
        self.certificateAuthorities = certificateAuthorities
        self.session = session
        self.place = place
        newSession = NewAccountStore.of(store)
        rainMaker = nil
        nodes = nil
        self.provider = provider
        deployment = nil
        self.http = http
    }
}

extension AccountAccess {
    /// Returns the operations that only a RainMaker account has.
    ///
    /// - Parameter subject: what the caller wants, for the message: such as `sign-in with one-time codes`.
    /// - Throws: `unsupported` for any other.
    public func rainMakerAccount(
        for subject: String = "this account operation"
    ) throws(AccountError) -> RainMakerAccount {
        if let rainMaker { return rainMaker }
        throw AccountError(
            .unsupported, message: "RainKit supports \(subject) at RainMaker, but not at \(provider?.title ?? name)")
    }
}

/// The place of a session: the kind of store, the account's name, and the path if it has one.
public struct SessionPlace: Sendable, Equatable {
    /// The kind of store.
    public var kind: StoreKind
    /// The account's name in the store; nil if it is known only after the sign-in.
    public var account: String?
    /// The session's file; nil if the store is not a file.
    public var path: String?

    public init(kind: StoreKind, account: String? = nil, path: String? = nil) {
        self.kind = kind
        self.account = account
        self.path = path
    }

    init(_ kept: AccountDirectory.KeptAccount) {
        self.init(
            kind: kept.kind, account: kept.key.account, path: (kept.store as? FileCredentialStore)?.path(of: kept.key))
    }
}
