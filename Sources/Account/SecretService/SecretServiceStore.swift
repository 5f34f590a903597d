// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore
import RainPrivateFiles

/// Sessions in the desktop's store of secrets (GNOME Keyring, KWallet, KeePassXC: whatever answers to `org.freedesktop.secrets`),
/// through libsecret, which is loaded when it is first needed.
///
/// Each session is one item with the schema `org.rainkit.Session` and the attributes `deployment` and `account`. Whatever hangs meets
/// a deadline, nobody is ever asked for a password, and no D-Bus daemon is started. Throws `storeAbsent`, `storeLocked` and
/// `storeNotAnswering` as well as what every store throws.
public final class SecretServiceStore: CredentialStore {
    /// How long the service may take.
    public struct Deadlines: Sendable {
        /// To say that it is there.
        public var probe = Duration.seconds(2)
        /// To give a stored session, and to say whether one could be saved while its lock is held.
        public var load = Duration.seconds(5)
        /// To save new tokens: the old ones may be good for nothing by then.
        public var save = Duration.seconds(10)

        public init() {}
    }

    private let lockFolder: String
    private let environment: [String: String]
    private let deadlines: Deadlines
    private let logger: Logger

    /// More than a session is; the service's messages could be a thousand times as long.
    private static let maximumBytes = 256 << 10

    /// - Parameters:
    ///   - lockFolder: where the lock files are, as the service itself has no locks; made when it is needed.
    ///   - environment: the process's, which says where the session bus is.
    public init(
        lockFolder: String, environment: [String: String], deadlines: Deadlines = Deadlines(), logger: Logger? = nil
    ) {
        self.lockFolder = lockFolder
        self.environment = environment
        self.deadlines = deadlines
        self.logger = logger ?? Logger(label: "secret-service") { _ in SwiftLogNoOpLogHandler() }
    }

    public func load(_ key: CredentialKey) async throws(AccountError) -> SavedSession? {
        let text = try await call(within: deadlines.load) { items throws(ServiceError) in try items.load(key) }
        guard let text else { return nil }
        do throws(AccountError) {
            return try SavedSession(serialized: text)
        } catch {
            throw AccountError(.storeUnreadable, message: "\(error.message) (the Secret Service's item of \(key))")
        }
    }

    public func exclusively<Result: Sendable>(
        _ key: CredentialKey, within limit: Duration,
        _ body: @Sendable (any CredentialAccess) async throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        try await PrivateFolder.withStoreLock("\(key.name).lock", in: lockFolder, within: limit) {
            _ async throws(AccountError) in
            try await body(Access(store: self, key: key))
        }
    }

    /// Asks the service whether the session could be saved: it is there, answers, and a keyring is unlocked.
    public func probe(_ key: CredentialKey, within limit: Duration) async throws(AccountError) {
        try await call(within: deadlines.probe) { items throws(ServiceError) in try items.probe(key) }
        try await PrivateFolder.withStoreLock(
            "\(key.name).lock", in: lockFolder, within: limit, leavesNothing: true
        ) { _ throws(AccountError) in
        }
    }

    private struct Access: CredentialAccess {
        let store: SecretServiceStore
        let key: CredentialKey

        func load() async throws(AccountError) -> SavedSession? { try await store.load(key) }

        func probe() async throws(AccountError) {
            let key = key
            try await store.call(within: store.deadlines.load) { items throws(ServiceError) in try items.probe(key) }
        }

        func save(_ session: SavedSession) async throws(AccountError) {
            let text = session.serialized
            guard text.count <= SecretServiceStore.maximumBytes else {
                throw AccountError(.cannotStore, message: "the session is too long to be stored: \(text.count) bytes")
            }
            let key = key
            // Not to be cancelled: nobody could say which of the two sessions is stored then.
            try await store.call(within: store.deadlines.save, isCancellable: false) { items throws(ServiceError) in
                try items.save(text, for: key)
            }
        }

        func remove() async throws(AccountError) {
            let key = key
            try await store.call(within: store.deadlines.save, isCancellable: false) { items throws(ServiceError) in
                try items.remove(key)
            }
        }
    }

    private func call<Value: Sendable>(
        within limit: Duration, isCancellable: Bool = true,
        _ body: @escaping @Sendable (SecretItems) throws(ServiceError) -> Value
    ) async throws(AccountError) -> Value {
        try SessionBus.find(in: environment)
        let library = try LibSecret.load()
        let logger = logger
        return try await ServiceThread.run(library, within: limit, isCancellable: isCancellable) { cancellable in
            let items = SecretItems(library: library, cancellable: cancellable.object)
            do throws(ServiceError) {
                return .success(try body(items))
            } catch {
                // Whatever went wrong, the next call begins with a new session.
                library.disconnect()
                guard error.isSessionLost else { return .failure(error.error) }
                logger.debug("the Secret Service has forgotten this process, asking once more")
            }
            do throws(ServiceError) {
                return .success(try body(items))
            } catch {
                library.disconnect()
                return .failure(error.error)
            }
        }
    }
}
