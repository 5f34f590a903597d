// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization

/// The place where sessions outlive the process.
///
/// A store keeps one session for each key. Whatever changes one is done inside ``exclusively(_:within:_:)``, so that two
/// processes never renew the same tokens at once: the loser finds the winner's tokens instead of overwriting them.
///
/// Implementations throw `cannotStore`, `storeUnreadable`, `storeReadOnly` and, when the lock is not free in time, `timeout`; those that ask
/// a service throw `storeAbsent`, `storeLocked` and `storeNotAnswering` too. `CredentialStoreConformance` in RainKitTesting proves
/// what is promised here.
public protocol CredentialStore: Sendable {
    /// Whether what is saved survives this process, as it does by default. Where it does not, ``AccountEvent/saved(_:)`` is not sent.
    var outlivesProcess: Bool { get }

    /// What is stored now; nil if nothing is. Never half of a session, even while another process saves one.
    func load(_ key: CredentialKey) async throws(AccountError) -> SavedSession?

    /// Runs `body` while no one else, in this process or another, is in theirs for the same key.
    func exclusively<Result: Sendable>(
        _ key: CredentialKey, within limit: Duration,
        _ body: @Sendable (any CredentialAccess) async throws(AccountError) -> Result
    ) async throws(AccountError) -> Result

    /// Finds out whether a session could be saved, before anyone is asked for a password. What is stored stays as it is.
    func probe(_ key: CredentialKey, within limit: Duration) async throws(AccountError)
}

extension CredentialStore {
    public var outlivesProcess: Bool { true }

    /// For stores that can do no more than take the lock.
    public func probe(_ key: CredentialKey, within limit: Duration) async throws(AccountError) {
        try await exclusively(key, within: limit) { _ throws(AccountError) in }
    }
}

/// A store for somebody who is about to sign in. It has no session yet, and may know where an earlier sign-in of the same user left one.
package protocol NewSessionStore: CredentialStore {
    /// What the earlier sign-in stored; nil if nothing is known of one.
    func earlierSession() async throws(AccountError) -> SavedSession?
}

/// The right to change one stored session, good inside ``CredentialStore/exclusively(_:within:_:)`` only.
public protocol CredentialAccess: Sendable {
    /// What is stored now, by whichever process; nil if nothing is.
    func load() async throws(AccountError) -> SavedSession?
    /// Finds out whether a session could be saved now, before a provider is asked for one that it gives only once.
    func probe() async throws(AccountError)
    /// When this returns, the session survives a crash. When it throws, what was stored before is still there.
    func save(_ session: SavedSession) async throws(AccountError)
    /// Removes what is stored; it is no error if nothing is.
    func remove() async throws(AccountError)
}

extension CredentialAccess {
    /// For stores that can do no more than try.
    public func probe() async throws(AccountError) {}
}

/// The name of a stored session: whose it is, and at which deployment.
public struct CredentialKey: Sendable, Hashable, CustomStringConvertible {
    /// The deployment or profile that the session is for: up to 64 letters, digits, `-`, `_` and `.`.
    public let deployment: String
    /// What the account is called here, its user name as a rule; nil for the one session of a program that has no more.
    public let account: String?

    /// As a message says it.
    public var description: String { account.map { "\($0) at \(deployment)" } ?? deployment }

    /// A name for files and items, different for each key: letters, digits, and `-_.@+%`.
    ///
    /// The deployment, and behind the first `+` the account with all else escaped as in a URL (RFC 3986, 2.1).
    public let name: String

    /// File systems allow 255 bytes; endings and those of temporary files are added.
    private static let maximumNameBytes = 200

    /// - Throws: `invalidConfiguration` for a deployment that is no safe file name (letters, digits, `-`, `_` and `.` make one) and for
    ///   an account that is empty, holds control characters or is too long.
    public init(_ deployment: String, account: String? = nil) throws(AccountError) {
        guard deployment.utf8.allSatisfy({ isPlain($0) }), !deployment.isEmpty, deployment.utf8.count <= 64,
            deployment.utf8.first != UInt8(ascii: ".")
        else {
            throw AccountError(
                .invalidConfiguration,
                message: "\"\(deployment)\" cannot name a profile: use up to 64 letters, digits, - and _")
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
                    "\"\(account.prefix(80))\" cannot name an account: use a shorter one, without control characters")
        }
        self.name = name
    }
}

private func isPlain(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-_.".utf8.contains(byte)
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

/// Sessions that end with the process: for `--no-save`, for services that are handed their tokens, and for tests.
public final class InMemoryCredentialStore: CredentialStore {
    private struct Contents {
        var sessions: [CredentialKey: SavedSession] = [:]
        var lines: [CredentialKey: FairLock<Void, AccountError>] = [:]
    }
    private let contents = Mutex(Contents())

    /// A store that has these sessions to begin with.
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
        defer { line.leave {} }
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
