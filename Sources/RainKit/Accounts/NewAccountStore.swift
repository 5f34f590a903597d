// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import Synchronization

/// The store for the session of a user who is about to sign in. The session's user is known only once the session exists.
///
/// Saving adds the account to the list, saves the session under its name in the chosen store, and removes the session of an earlier sign-in
/// from another store. After that this value acts as that store. If saving fails, nothing is changed. A session that is not to be kept
/// stays in memory, and stored sessions and the list stay as they are.
public final class NewAccountStore: CredentialStore, NewSessionStore {
    /// The kind of store that was tested. The store remembered for an account may be another one (``account``).
    public let kind: StoreKind
    /// Why it is not the expected place, as a text for the user.
    public var note: String? { outlivesProcess ? storedNote : nil }
    private let storedNote: String?
    private let directory: AccountDirectory
    private let deployment: String
    private let name: String?
    /// The user name that the user gave.
    private let user: String?
    /// Whether the user named the store. Then the remembered store is not used.
    private let isAsked: Bool
    /// Whether to keep a session that uses the user's password, or cookies that are renewed with it.
    private let savesCredentials: Bool
    /// The place of an earlier sign-in's session, if the user is known before.
    private let earlier: AccountDirectory.KeptAccount?
    private let saved = Mutex<AccountDirectory.KeptAccount?>(nil)
    private let others = Mutex<OtherAccount?>(nil)

    /// Another account of the deployment, and whether calls without a named account use it.
    public struct OtherAccount: Sendable, Equatable {
        /// The account that was in use before this sign-in.
        public var name: String
        /// Whether it still is, because the user has chosen it. Otherwise the new account is in use.
        public var isStillInUse: Bool
    }

    /// The other account that was in use before this sign-in; nil if none was, and before the session is saved.
    public var otherAccount: OtherAccount? { others.withLock { $0 } }

    init(
        directory: AccountDirectory, deployment: String, name: String?, user: String?, kind: StoreKind, isAsked: Bool,
        savesCredentials: Bool, earlier: AccountDirectory.KeptAccount?, note: String?
    ) {
        self.directory = directory
        self.deployment = deployment
        self.name = name
        self.user = user
        self.kind = kind
        self.isAsked = isAsked
        self.savesCredentials = savesCredentials
        self.earlier = earlier
        storedNote = note
    }

    /// Returns the store if it is of this type, and nil otherwise.
    ///
    /// It compares the types first. When a cast to a class fails, Swift looks for a box of Foundation's in the object, and a short command
    /// spends a twentieth of its instructions on preparing that.
    static func of(_ store: any CredentialStore) -> NewAccountStore? {
        type(of: store) == NewAccountStore.self ? store as? NewAccountStore : nil
    }

    /// The place of the session, once there is one.
    public var account: AccountDirectory.KeptAccount? { saved.withLock { $0 } }

    /// False for a session that is kept in memory.
    public var outlivesProcess: Bool { (account?.kind ?? kind) != .memory }

    public func load(_ key: CredentialKey) async throws(AccountError) -> SavedSession? {
        guard let account else { return nil }
        return try await account.store.load(account.key)
    }

    package func earlierSession() async throws(AccountError) -> SavedSession? {
        guard let earlier else { return nil }
        return try await earlier.store.load(earlier.key)
    }

    public func exclusively<Result: Sendable>(
        _ key: CredentialKey, within limit: Duration,
        _ body: @Sendable (any CredentialAccess) async throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        guard let account else { return try await body(Access(store: self, limit: limit)) }
        return try await account.store.exclusively(account.key, within: limit, body)
    }

    /// Does nothing: the store was tested before this value was made.
    public func probe(_ key: CredentialKey, within limit: Duration) async throws(AccountError) {}

    private struct Access: CredentialAccess {
        let store: NewAccountStore
        let limit: Duration

        func load() async throws(AccountError) -> SavedSession? { nil }
        func save(_ session: SavedSession) async throws(AccountError) { try await store.keep(session, within: limit) }
        func remove() async throws(AccountError) {}
    }

    /// Returns the user name, or a name made of the user's id.
    private func usualName(_ session: SavedSession) throws(AccountError) -> String {
        let name = session.userName
        if name.isEmpty || name == session.userID.rawValue { return AccountName.made(from: session.userID.rawValue) }
        if name != user { try AccountName.check(name, from: "the server", .untrustedAnswer) }
        return name
    }

    private func keep(_ session: SavedSession, within limit: Duration) async throws(AccountError) {
        let name = if let name { name } else { try usualName(session) }
        let key = try CredentialKey(deployment, account: name)
        let earlier = try directory.known.load().entry(name, at: deployment)
        let isSecretOfUser = session.tokens.holdPassword
        // A user who signs in by browser is known only now. The store remembered for that account is still used.
        let kind = isSecretOfUser && !savesCredentials ? .memory : isAsked ? kind : earlier?.store ?? kind
        let store = directory.store(kind)
        let entry = KnownAccounts.Entry(
            deployment: deployment, name: name, userName: session.userName, userID: session.userID.rawValue, store: kind
        )
        let known = directory.known
        try await store.exclusively(key, within: limit) { access async throws(AccountError) in
            guard kind != .memory else {
                try await access.save(session)
                if let other = try known.addInMemory(entry)?.name, other != name {
                    others.withLock { $0 = OtherAccount(name: other, isStillInUse: false) }
                }
                return
            }
            // The list is changed first: if that fails, the stored session is still there.
            var before = KnownAccounts.Content()
            var current: String?
            try known.change { content in
                before = content
                content.add(entry)
                current = content.current(at: deployment)?.name
            }
            if let other = before.current(at: deployment)?.name, other != name {
                others.withLock { $0 = OtherAccount(name: other, isStillInUse: current == other) }
            }
            do throws(AccountError) {
                try await access.save(session)
            } catch {
                try? known.change { $0.takeBack(entry, to: before) }
                throw error
            }
        }
        saved.withLock { $0 = AccountDirectory.KeptAccount(key: key, kind: kind, store: store) }
        if kind != .memory { known.hasSignedIn(entry) }
        if let earlier, earlier.store != kind, kind != .memory {
            // The old store may be unavailable. Then its session stays until it expires.
            try? await directory.store(earlier.store).exclusively(key, within: limit) {
                access async throws(AccountError) in
                try await access.remove()
            }
        }
    }
}

/// Where an account's session is kept. The choice is remembered for each account.
public enum StoreKind: String, Sendable, CaseIterable, Codable {
    /// The desktop's secret store, unlocked with the user's login.
    case secretService = "secret-service"
    /// A file that only the user can read.
    case file
    /// Memory: the session ends with the process.
    case memory
    /// A credential that systemd hands to a service; nothing can be saved there.
    case systemd
}

/// The requested store.
public enum StoreChoice: Sendable, Equatable {
    /// The store remembered for the account. Otherwise the Secret Service if it answers, and a file if it does not.
    case automatic
    /// This kind and no other. A store that cannot be used now is an error.
    case kind(StoreKind)
}
