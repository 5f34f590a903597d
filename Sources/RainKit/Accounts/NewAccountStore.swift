// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import Synchronization

/// The store of someone who is about to sign in: only when the session is there is it known whose it is.
///
/// Saving notes the account in the list, puts the session under its name into the store that was chosen, and removes what an earlier
/// sign-in left in another store. From then on this store is that one. Where it fails, all is as it was. A session that is not to be kept
/// stays in memory, and what is stored and listed stays as it is.
public final class NewAccountStore: CredentialStore, NewSessionStore {
    /// The kind of store that was tried; what is remembered for an account may lead to another (``account``).
    public let kind: StoreKind
    /// Why it is not the place that one would expect, for the person to read.
    public var note: String? { outlivesProcess ? storedNote : nil }
    private let storedNote: String?
    private let directory: AccountDirectory
    private let deployment: String
    private let name: String?
    /// The user name that the person gave.
    private let user: String?
    /// Whether the person named the store; then what is remembered does not count.
    private let isAsked: Bool
    /// Whether a session that proves itself with the user's password, or with cookies that are renewed with it, may be kept.
    private let savesCredentials: Bool
    /// Where the session of an earlier sign-in is, if it is known before who signs in.
    private let earlier: AccountDirectory.KeptAccount?
    private let saved = Mutex<AccountDirectory.KeptAccount?>(nil)

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

    /// Where the session is, once there is one.
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

    /// It was probed before it was made.
    public func probe(_ key: CredentialKey, within limit: Duration) async throws(AccountError) {}

    private struct Access: CredentialAccess {
        let store: NewAccountStore
        let limit: Duration

        func load() async throws(AccountError) -> SavedSession? { nil }
        func save(_ session: SavedSession) async throws(AccountError) { try await store.keep(session, within: limit) }
        func remove() async throws(AccountError) {}
    }

    /// The user name, or a name made of the user's id.
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
        // Who signs in by browser is known only now: what is remembered for that account still counts.
        let kind = isSecretOfUser && !savesCredentials ? .memory : isAsked ? kind : earlier?.store ?? kind
        let store = directory.store(kind)
        let entry = KnownAccounts.Entry(
            deployment: deployment, name: name, userName: session.userName, userID: session.userID.rawValue, store: kind
        )
        let known = directory.known
        try await store.exclusively(key, within: limit) { access async throws(AccountError) in
            guard kind != .memory else { return try await access.save(session) }
            // Noted first: where that fails, the session that is there is still there.
            var before = KnownAccounts.Content()
            try known.change { content in
                before = content
                content.add(entry)
            }
            do throws(AccountError) {
                try await access.save(session)
            } catch {
                try? known.change { $0.takeBack(entry, to: before) }
                throw error
            }
        }
        saved.withLock { $0 = AccountDirectory.KeptAccount(key: key, kind: kind, store: store) }
        if let earlier, earlier.store != kind, kind != .memory {
            // The old place may be away: then what is there is left to expire.
            try? await directory.store(earlier.store).exclusively(key, within: limit) {
                access async throws(AccountError) in
                try await access.remove()
            }
        }
    }
}

/// Where an account's session is kept. The choice is remembered for each account.
public enum StoreKind: String, Sendable, CaseIterable, Codable {
    /// The desktop's store of secrets, unlocked with the person's login.
    case secretService = "secret-service"
    /// A file that only the user can read.
    case file
    /// Nowhere: it ends with the process.
    case memory
    /// A credential that systemd hands to a service; nothing can be saved there.
    case systemd
}

/// What was asked for.
public enum StoreChoice: Sendable, Equatable {
    /// What is remembered for the account; otherwise the Secret Service where it answers, and a file where it does not.
    case automatic
    /// This one and no other; a store that cannot be used now is an error.
    case kind(StoreKind)
}
