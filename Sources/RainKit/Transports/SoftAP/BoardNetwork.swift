// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainCore
import RainDBus
import RainPrivateFiles

/// The network that a board opens: this machine joins it, and goes back afterwards.
actor BoardNetwork {
    /// Which network, and what is needed for it.
    struct Request: Sendable {
        /// The board's name, which is its network's; nil for the only one in reach.
        var name: String?
        var password: Secret?
        var bus: DBusAddress
        /// Nil where nothing is to be kept on disk.
        var journal: NetworkJournal?
        var foundBy: ContinuousClock.Instant
        var randomBytes: @Sendable (Int) -> [UInt8]
        var logger: Logger
        var tell: @Sendable (NetworkChange) -> Void
    }

    /// What became of it.
    enum Entry: Sendable {
        /// The board can be asked: this machine has joined its network now, or had before.
        case here
        /// The user has to join it; why this program cannot.
        case byHand(NetworkManagerError)
    }

    /// What going back needs.
    private struct Visit {
        let manager: NetworkManagerClient
        let way: WayBack
        /// Held until this machine is back.
        let lock: NameLock?
    }

    private let request: Request
    private var visit: Visit?
    private var leaving: Task<Void, Never>?

    /// How long an access point and its DHCP server may take.
    static let joinLimit = Duration.seconds(45)

    /// Whether this machine is on the board's network for the sake of this value.
    var isAway: Bool { visit != nil }

    init(_ request: Request) { self.request = request }

    /// Joins the network, unless this machine is on it.
    ///
    /// Throws `unavailable` where it is not heard or does not let this machine in, `invalidArgument` where several could be meant, `busy` while
    /// another run of this user has the machine on a board's network, `cancelled`. The machine is back on its own network then.
    func enter() async throws(ProvisioningError) -> Entry {
        if visit != nil { return .here }
        if request.name == nil, BoardNetworkAddress.isHere { return .here }
        let manager: NetworkManagerClient
        do throws(NetworkManagerError) {
            manager = try await NetworkManagerClient.open(bus: request.bus)
            if try await isOnIt(manager) { return .here }
        } catch {
            guard error.leavesJoiningToUser else { throw ProvisioningError(error) }
            return .byHand(error)
        }
        request.tell(.looking(for: request.name))
        let search = BoardNetworkSearch(name: request.name, foundBy: request.foundBy)
        let sighting = try await search.find(manager)
        let result: Result<Entry, ProvisioningError>
        do throws(NetworkManagerError) {
            result = try await join(sighting, manager)
        } catch {
            await leave()
            guard error.leavesJoiningToUser else { throw ProvisioningError(error) }
            return .byHand(error)
        }
        return try result.get()
    }

    /// Brings this machine back to what it was connected by; nothing where it has not left that. Not cancelled with the calling task.
    func leave() async {
        if let leaving { return await leaving.value }
        guard let visit else { return }
        let tell = request.tell
        let task = Task {
            tell(.returning(to: visit.way.entry.previousName))
            tell(await visit.way.goBack(visit.manager))
            visit.manager.close()
        }
        leaving = task
        await task.value
        self.visit = nil
        leaving = nil
    }

    /// Whether this machine has joined the network that was named before, as a person may have.
    private func isOnIt(_ manager: NetworkManagerClient) async throws(NetworkManagerError) -> Bool {
        guard let name = request.name else { return false }
        for device in try await manager.devices() {
            guard try await manager.connection(device)?.state == .activated else { continue }
            if try await manager.currentNetwork(device)?.name == name { return true }
        }
        return false
    }

    private func join(
        _ sighting: NetworkManagerClient.Sighting, _ manager: NetworkManagerClient
    ) async throws(NetworkManagerError) -> Result<Entry, ProvisioningError> {
        let (device, network) = (sighting.device, sighting.network)
        let before = try await manager.connection(device)
        let entry = NetworkJournal.Entry(
            interface: device.interface, previous: before?.uuid, previousName: before?.id, temporary: newUUID())
        let lock: NameLock?
        do throws(ProvisioningError) {
            lock = try await keep(entry)
        } catch {
            return .failure(error)
        }
        visit = Visit(
            manager: manager, way: WayBack(entry: entry, journal: request.journal, bus: request.bus), lock: lock)
        request.tell(.joining(network.name, leaving: before?.id))
        let profile = TemporaryProfile(
            uuid: entry.temporary, id: "\(network.name) (rainkit)", network: network, password: request.password)
        let limit = min(Self.joinLimit, max(.seconds(5), request.foundBy - ContinuousClock.now))
        try await manager.join(profile, on: device, owner: UserName.current, within: limit)
        request.logger.info(
            "joined the board's network", metadata: ["network": "\(network.name)", "interface": "\(device.interface)"])
        return .success(.here)
    }

    /// Writes down what this machine is connected by, before anything is changed.
    private func keep(_ entry: NetworkJournal.Entry) async throws(ProvisioningError) -> NameLock? {
        guard let journal = request.journal else { return nil }
        guard let lock = try await journal.take() else {
            throw ProvisioningError(
                .busy,
                message: "Another run has this machine's Wi-Fi on a board's network; one run at a time can have it.",
                reason: "wifi_busy")
        }
        // A run that was killed may have left word: what it says of before is older than what is true now, and better.
        let left = try await journal.load()
        var entry = entry
        if let left, left.temporary == entry.previous || entry.previous == nil {
            (entry.previous, entry.previousName) = (left.previous, left.previousName)
        }
        try await journal.keep(entry)
        return lock
    }

    /// A random UUID (RFC 9562, 5.4).
    private func newUUID() -> String {
        var bytes = request.randomBytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return [digits[0..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10..<16]]
            .map { $0.joined() }.joined(separator: "-")
    }
}
