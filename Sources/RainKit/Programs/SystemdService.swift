// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import RainAccount
import RainCore
import Synchronization

/// What systemd gives a service and wants to hear from it: its settings, its folder, its credentials, and the messages of `sd_notify(3)`.
///
/// ```swift
/// let service = SystemdService()
/// try await service.run {
///     let kit = try RainKitClient(state: try service.stateDirectory)
///     try await kit.signInIfNeeded(user: "me@example.com") { try service.credential("password") }
///     service.notify(.ready)
///     for try await event in kit.watchAll() {
///         if case .alive = event { service.notify(.alive) }
///     }
/// }
/// ```
///
/// Outside systemd, messages go nowhere. Set the variables `STATE_DIRECTORY` and `CREDENTIALS_DIRECTORY` yourself to try a service by hand.
public struct SystemdService: Sendable {
    /// The variables with which the service was started.
    private let environment: [String: String]

    /// - Parameter environment: the process's own if nil.
    public init(environment: [String: String]? = nil) { self.environment = environment ?? processEnvironment() }

    // MARK: Settings

    /// Returns a variable of `Environment=` in the unit; nil if it is not set.
    public func setting(_ name: String) -> String? { environment[name] }

    /// Returns a variable that the service needs.
    ///
    /// - Throws: `RainKitError` (`missing_parameter`) if it is not set.
    public func required(_ name: String) throws -> String {
        guard let value = environment[name] else {
            throw Self.missing("the service needs the variable \(name): add the variable to the unit of the service")
        }
        return value
    }

    /// The first folder of `StateDirectory=` in the unit. systemd keeps it for the service, and creates it with the right owner.
    ///
    /// Symbolic links in it are resolved: with `DynamicUser=yes` the folder that systemd names is a link.
    ///
    /// - Throws: `RainKitError` (`missing_parameter`) if the unit has none.
    public var stateDirectory: String {
        get throws {
            let folders = try required("STATE_DIRECTORY")
            let folder = String(folders.prefix { $0 != ":" })
            guard let resolved = realpath(folder, nil) else { return folder }
            defer { free(resolved) }
            return String(cString: resolved)
        }
    }

    /// The maximum size of a credential in bytes. Passwords and passphrases are shorter.
    private static let maximumCredential = 4096

    /// Returns a secret of `LoadCredential=` in the unit, without the line end after it.
    ///
    /// - Throws: `RainKitError`: `missing_parameter` if the unit has no credential of that name, or an empty one; `bad_data` if it cannot be
    ///   read, or has more than 4096 bytes.
    public func credential(_ name: String) throws -> RainKitSecret {
        guard let folder = environment["CREDENTIALS_DIRECTORY"], access("\(folder)/\(name)", F_OK) == 0 else {
            throw Self.missing(
                "the service has no credential \"\(name)\": add LoadCredential=\(name):FILE to its unit")
        }
        let file = open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        defer { if file >= 0 { close(file) } }
        var bytes = [UInt8](repeating: 0, count: Self.maximumCredential + 2)
        let count = file < 0 ? -1 : read(file, &bytes, bytes.count)
        var text = bytes.prefix(max(0, count))
        if text.last == UInt8(ascii: "\n") { text.removeLast() }
        guard count >= 0, text.count <= Self.maximumCredential else {
            throw RainKitError(
                .request(.badData, reason: "bad_data"),
                message: "The credential \"\(name)\" cannot be read, or has more than \(Self.maximumCredential) bytes.")
        }
        guard !text.isEmpty else { throw Self.missing("the credential \"\(name)\" of the service is empty") }
        return Secret(text)
    }

    private static func missing(_ message: String) -> RainKitError {
        RainKitError(AccountError(.missingParameter, message: message))
    }

    // MARK: Messages to systemd

    /// A message of `sd_notify(3)`.
    public enum State: Sendable, Equatable {
        /// The start is complete (`READY=1`). A unit with `Type=notify` counts as started from now on.
        case ready
        /// The service still works (`WATCHDOG=1`). A unit with `WatchdogSec=` is restarted if this does not come for that long.
        case alive
        /// The service is about to end (`STOPPING=1`).
        case stopping
        /// A line for `systemctl status` (`STATUS=`).
        case status(String)

        var line: String {
            switch self {
            case .ready: "READY=1"
            case .alive: "WATCHDOG=1"
            case .stopping: "STOPPING=1"
            case .status(let text): "STATUS=\(text.onOneLine)"
            }
        }
    }

    /// Sends a message to systemd; does nothing outside systemd. It never waits: a message that does not fit in systemd's queue is lost.
    public func notify(_ state: State) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        // The abstract namespace begins with a zero byte.
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + name.count
        let file = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard file >= 0 else { return }
        defer { close(file) }
        let (line, flags) = (Array(state.line.utf8), Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        _ = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(file, line, line.count, flags, $0, socklen_t(length))
            }
        }
    }

    /// Sends what systemd wants to hear of a batch: that the station still works, and how many boards are in which state.
    public func report(_ event: BatchEvent) {
        switch event {
        case .alive: notify(.alive)
        case .counts(let counts):
            notify(
                .status(
                    "\(counts.done) of \(counts.total) boards done, \(counts.running) running, \(counts.failed) failed")
            )
        default: break
        }
    }

    // MARK: The end

    /// Runs the service until it ends by itself, or systemd ends it.
    ///
    /// SIGTERM and SIGINT send ``State/stopping`` and cancel the task of `body`. This function returns when `body` has ended, and when
    /// tokens that were being renewed are stored (`AccountSession.finishRenewals`; 5 s at most).
    ///
    /// - Parameter body: the service's work. It has to end soon after its task is cancelled, as all functions of RainKit do.
    /// - Throws: the error of `body`. After a signal the service has ended as it should, so nothing is thrown.
    public func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let wasSignalled = Atomic(false)
        // Cancelled by a signal, or with the calling task.
        let work = Task { try await body() }
        let sources = [SIGTERM, SIGINT].map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                wasSignalled.store(true, ordering: .sequentiallyConsistent)
                notify(.stopping)
                work.cancel()
            }
            source.resume()
            return source
        }
        let outcome = await withTaskCancellationHandler {
            await work.result
        } onCancel: {
            work.cancel()
        }
        await AccountSession.finishRenewals(within: .seconds(5))
        for source in sources { source.cancel() }
        guard !wasSignalled.load(ordering: .sequentiallyConsistent) else { return }
        try outcome.get()
    }
}
