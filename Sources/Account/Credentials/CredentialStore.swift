// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization
import RainCore

/// Keeps sessions after the process has ended.
///
/// A store keeps one session for each key. Every change is made inside ``exclusively(_:within:_:)``, so that two processes never renew the
/// same tokens at once. The second process finds the new tokens of the first one instead of overwriting them.
///
/// Implementations throw `cannotStore`, `storeUnreadable`, `storeReadOnly`, and `timeout` if the lock is not free in time. Those that ask a
/// service throw `storeAbsent`, `storeLocked` and `storeNotAnswering` too. `CredentialStoreConformance` in RainKitTesting tests this
/// contract.
public protocol CredentialStore: Sendable {
    /// Whether saved sessions outlive this process. True by default. If it is false, ``AccountEvent/saved(_:)`` is not sent.
    var outlivesProcess: Bool { get }

    /// Returns the stored session, or nil if there is none. Never returns a part of a session, even while another process saves one.
    func load(_ key: CredentialKey) async throws(AccountError) -> SavedSession?

    /// Runs `body` while no other caller, in this process or another, runs its own for the same key.
    func exclusively<Result: Sendable>(
        _ key: CredentialKey, within limit: Duration,
        _ body: @Sendable (any CredentialAccess) async throws(AccountError) -> Result
    ) async throws(AccountError) -> Result

    /// Checks that a session could be saved, before the user is asked for a password. The stored session does not change.
    func probe(_ key: CredentialKey, within limit: Duration) async throws(AccountError)
}

extension CredentialStore {
    public var outlivesProcess: Bool { true }

    /// The default for stores that can only take the lock.
    public func probe(_ key: CredentialKey, within limit: Duration) async throws(AccountError) {
        try await exclusively(key, within: limit) { _ throws(AccountError) in }
    }
}

/// A store for a new sign-in. It has no session yet, but may know where an earlier sign-in of the same user stored one.
package protocol NewSessionStore: CredentialStore {
    /// Returns the session of the earlier sign-in; nil if none is known.
    func earlierSession() async throws(AccountError) -> SavedSession?
}

/// The right to change one stored session, valid only inside ``CredentialStore/exclusively(_:within:_:)``.
public protocol CredentialAccess: Sendable {
    /// Returns the stored session, whichever process saved it; nil if there is none.
    func load() async throws(AccountError) -> SavedSession?
    /// Checks that a session could be saved now, before a provider is asked for one that it issues only once.
    func probe() async throws(AccountError)
    /// Saves a session. When this returns, the session survives a crash. If it throws, the earlier session is still stored.
    func save(_ session: SavedSession) async throws(AccountError)
    /// Removes the stored session. It is not an error if there is none.
    func remove() async throws(AccountError)
}

extension CredentialAccess {
    /// The default for stores that cannot check.
    public func probe() async throws(AccountError) {}
}

/// The name of a stored session: its deployment and its account.
public struct CredentialKey: Sendable, Hashable, CustomStringConvertible {
    /// The deployment or profile that the session is for: up to 64 letters, digits, `-`, `_` and `.`.
    public let deployment: String
    /// The account's local name, usually the user name; nil if the program has only one session.
    public let account: String?

    /// The text for messages.
    public var description: String { account.map { "\($0) at \(deployment)" } ?? deployment }

    /// A name for files and items, different for each key: letters, digits, and `-_.@+%`.
    ///
    /// It is the deployment, then `+` and the account. In the account, all other characters are escaped as in a URL (RFC 3986, 2.1).
    public let name: String

    /// File systems allow 255 bytes. The extension and the suffix of temporary files need the rest.
    private static let maximumNameBytes = 200

    /// - Throws: `invalidConfiguration` for a deployment that is not a safe file name (letters, digits, `-`, `_` and `.`), and for an
    ///   account that is empty, too long, or contains control characters.
    public init(_ deployment: String, account: String? = nil) throws(AccountError) {
        guard deployment.utf8.allSatisfy({ isPlain($0) }), !deployment.isEmpty, deployment.utf8.count <= 64,
            deployment.utf8.first != UInt8(ascii: ".")
        else {
            throw AccountError(
                .invalidConfiguration,
                message: "\"\(deployment)\" is not a valid profile name: use up to 64 letters, digits, - and _")
        }
        self.deployment = deployment
        self.account = account
        guard let account else {
            name = deployment
            return
        }
        let name = deployment + "+" + escaped(account)
        guard !account.isEmpty, name.utf8.count <= Self.maximumNameBytes,
            account.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else {
            throw AccountError(
                .invalidConfiguration,
                message:
                    "\"\(account.prefix(80))\" is not a valid account name: use a shorter name, without control characters"
            )
        }
        self.name = name
    }
}

private func isPlain(_ byte: UInt8) -> Bool {
    byte.isASCIILetterOrDigit || "-_.".utf8.contains(byte)
}

private func escaped(_ text: String) -> String {
    var bytes: [UInt8] = []
    let digits = Array("0123456789ABCDEF".utf8)
    for byte in text.utf8 {
        if isPlain(byte) || "@+".utf8.contains(byte) {
            bytes.append(byte)
        } else {
            bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// Keeps sessions until the process ends: for `--no-save`, for services that receive their tokens, and for tests.
public final class InMemoryCredentialStore: CredentialStore {
    private struct Contents {
        var sessions: [CredentialKey: SavedSession] = [:]
        var lines: [CredentialKey: FairLock<Void, AccountError>] = [:]
    }
    private let contents = Mutex(Contents())

    /// Creates a store with these sessions.
    public init(_ sessions: [CredentialKey: SavedSession] = [:]) {
        contents.withLock { $0.sessions = sessions }
    }

    public var outlivesProcess: Bool { false }

    public func load(_ key: CredentialKey) -> SavedSession? { contents.withLock { $0.sessions[key] } }

    public func exclusively<Result: Sendable>(
        _ key: CredentialKey, within limit: Duration,
        _ body: @Sendable (any CredentialAccess) async throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        let line = contents.withLock { contents in
            let line = contents.lines[key] ?? FairLock()
            contents.lines[key] = line
            return line
        }
        try await line.enter(within: limit, orThrow: { waitingError($0, for: "the session store", limit) }) {}
        defer { line.leave() }
        return try await body(Access(store: self, key: key))
    }

    private struct Access: CredentialAccess {
        let store: InMemoryCredentialStore
        let key: CredentialKey
        func load() -> SavedSession? { store.load(key) }
        func save(_ session: SavedSession) { store.contents.withLock { $0.sessions[key] = session } }
        func remove() { store.contents.withLock { $0.sessions[key] = nil } }
    }
}
