// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainMaker
import RainPrivateFiles

/// The list of accounts that were signed in on this machine: where each session is kept, and which account is in use at each deployment. It
/// contains no secret.
public struct KnownAccounts: Sendable {
    /// An account that was signed in, and the store that its session is in.
    public struct Entry: Sendable, Equatable {
        /// The name of the deployment, or of the provider.
        public var deployment: String
        /// The account's local name: its user name, unless another name was given.
        public var name: String
        /// The name that the user signs in with: an e-mail address or a telephone number at RainMaker.
        public var userName: String
        /// The id that the identity system gave the user.
        public var userID: String
        /// The store that has the session. The next command looks there.
        public var store: StoreKind

        public init(deployment: String, name: String, userName: String, userID: String, store: StoreKind) {
            self.deployment = deployment
            self.name = name
            self.userName = userName
            self.userID = userID
            self.store = store
        }
    }

    /// The content of the file.
    public struct Content: Sendable, Equatable {
        /// The accounts, in the order of their last sign-in.
        public internal(set) var entries: [Entry] = []
        /// The account in use, by deployment.
        var chosen: [String: Choice] = [:]

        /// The account in use at a deployment.
        struct Choice: Sendable, Equatable {
            var name: String
            /// Whether the user chose it (``use(_:at:)``). Otherwise it is the one that signed in last.
            var isExplicit = false
        }

        public init() {}

        /// Returns the accounts at a deployment or provider, in the order of their last sign-in.
        public func entries(at deployment: String) -> [Entry] { entries.filter { $0.deployment == deployment } }

        /// Returns the account of that name at a deployment or provider; nil if there is none.
        public func entry(_ name: String, at deployment: String) -> Entry? {
            entries.first { $0.deployment == deployment && $0.name == name }
        }

        /// Returns the account to use if none is named: the chosen one, or else the last that signed in.
        public func current(at deployment: String) -> Entry? {
            chosen[deployment].flatMap { entry($0.name, at: deployment) } ?? entries(at: deployment).last
        }

        /// Adds a signed-in account. It is the one in use from now on, unless the user has chosen another one (``use(_:at:)``).
        public mutating func add(_ entry: Entry) {
            entries.removeAll { $0.deployment == entry.deployment && $0.name == entry.name }
            entries.append(entry)
            let choice = chosen[entry.deployment]
            if let choice, choice.isExplicit, self.entry(choice.name, at: entry.deployment) != nil { return }
            chosen[entry.deployment] = Choice(name: entry.name)
        }

        /// Undoes ``add(_:)``, unless somebody has changed that account since.
        mutating func takeBack(_ entry: Entry, to before: Content) {
            guard let index = entries.firstIndex(of: entry) else { return }
            entries.remove(at: index)
            if let old = before.entries.firstIndex(where: { $0.deployment == entry.deployment && $0.name == entry.name }
            ) {
                entries.insert(before.entries[old], at: min(old, entries.count))
            }
            if chosen[entry.deployment]?.name == entry.name {
                chosen[entry.deployment] = before.chosen[entry.deployment]
            }
        }

        /// Makes an account the one in use. Throws `notSignedIn` for an account that never signed in here.
        public mutating func use(_ name: String, at deployment: String) throws(AccountError) {
            guard entry(name, at: deployment) != nil else { throw Self.unknown(name, at: deployment) }
            chosen[deployment] = Choice(name: name, isExplicit: true)
        }

        /// Removes an account from the list, and out of use; an absent one is not an error. Its session stays in its store.
        public mutating func remove(_ name: String, at deployment: String) {
            entries.removeAll { $0.deployment == deployment && $0.name == name }
            if chosen[deployment]?.name == name { chosen[deployment] = nil }
        }

        static func unknown(_ name: String, at deployment: String) -> AccountError {
            AccountError(
                .notSignedIn, message: "there is no account \"\(name)\" at \(deployment)",
                remedies: [.knownAccount]
            ).about(name)
        }
    }

    private let document: PrivateDocument<Stored>
    private let inMemory: AccountsInMemory?
    /// The list's JSON file; absent until somebody signs in.
    public var path: String { document.path }

    public init(path: String) { self.init(path: path, inMemory: nil) }

    /// - Parameter inMemory: the accounts that only this process has.
    init(path: String, inMemory: AccountsInMemory?) {
        document = PrivateDocument(path: path)
        self.inMemory = inMemory
    }

    /// Returns the content. Throws `storeUnreadable` for a file that cannot be read.
    public func load() throws(AccountError) -> Content {
        let content = try contentOnDisk()
        return inMemory?.added(to: content) ?? content
    }

    private func contentOnDisk() throws(AccountError) -> Content {
        try document.load(orThrow: failure)?.content ?? Content()
    }

    /// Makes an account the one in use, on disk or in memory. Throws `notSignedIn` for an account that never signed in here.
    package func use(_ name: String, at deployment: String) throws(AccountError) {
        if let inMemory, inMemory.use(name, at: deployment, besides: try contentOnDisk()) { return }
        try change { content throws(AccountError) in try content.use(name, at: deployment) }
    }

    /// Adds an account whose session is in memory, if the clients of this process share such sessions. Then it is in use from now on.
    /// - Returns: the account that was in use before; nil if nothing was added.
    func addInMemory(_ entry: Entry) throws(AccountError) -> Entry? {
        guard let inMemory else { return nil }
        let content = try contentOnDisk()
        let before = inMemory.added(to: content).current(at: entry.deployment)
        inMemory.add(entry, besides: content)
        return before
    }

    /// Records that an account has signed in whose session is not in memory.
    func hasSignedIn(_ entry: Entry) { inMemory?.hasSignedIn(entry) }

    /// Removes an account that has signed out from its list.
    func remove(_ name: String, at deployment: String, keptIn kind: StoreKind) throws(AccountError) {
        if kind == .memory {
            inMemory?.remove(name, at: deployment)
        } else {
            try change { $0.remove(name, at: deployment) }
        }
    }

    /// Changes the list on disk while no other process can.
    public func change(_ body: (inout Content) throws(AccountError) -> Void) throws(AccountError) {
        try document.change(orThrow: failure) { stored throws(AccountError) in
            var content = stored?.content ?? Content()
            try body(&content)
            stored = Stored(content)
        }
    }

    private func failure(_ error: PrivateDocumentError) -> AccountError {
        switch error.code {
        case .unwritable: AccountError(.cannotStore, message: "\(error)")
        case .unreadable:
            AccountError(
                .storeUnreadable, message: error.sentence("the list of accounts", afterMoving: "sign in again"))
        }
    }
}

/// The file's JSON.
private struct Stored: Codable {
    struct Entry: Codable {
        var deployment: String
        var name: String
        var user_name: String
        var user_id: String
        var store: String
    }
    struct Chosen: Codable {
        var deployment: String
        var name: String
        /// Absent for an account that is in use because it signed in last.
        var explicit: Bool?
    }

    var schemaVersion = 1
    var current: [Chosen]
    var accounts: [Entry]

    init(_ content: KnownAccounts.Content) {
        current = content.chosen.sorted { $0.key < $1.key }.map {
            Chosen(deployment: $0.key, name: $0.value.name, explicit: $0.value.isExplicit ? true : nil)
        }
        accounts = content.entries.map {
            Entry(
                deployment: $0.deployment, name: $0.name, user_name: $0.userName, user_id: $0.userID,
                store: $0.store.rawValue)
        }
    }

    /// The content, without entries of a later version that this one does not know.
    var content: KnownAccounts.Content {
        var content = KnownAccounts.Content()
        for account in accounts {
            guard let store = StoreKind(rawValue: account.store) else { continue }
            content.add(
                KnownAccounts.Entry(
                    deployment: account.deployment, name: account.name, userName: account.user_name,
                    userID: account.user_id, store: store))
        }
        content.chosen = [:]
        for chosen in current {
            content.chosen[chosen.deployment] = .init(name: chosen.name, isExplicit: chosen.explicit ?? false)
        }
        return content
    }
}

/// Names of accounts that a server or a file supplies. They reappear in lists, completions and printed commands.
enum AccountName {
    /// Characters with a special meaning for shells (POSIX, "Quoting"). Some may be in an e-mail address (RFC 5322, 3.2.3): the user can
    /// still give such a name, or another one.
    private static let metacharacters = Set("`$\\\"';&|<>(){}[]*?!#~^".unicodeScalars)

    static func isSafe(_ name: String) -> Bool {
        ShownText.plain(name) == name && name.first != "-" && name.first != "="
            && !name.unicodeScalars.contains(where: metacharacters.contains)
    }

    /// Checks a name from a server or a file.
    /// - Throws: an error with that code if the name has characters with a special meaning for a shell or a terminal.
    static func check(_ name: String, from source: String, _ code: AccountError.Code) throws(AccountError) {
        guard !isSafe(name) else { return }
        throw AccountError(
            code,
            message:
                "the user name \"\(presentable(name))\" from \(source) has characters that a shell or a terminal would interpret, so the "
                + "name was not stored",
            remedies: [.accountName])
    }

    /// Makes a name from the id that a provider gave the user, such as `auth0|5f7c8e`.
    static func made(from id: String) -> String {
        var name = String.UnicodeScalarView()
        for scalar in ShownText.plain(id).unicodeScalars {
            name.append(metacharacters.contains(scalar) || scalar == " " ? "-" : scalar)
        }
        return name.first == "-" || name.first == "=" ? "user\(String(name))" : String(name)
    }
}
