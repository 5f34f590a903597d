/// Sessions as files: `NAME.json`, mode 0600, in a folder of mode 0700, each with a lock file beside it.
///
/// A session is written to a temporary file, synced, and renamed over the old one, so a reader never meets half of it and a
/// crash loses nothing. Symbolic links are refused, and so is whatever belongs to another user or is readable by others. The lock is a
/// file of its own, because renaming replaces the file that it would be held on.
public final class FileCredentialStore: CredentialStore {
    private let folder: String

    /// - Parameter folder: made when the first session is saved, its parents too.
    public init(folder: String) { self.folder = folder }

    public func load(_ key: CredentialKey) throws(AccountError) -> SavedSession? {
        guard let folder = try PrivateFolder.open(folder, create: false) else { return nil }
        return try session(key, in: folder)
    }

    public func exclusively<Result: Sendable>(
        _ key: CredentialKey, within limit: Duration,
        _ body: @Sendable (any CredentialAccess) async throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        guard let folder = try PrivateFolder.open(folder, create: true) else {
            throw AccountError(.cannotStore, message: "\(self.folder) cannot be made")
        }
        let lock = try folder.openLock("\(key.name).lock")
        defer { lock.release() }
        try await waitForTurn(within: limit, at: "\(self.folder)/\(key.name).lock") { () throws(AccountError) in
            try lock.take()
        }
        return try await body(Access(store: self, folder: folder, key: key))
    }

    private func session(_ key: CredentialKey, in folder: PrivateFolder) throws(AccountError) -> SavedSession? {
        guard let text = try folder.read("\(key.name).json") else { return nil }
        do throws(AccountError) {
            return try SavedSession(serialized: text)
        } catch {
            var error = error
            error.message += " (\(self.folder)/\(key.name).json)"
            throw error
        }
    }

    private struct Access: CredentialAccess {
        let store: FileCredentialStore
        let folder: PrivateFolder
        let key: CredentialKey

        func load() throws(AccountError) -> SavedSession? { try store.session(key, in: folder) }
        func save(_ session: SavedSession) throws(AccountError) {
            try folder.replace("\(key.name).json", with: session.serialized)
        }
        func remove() throws(AccountError) { try folder.remove("\(key.name).json") }
    }
}
