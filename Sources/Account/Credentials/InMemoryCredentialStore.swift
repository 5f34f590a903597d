// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization

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
