// SPDX-License-Identifier: Apache-2.0
import RainPrivateFiles
import RainCore

/// Keeps sessions as files: `NAME.json`, mode 0600, in a folder of mode 0700, each with a lock file beside it.
///
/// A session is written to a temporary file, synced, and renamed over the old one. A reader therefore never gets a part of it, and a crash
/// loses nothing. Symbolic links are refused, and so are files of another user or that others can read. The lock is a separate file,
/// because renaming would replace a locked session file.
public final class FileCredentialStore: CredentialStore {
    /// The path of the folder, as the caller gave it.
    public let folder: String

    /// The maximum size in bytes. A stored session has some kilobytes.
    private static let maximumBytes = 256 << 10
    /// The number of bytes that a check writes: more than a RainMaker session has.
    private static let probeBytes = 16 << 10

    /// systemd's folder of credentials, in which a session was looked for first (`CREDENTIALS_DIRECTORY`).
    package let credentials: String?

    /// - Parameter folder: created with its parents when the first session is saved.
    public convenience init(folder: String) { self.init(folder: folder, credentials: nil) }

    /// - Parameter credentials: systemd's folder of credentials that has no such session.
    package init(folder: String, credentials: String?) { (self.folder, self.credentials) = (folder, credentials) }

    /// Returns the path of a session's file.
    public func path(of key: CredentialKey) -> String { "\(folder)/\(key.name).json" }

    public func load(_ key: CredentialKey) throws(AccountError) -> SavedSession? {
        let path = folder
        guard let folder = try storing({ () throws(PrivateFileError) in try PrivateFolder.open(path, create: false) })
        else { return nil }
        return try session(key, in: folder)
    }

    public func exclusively<Result: Sendable>(
        _ key: CredentialKey, within limit: Duration,
        _ body: @Sendable (any CredentialAccess) async throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        try await PrivateFolder.withStoreLock("\(key.name).lock", in: folder, within: limit) {
            folder async throws(AccountError) in
            try await body(Access(store: self, folder: folder, key: key))
        }
    }

    public func probe(_ key: CredentialKey, within limit: Duration) async throws(AccountError) {
        try await PrivateFolder.withStoreLock(
            "\(key.name).lock", in: folder, within: limit, leavesNothing: true
        ) { folder throws(AccountError) in
            try probe(key, in: folder)
        }
    }

    private func probe(_ key: CredentialKey, in folder: PrivateFolder) throws(AccountError) {
        try storing { () throws(PrivateFileError) in try folder.probe("\(key.name).json", count: Self.probeBytes) }
    }

    private func session(_ key: CredentialKey, in folder: PrivateFolder) throws(AccountError) -> SavedSession? {
        let bytes: [UInt8]?
        do throws(PrivateFileError) {
            bytes = try folder.read("\(key.name).json", maximumBytes: Self.maximumBytes)
        } catch {
            throw AccountError(.storeUnreadable, message: "\(error)")
        }
        guard let bytes else { return nil }
        do throws(AccountError) {
            return try SavedSession(serialized: Secret(bytes))
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
        func probe() throws(AccountError) { try store.probe(key, in: folder) }

        func save(_ session: SavedSession) throws(AccountError) {
            let text = session.serialized
            guard text.count <= FileCredentialStore.maximumBytes else {
                throw AccountError(.cannotStore, message: "the session is too long to be stored: \(text.count) bytes")
            }
            try storing { () throws(PrivateFileError) in
                try text.reveal { bytes throws(PrivateFileError) in
                    try folder.replace("\(key.name).json", with: bytes)
                }
            }
        }

        func remove() throws(AccountError) {
            try storing { () throws(PrivateFileError) in try folder.remove("\(key.name).json") }
        }
    }
}
