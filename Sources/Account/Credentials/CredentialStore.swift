/// The place where sessions outlive the process.
///
/// A store keeps one session for each key. Whatever changes one is done inside ``exclusively(_:within:_:)``, so that two
/// processes never renew the same tokens at once: the loser finds the winner's tokens instead of overwriting them.
/// Implementations throw `cannotStore`, `storeUnreadable` and, when the turn does not come, `timeout`.
public protocol CredentialStore: Sendable {
    /// What is stored now; nil if nothing is. Never half of a session, even while another process saves one.
    func load(_ key: CredentialKey) async throws(AccountError) -> SavedSession?

    /// Runs `body` while no one else, in this process or another, is in theirs for the same key.
    func exclusively<Result: Sendable>(
        _ key: CredentialKey, within limit: Duration,
        _ body: @Sendable (any CredentialAccess) async throws(AccountError) -> Result
    ) async throws(AccountError) -> Result
}

/// The right to change one stored session, good inside ``CredentialStore/exclusively(_:within:_:)`` only.
public protocol CredentialAccess: Sendable {
    func load() async throws(AccountError) -> SavedSession?
    /// When this returns, the session survives a crash.
    func save(_ session: SavedSession) async throws(AccountError)
    func remove() async throws(AccountError)
}

/// The name of a stored session: the deployment's.
public struct CredentialKey: Sendable, Hashable, CustomStringConvertible {
    public let name: String
    public var description: String { name }

    /// - Throws: `invalidConfiguration` for a name that is no safe file name: letters, digits, `-`, `_` and `.` make one.
    public init(_ name: String) throws(AccountError) {
        let isSafe = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-_.".utf8.contains(byte)
        }
        guard isSafe, !name.isEmpty, name.utf8.count <= 64, name.utf8.first != UInt8(ascii: ".") else {
            throw AccountError(
                .invalidConfiguration,
                message: "\"\(name)\" cannot name a profile: use up to 64 letters, digits, - and _")
        }
        self.name = name
    }
}
