// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import RainDBus
import RainIO
import RainPrivateFiles

/// The way from a board's network back to what this machine was connected by.
struct WayBack: Sendable {
    let entry: NetworkJournal.Entry
    let journal: NetworkJournal?
    let bus: DBusAddress

    /// How long going back may take.
    static let limit = Duration.seconds(30)

    /// Another try may succeed after these.
    private static let passing: Set<NetworkManagerError.Code> = [
        .noBus, .notRunning, .accessDenied, .timeout, .cancelled,
    ]

    /// Goes back, and takes the journal away. It stays where going back failed for a reason that may pass, for the next run.
    func goBack(_ manager: NetworkManagerClient) async -> NetworkChange {
        let change: NetworkChange
        do throws(NetworkManagerError) {
            change = .restored(try await connection(manager)?.id)
        } catch {
            change = .notRestored(entry.previousName, why: error.message)
            if Self.passing.contains(error.code) { return change }
        }
        do throws(ProvisioningError) {
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
            // The connection to the bus may have gone, and with it, by NetworkManager's doing, the board's network.
            guard error.code == .noBus else { throw error }
            return try await NetworkManagerClient.open(bus: bus).restore(
                entry.previous, on: entry.interface, insteadOf: entry.temporary, within: Self.limit)
        }
    }
}

extension RainKitClient {
    /// Brings this machine back to its own network, where a run took it to a board's and was killed before it could go back.
    ///
    /// Costs one look for a file where there is nothing to do. NetworkManager drops what a killed run had joined by itself; this sees to it
    /// that the network of before comes back also where that is not joined automatically.
    ///
    /// - Returns: what came of it; nil where there was nothing to do, or where the run that left its network is still under way.
    @discardableResult
    public func restoreNetwork(bus: DBusAddress = .system) async -> NetworkChange? {
        let journal = NetworkJournal(folder: configuration.state)
        guard journal.exists else { return nil }
        let entry: NetworkJournal.Entry
        do throws(ProvisioningError) {
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
            let change = await WayBack(entry: entry, journal: journal, bus: bus).goBack(manager)
            manager.close()
            return change
        } catch {
            return .notRestored(nil, why: error.message)
        }
    }
}

/// What this machine was connected by before a run took it to a board's network: a file that exists no longer than that, so that a run
/// which was killed leaves word for the next. It holds no secret.
struct NetworkJournal: Sendable {
    struct Entry: Codable, Sendable, Equatable {
        /// The interface that left its network.
        var interface: String
        /// The profile that it was connected by; nil for none.
        var previous: String?
        /// What people call that.
        var previousName: String?
        /// The profile that was joined instead.
        var temporary: String
    }

    private let document: PrivateDocument<Entry>
    private let work = BlockingWork()

    /// - Parameter folder: private to the user; made when it is needed.
    init(folder: String) { document = PrivateDocument(path: "\(folder)/network.json", maximumBytes: 1 << 14) }

    /// Whether there is a file, which is all that most starts ask.
    var exists: Bool { access(document.path, F_OK) == 0 }

    /// Whoever has it may take this machine off its network; it ends with the process that has it. Nil while another has.
    func take() async throws(ProvisioningError) -> NameLock? {
        try await work.run(noThread: Self.noThread) { [document] () throws(ProvisioningError) -> NameLock? in
            do throws(PrivateFileError) {
                return try NameLock.take("network", beside: document.path)
            } catch {
                throw Self.failure(document.path, error.description)
            }
        }
    }

    func load() async throws(ProvisioningError) -> Entry? {
        try await work.run(noThread: Self.noThread) { [document] () throws(ProvisioningError) -> Entry? in
            try document.load { Self.failure($0.path, $0.description) }
        }
    }

    /// Nil removes the file.
    func keep(_ entry: Entry?) async throws(ProvisioningError) {
        try await work.run(noThread: Self.noThread) { [document] () throws(ProvisioningError) -> Void in
            try document.change(orThrow: { Self.failure($0.path, $0.description) }) {
                (content: inout Entry?) throws(ProvisioningError) in content = entry
            }
        }
    }

    private static func failure(_ path: String, _ why: String) -> ProvisioningError {
        ProvisioningError(
            .unavailable,
            message:
                "What this machine is connected by cannot be kept in \(path), so its network is left alone: \(why)",
            reason: "cannot_write")
    }

    private static func noThread(_ error: Int32) -> ProvisioningError {
        ProvisioningError(.unavailable, message: "No thread can be started.", cause: "error \(error)")
    }
}
