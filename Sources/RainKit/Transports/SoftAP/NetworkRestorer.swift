// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import RainDBus
import RainIO
import RainPrivateFiles

/// The return from a board's network to this machine's previous connection.
struct NetworkRestorer: Sendable {
    let entry: NetworkJournal.Entry
    let journal: NetworkJournal?
    let bus: DBusAddress

    /// The time limit for the return.
    static let limit = Duration.seconds(30)

    /// Errors after which another try may succeed.
    private static let passing: Set<NetworkManagerError.Code> = [
        .noBus, .notRunning, .accessDenied, .timeout, .cancelled,
    ]

    /// Returns to the previous connection, and removes the journal. If that failed for a reason that may go away, the journal is kept
    /// for the next run.
    func goBack(_ manager: NetworkManagerClient) async -> NetworkChange {
        let change: NetworkChange
        do throws(NetworkManagerError) {
            change = .restored(try await connection(manager)?.id)
        } catch {
            change = .notRestored(entry.previousName, why: error.message)
            if Self.passing.contains(error.code) { return change }
        }
        do throws(BoardError) {
            try await journal?.keep(nil)
        } catch {
            return .notRestored(entry.previousName, why: error.message)
        }
        return change
    }

    private func connection(_ manager: NetworkManagerClient) async throws(NetworkManagerError) -> NetworkConnection? {
        do throws(NetworkManagerError) {
            return try await manager.restore(
                entry.previous, on: entry.interface, insteadOf: entry.temporary, within: Self.limit)
        } catch {
            // The connection to the bus may be lost, and NetworkManager may then have left the board's network.
            guard error.code == .noBus else { throw error }
            return try await NetworkManagerClient.open(bus: bus).restore(
                entry.previous, on: entry.interface, insteadOf: entry.temporary, within: Self.limit)
        }
    }
}

extension RainKitClient {
    /// Returns this machine to its own network after a run that joined a board's network was killed.
    ///
    /// If there is nothing to do, this only checks for a file. NetworkManager disconnects the killed run's network by itself; this restores
    /// the previous network even if it is not joined automatically.
    ///
    /// - Returns: the result; nil if there was nothing to do, or if the run that left its network is still running.
    @discardableResult
    public func restoreNetwork(bus: DBusAddress = .system) async -> NetworkChange? {
        let journal = NetworkJournal(folder: configuration.state)
        guard journal.exists else { return nil }
        let entry: NetworkJournal.Entry
        do throws(BoardError) {
            guard let lock = try await journal.take() else { return nil }
            defer { withExtendedLifetime(lock) {} }
            guard let left = try await journal.load() else { return nil }
            entry = left
            let manager: NetworkManagerClient
            do throws(NetworkManagerError) {
                manager = try await NetworkManagerClient.open(bus: bus)
            } catch {
                return .notRestored(entry.previousName, why: error.message)
            }
            configuration.networkChange(.returning(to: entry.previousName))
            let change = await NetworkRestorer(entry: entry, journal: journal, bus: bus).goBack(manager)
            manager.close()
            return change
        } catch {
            return .notRestored(nil, why: error.message)
        }
    }
}

/// This machine's previous connection while a run has it on a board's network. The file exists only during that time, so that a killed run
/// leaves a record for the next. It contains no secret.
struct NetworkJournal: Sendable {
    struct Entry: Codable, Sendable, Equatable {
        /// The interface that left its network.
        var interface: String
        /// The profile of its previous connection; nil for none.
        var previous: String?
        /// The name of that profile for people.
        var previousName: String?
        /// The profile that was joined instead.
        var temporary: String
    }

    private let document: PrivateDocument<Entry>
    private let work = BlockingWork()

    /// - Parameter folder: private to the user; created when it is needed.
    init(folder: String) { document = PrivateDocument(path: "\(folder)/network.json", maximumBytes: 1 << 14) }

    /// Whether the file exists; most starts check only this.
    var exists: Bool { access(document.path, F_OK) == 0 }

    /// Takes the lock for changing this machine's Wi-Fi. It is released when the process exits. Nil if another process holds it.
    func take() async throws(BoardError) -> NameLock? {
        try await work.run(noThread: Self.noThread) { [document] () throws(BoardError) -> NameLock? in
            do throws(PrivateFileError) {
                return try NameLock.take("network", beside: document.path)
            } catch {
                throw Self.failure(document.path, error.description)
            }
        }
    }

    func load() async throws(BoardError) -> Entry? {
        try await work.run(noThread: Self.noThread) { [document] () throws(BoardError) -> Entry? in
            try document.load { Self.failure($0.path, $0.description) }
        }
    }

    /// Stores the entry; nil removes the file.
    func keep(_ entry: Entry?) async throws(BoardError) {
        try await work.run(noThread: Self.noThread) { [document] () throws(BoardError) -> Void in
            try document.change(orThrow: { Self.failure($0.path, $0.description) }) {
                (content: inout Entry?) throws(BoardError) in content = entry
            }
        }
    }

    private static func failure(_ path: String, _ why: String) -> BoardError {
        BoardError(
            .unavailable,
            message:
                "This machine's connection cannot be recorded in \(path), so its network is not changed: \(why)",
            reason: "cannot_write")
    }

    private static func noThread(_ error: Int32) -> BoardError {
        BoardError(.unavailable, message: "A thread could not be started.", cause: "error \(error)")
    }
}
