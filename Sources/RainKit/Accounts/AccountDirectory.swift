// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import Logging
import RainAccount
import RainHTTP
import RainMaker

/// The accounts of one user on this machine, several side by side: finds an account's session, and a place for a new one.
///
/// ```swift
/// let accounts = AccountDirectory(folder: "/var/lib/gateway/rainkit", environment: [:])
/// let kept = try accounts.account(at: "global")
/// let session = try AccountSession.rainMaker(.global, http: client, store: kept.store, account: kept.key.account)
/// ```
public struct AccountDirectory: Sendable {
    /// The list of the accounts that were signed in, in `accounts.json` of the folder.
    public let known: KnownAccounts
    /// Where session files and the locks of all stores are.
    public let sessionsFolder: String
    private let environment: [String: String]
    private let logger: Logger?

    /// - Parameters:
    ///   - folder: private to the user, such as `~/.local/state/rainkit`; made when it is needed.
    ///   - environment: the process's, for the session bus and `CREDENTIALS_DIRECTORY`.
    public init(folder: String, environment: [String: String], logger: Logger? = nil) {
        known = KnownAccounts(path: "\(folder)/accounts.json")
        sessionsFolder = "\(folder)/sessions"
        self.environment = environment
        self.logger = logger
    }

    /// An account's place.
    public struct KeptAccount: Sendable {
        /// Under which provider's and account's name the store has the session.
        public var key: CredentialKey
        /// Which of the stores it is, for people and for the list of accounts.
        public var kind: StoreKind
        /// Loads and saves the session.
        public var store: any CredentialStore

        public init(key: CredentialKey, kind: StoreKind, store: any CredentialStore) {
            self.key = key
            self.kind = kind
            self.store = store
        }
    }

    /// The account of that name, or the one in use; where nobody of that name ever signed in, a place that holds no session.
    ///
    /// What systemd hands to a service comes first, as it was set up for this process. Otherwise the store is the one that the account
    /// was signed in with, whatever state that store is in now: there is no second best.
    public func account(at deployment: String, named name: String? = nil) throws(AccountError) -> KeptAccount {
        if let credentials = SystemdCredentialStore(environment: environment) {
            let key = try CredentialKey(deployment, account: name)
            if try credentials.load(key) != nil { return KeptAccount(key: key, kind: .systemd, store: credentials) }
        }
        let content = try known.load()
        guard let entry = name.map({ content.entry($0, at: deployment) }) ?? content.current(at: deployment) else {
            return KeptAccount(key: try CredentialKey(deployment, account: name), kind: .file, store: store(.file))
        }
        return KeptAccount(
            key: try CredentialKey(deployment, account: entry.name), kind: entry.store, store: store(entry.store))
    }

    /// A place for the session of someone who is about to sign in, proven to work.
    ///
    /// - Parameters:
    ///   - name: what the account shall be called; its user name if nil.
    ///   - user: who signs in, as far as that is known before.
    ///   - savesCredentials: whether to keep a session that proves itself with the user's password, or with cookies that are renewed with
    ///     it (`CredentialKind.basic`, `CredentialKind.cookie`). Without it such a session ends with the process.
    /// - Throws: `storeAbsent`, `storeLocked`, `storeNotAnswering` or `cannotStore` when the store that was asked for, or is remembered
    ///   for this account, cannot be used now.
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

    /// For another process's turn. The Secret Service has a deadline of its own.
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
                "the session is kept in a file that only you can read, in \(sessionsFolder), because \(error.message)"
            )
        }
    }

    /// A store of that kind, used or not.
    public func store(_ kind: StoreKind) -> any CredentialStore {
        switch kind {
        case .file: FileCredentialStore(folder: sessionsFolder)
        case .memory: InMemoryCredentialStore()
        case .secretService: SecretServiceStore(lockFolder: sessionsFolder, environment: environment, logger: logger)
        case .systemd: SystemdCredentialStore(directory: environment["CREDENTIALS_DIRECTORY"] ?? "")
        }
    }
}

/// One account as a client uses it: its session, and what can be done with it, whichever identity system it belongs to.
public struct AccountAccess: Sendable {
    /// Under which name its session is kept: a deployment's, or a provider's.
    public let name: String
    /// Where the service's paths begin; empty where it has no one such place.
    public let base: String
    /// The PEM file of authorities that its servers are checked against; nil for the system's.
    public let certificateAuthorities: String?
    /// Signs in and out, renews tokens, and sends requests in the user's name.
    public let session: AccountSession
    /// Where the session is kept.
    public let place: SessionPlace
    /// The place for the session of someone who signs in by ``RainKitClient/newAccount(user:in:savingCredentials:)``.
    public let newSession: NewAccountStore?
    /// What can be done with an account of RainMaker's; nil for any other.
    public let rainMaker: RainMakerAccount?
    /// The nodes of a RainMaker account; nil for any other.
    public let nodes: RainMakerCloud?
    /// The identity provider, where it is not RainMaker's own.
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
        newSession = store as? NewAccountStore
        rainMaker = RainMakerAccount(deployment, session: session, http: http)
        nodes = RainMakerCloud(deployment, session: session, http: http)
        provider = nil
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
        newSession = store as? NewAccountStore
        rainMaker = nil
        nodes = nil
        self.provider = provider
        deployment = nil
        self.http = http
    }
}

extension AccountAccess {
    /// What only an account of RainMaker's can do.
    /// - Throws: `unsupported` for any other.
    public func rainMakerAccount() throws(AccountError) -> RainMakerAccount {
        if let rainMaker { return rainMaker }
        throw AccountError(.unsupported, message: "\(provider?.title ?? name) cannot do this; RainMaker can")
    }
}

/// Where a session is kept: in what kind of store, under which account's name, and the path if it has one.
public struct SessionPlace: Sendable, Equatable {
    /// Which kind of store it is.
    public var kind: StoreKind
    /// The account's name in the store; nil where that is known only after the sign-in.
    public var account: String?
    /// The session's file; nil for a store that is no file.
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
