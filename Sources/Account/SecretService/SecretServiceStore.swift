// SPDX-License-Identifier: Apache-2.0
import Glibc
import Logging
import RainCore
import RainIO
import RainPrivateFiles
import Synchronization

/// Keeps sessions in the desktop's store of secrets: GNOME Keyring, KWallet, KeePassXC, or any service named `org.freedesktop.secrets`. It
/// uses libsecret, which is loaded when it is first needed.
///
/// Each session is one item with the schema `org.rainkit.Session` and the attributes `deployment` and `account`. All calls have a deadline,
/// the user is never asked for a password, and no D-Bus daemon is started. Throws `storeAbsent`, `storeLocked` and `storeNotAnswering`, and
/// the errors of every store.
public final class SecretServiceStore: CredentialStore {
    /// The time limits for the service.
    public struct Deadlines: Sendable {
        /// For the answer that it is there.
        public var probe = Duration.seconds(2)
        /// For returning a stored session, and for the check that one could be saved while its lock is held.
        public var load = Duration.seconds(5)
        /// For saving new tokens, because the old ones may no longer be valid.
        public var save = Duration.seconds(10)

        public init() {}
    }

    private let lockFolder: String
    private let environment: [String: String]
    private let deadlines: Deadlines
    private let logger: Logger

    /// The maximum size in bytes, more than a session has. The service's messages could be a thousand times as long.
    private static let maximumBytes = 256 << 10

    /// - Parameters:
    ///   - lockFolder: the folder of the lock files, because the service itself has no locks. It is created when it is needed.
    ///   - environment: the process's variables, which name the session bus.
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
            // This cannot be cancelled. After a cancellation it would be unknown which of the two sessions is stored.
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
                // After any error, the next call begins with a new session.
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

/// Ends calls into GLib from another thread (`GCancellable`).
private final class Cancellable: @unchecked Sendable {
    // This never changes. GLib's own lock protects the object.
    let object: LibSecret.Object?
    private let library: LibSecret
    private let wasCancelled = Atomic(false)

    init(_ library: LibSecret) {
        self.library = library
        object = library.newCancellable()
    }

    var isCancelled: Bool { wasCancelled.load(ordering: .acquiring) }

    func cancel() {
        wasCancelled.store(true, ordering: .releasing)
        library.cancel(object)
    }

    deinit { library.unref(object) }
}

/// Runs blocking calls on threads of their own, so that a service that hangs delays only its callers.
private enum ServiceThread {
    /// Allows one call at a time, because libsecret shares one session with the service among all calls.
    private static let turn = Mutex(())

    /// Runs `body` on a new thread. The call is cancelled after `limit`, or when the calling task is cancelled and `isCancellable` is true.
    /// Its result is then ignored.
    static func run<Value: Sendable>(
        _ library: LibSecret, within limit: Duration, isCancellable: Bool,
        _ body: @escaping @Sendable (Cancellable) -> Result<Value, AccountError>
    ) async throws(AccountError) -> Value {
        let cancellable = Cancellable(library)
        let waiter = Waiter<Result<Value, AccountError>>()
        let failure = startThread {
            turn.withLock { _ in
                guard !cancellable.isCancelled else { return }
                waiter.resume(returning: body(cancellable))
            }
        }
        guard failure == 0 else { throw AccountError(.cannotStore, message: "no thread can be started") }
        let result = await waiter.value(within: limit) { reason in
            let error: AccountError
            switch reason {
            case .timedOut: error = ServiceError.notAnswering("within \(limit)")
            case .cancelled where isCancellable:
                error = AccountError(.cancelled, message: "cancelled while waiting for the Secret Service")
            case .cancelled: return
            }
            if waiter.resume(returning: .failure(error)) { cancellable.cancel() }
        }
        return try result.get()
    }
}

/// An error of GLib or of the service as an account error.
struct ServiceError: Error {
    fileprivate var error: AccountError
    /// Whether the service has forgotten this client, for example after its restart. A new session with it may help.
    fileprivate var isSessionLost = false
    /// Whether this client ended the call itself. The caller already has the reason.
    private var isCancelled = false

    init(_ error: AccountError) { self.error = error }

    /// Converts the error and frees it.
    init(_ failure: LibSecret.Object?, _ library: LibSecret, doing what: String) {
        guard let failure else {
            error = AccountError(.cannotStore, message: "the Secret Service could not \(what)")
            return
        }
        defer { library.freeError(failure) }
        let given = failure.load(as: LibSecret.GError.self)
        let domain = library.quarkName(given.domain).map { String(cString: $0) } ?? ""
        let message = given.message.map { String(cString: $0) } ?? "no reason given"
        var remote = ""
        if let name = library.remoteError(failure) {
            remote = String(cString: name)
            library.free(name)
        }
        isCancelled = domain == "g-io-error-quark" && given.code == 19
        isSessionLost = Self.sessionLost.contains(remote)
        switch remote {
        case "org.freedesktop.Secret.Error.IsLocked":
            error = Self.locked
        case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.TimedOut",
            "org.freedesktop.DBus.Error.Timeout":
            error = Self.notAnswering(message)
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
            "org.freedesktop.DBus.Error.Disconnected":
            error = SessionBus.absent("no process on the session bus provides the service")
        case let name where name.hasPrefix("org.freedesktop.DBus.Error.Spawn."):
            error = SessionBus.absent("the service could not be started")
        default:
            if domain == "secret-error", given.code == 2 {
                error = Self.locked
            } else if domain == "g-io-error-quark", given.code == 24 {
                error = Self.notAnswering(message)
            } else if domain == "g-io-error-quark", remote.isEmpty {
                error = SessionBus.absent("the session bus cannot be reached (\(message))")
            } else {
                error = AccountError(.cannotStore, message: "the Secret Service could not \(what): \(message)")
            }
        }
    }

    /// The answers of a service that was restarted, or of the bus instead of a service that ended.
    private static let sessionLost: Set = [
        "org.freedesktop.Secret.Error.NoSession", "org.freedesktop.DBus.Error.UnknownMethod",
        "org.freedesktop.DBus.Error.UnknownObject", "org.freedesktop.DBus.Error.ServiceUnknown",
        "org.freedesktop.DBus.Error.NameHasNoOwner",
    ]

    static let locked = AccountError(
        .storeLocked,
        message: """
            the keyring of the Secret Service is locked; unlock it (sign in to the desktop, or open Passwords and Keys)
            """,
        remedies: [.fileStore])

    static let noKeyring = AccountError(
        .storeLocked,
        message: """
            the Secret Service has no default keyring to unlock; create one (sign in to the desktop, or open Passwords and \
            Keys)
            """,
        remedies: [.fileStore])

    fileprivate static func notAnswering(_ detail: String) -> AccountError {
        AccountError(
            .storeNotAnswering,
            message: """
                the Secret Service does not answer (\(detail)); restart it (gnome-keyring-daemon --replace, or your \
                desktop's)
                """,
            remedies: [.fileStore])
    }
}
