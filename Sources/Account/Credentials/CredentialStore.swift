// SPDX-License-Identifier: Apache-2.0

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
