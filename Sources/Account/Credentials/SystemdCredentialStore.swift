// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore

/// Reads sessions that systemd passes to a service (`LoadCredential=`, `LoadCredentialEncrypted=`, `SetCredential=`). It never writes them.
///
/// The credential's name is `rainkit-DEPLOYMENT+ACCOUNT`, or `rainkit-DEPLOYMENT` if the service has one account. It contains the output of
/// `rainctl account export --credential`. Saving throws `storeReadOnly`; renewed tokens are kept in the process.
public struct SystemdCredentialStore: CredentialStore {
    private let directory: String

    /// systemd's own limit for all credentials of a unit (systemd.exec(5)).
    private static let maximumBytes = 1 << 20

    public init(directory: String) { self.directory = directory }

    /// Creates the store of a service that has credentials. Returns nil in any other process.
    public init?(environment: [String: String]) {
        guard let directory = environment["CREDENTIALS_DIRECTORY"], directory.hasPrefix("/") else { return nil }
        self.init(directory: directory)
    }

    public func load(_ key: CredentialKey) throws(AccountError) -> SavedSession? {
        if let session = try session("rainkit-\(key.name)") { return session }
        guard let account = key.account, let session = try session("rainkit-\(key.deployment)"),
            session.userName == account
        else { return nil }
        return session
    }

    public func exclusively<Result: Sendable>(
        _ key: CredentialKey, within limit: Duration,
        _ body: @Sendable (any CredentialAccess) async throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        // Nothing can be changed, so no lock is needed.
        try await body(Access(store: self, key: key))
    }

    public func probe(_ key: CredentialKey, within limit: Duration) async throws(AccountError) { throw readOnly }

    private var readOnly: AccountError {
        AccountError(
            .storeReadOnly,
            message: "systemd credentials cannot be changed by the service that receives them",
            remedies: [.exportedSession])
    }

    private struct Access: CredentialAccess {
        let store: SystemdCredentialStore
        let key: CredentialKey

        func load() throws(AccountError) -> SavedSession? { try store.session(of: key) }
        func save(_ session: SavedSession) throws(AccountError) { throw store.readOnly }
        /// Does nothing: an ended session cannot be removed here. The provider reports its end each time.
        func remove() throws(AccountError) {}
    }

    private func session(of key: CredentialKey) throws(AccountError) -> SavedSession? { try load(key) }

    /// systemd makes the folder. Its files belong to root or to the service, and their access control lists show in the group's permission
    /// bits.
    private func session(_ name: String) throws(AccountError) -> SavedSession? {
        let path = "\(directory)/\(name)"
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw AccountError(
                .storeUnreadable, message: "\(path) cannot be opened: \(systemErrorText(errno))")
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o007 == 0,
            status.st_uid == 0 || status.st_uid == geteuid()
        else {
            throw AccountError(
                .storeUnreadable,
                message:
                    "\(path) is not a credential of this service. The file must belong to the service's user or to root, and other users "
                    + "must not have read access (chmod 600)")
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0, bytes.count + count <= Self.maximumBytes else {
                throw AccountError(.storeUnreadable, message: "\(path) cannot be read, or is too long")
            }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        do throws(AccountError) {
            return try SavedSession(serialized: Secret(bytes), remedy: "give the service another credential")
        } catch {
            throw AccountError(
                .storeUnreadable, message: "\(path): \(error.message)", remedies: [.exportedSession])
        }
    }
}
