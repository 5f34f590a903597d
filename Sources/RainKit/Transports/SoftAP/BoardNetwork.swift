// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import Logging
import RainCore
import RainDBus
import RainIO
import RainPrivateFiles
import Synchronization

/// The network that a board opens: this machine joins it, and returns to its own network afterwards.
actor BoardNetwork {
    /// The network to join, and the resources for it.
    struct Request: Sendable {
        /// The board's name, which is also its network's name; nil for the only one in range.
        var name: String?
        var password: Secret?
        var bus: DBusAddress
        /// Nil if nothing is to be kept on disk.
        var journal: NetworkJournal?
        var foundBy: ContinuousClock.Instant
        /// Whether a person who joins the network by hand is waited for until ``foundBy``.
        var waitsForPerson = false
        var randomBytes: @Sendable (Int) -> [UInt8]
        var logger: Logger
        var tell: @Sendable (NetworkChange) -> Void
    }

    /// The result of joining.
    enum Entry: Sendable {
        /// The board can be asked: this machine has joined its network now, or was already on it.
        case here
        /// The user has to join it; the error shows why this program cannot.
        case byHand(NetworkManagerError)
    }

    /// The data for returning to the own network.
    private struct Visit {
        let manager: NetworkManagerClient
        let way: NetworkRestorer
        /// Held until this machine has returned.
        let lock: NameLock?
    }

    private let request: Request
    private var visit: Visit?
    private var leaving: Task<Void, Never>?

    /// The time limit for an access point and its DHCP server.
    static let joinLimit = Duration.seconds(45)

    /// Whether this value has moved this machine to the board's network.
    var isAway: Bool { visit != nil }

    init(_ request: Request) { self.request = request }

    /// Joins the network, unless this machine is already on it.
    ///
    /// Throws `unavailable` if the network is not found or does not admit this machine, and `invalidArgument` if several match. Throws
    /// `busy` while another run of this user has the machine on a board's network, and `cancelled`. The machine has then returned to its
    /// own network.
    func enter() async throws(BoardError) -> Entry {
        if visit != nil { return .here }
        if request.name == nil, BoardNetworkAddress.isHere { return .here }
        let manager: NetworkManagerClient
        do throws(NetworkManagerError) {
            manager = try await NetworkManagerClient.open(bus: request.bus)
            if try await isOnIt(manager) { return .here }
        } catch {
            guard error.leavesJoiningToUser else { throw BoardError(error) }
            return .byHand(error)
        }
        request.tell(.looking(for: request.name))
        let search = BoardNetworkSearch(name: request.name, foundBy: request.foundBy)
        let sighting = try await search.find(manager)
        let result: Result<Entry, BoardError>
        do throws(NetworkManagerError) {
            result = try await join(sighting, manager)
        } catch {
            await leave()
            guard error.leavesJoiningToUser else { throw BoardError(error) }
            return .byHand(error)
        }
        return try result.get()
    }

    /// Returns this machine to its previous connection; does nothing if it has not left it. Not cancelled with the calling task.
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

    /// Whether this machine is on the given network, for example because a person joined it.
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
    ) async throws(NetworkManagerError) -> Result<Entry, BoardError> {
        let (device, network) = (sighting.device, sighting.network)
        let before = try await manager.connection(device)
        let entry = NetworkJournal.Entry(
            interface: device.interface, previous: before?.uuid, previousName: before?.id, temporary: newUUID())
        let lock: NameLock?
        do throws(BoardError) {
            lock = try await keep(entry)
        } catch {
            return .failure(error)
        }
        visit = Visit(
            manager: manager, way: NetworkRestorer(entry: entry, journal: request.journal, bus: request.bus), lock: lock
        )
        request.tell(.joining(network.name, leaving: before?.id))
        let profile = TemporaryProfile(
            uuid: entry.temporary, id: "\(network.name) (rainkit)", network: network, password: request.password)
        let limit = min(Self.joinLimit, max(.seconds(5), request.foundBy - ContinuousClock.now))
        try await manager.join(profile, on: device, owner: UserName.current, within: limit)
        request.logger.debug(
            "joined the board's network", metadata: ["network": "\(network.name)", "interface": "\(device.interface)"])
        return .success(.here)
    }

    /// Records this machine's current connection before anything is changed.
    private func keep(_ entry: NetworkJournal.Entry) async throws(BoardError) -> NameLock? {
        guard let journal = request.journal else { return nil }
        guard let lock = try await journal.take() else {
            throw BoardError(
                .busy,
                message:
                    "Another run is using this machine's Wi-Fi to reach a board's network. Only one run can use the Wi-Fi at a time.",
                reason: "wifi_busy")
        }
        // A killed run may have left a record: its previous connection is older than the current one, and better.
        let left = try await journal.load()
        var entry = entry
        if let left, left.temporary == entry.previous || entry.previous == nil {
            (entry.previous, entry.previousName) = (left.previous, left.previousName)
        }
        try await journal.keep(entry)
        return lock
    }

    /// Returns a random UUID (RFC 9562, 5.4).
    private func newUUID() -> String {
        String(decoding: Hex.uuid(randomBytes: request.randomBytes(16)), as: UTF8.self)
    }
}

/// Searches for the network of a board.
struct BoardNetworkSearch: Sendable {
    /// The board's name; nil for the only board in range.
    let name: String?
    let foundBy: ContinuousClock.Instant

    /// The prefix of boards' networks, unless their firmware was changed (RainMaker's `app_network`).
    static let prefix = "PROV_"
    /// After the first network, how long to wait for others.
    private static let others = Duration.seconds(3)

    func find(_ manager: NetworkManagerClient) async throws(BoardError) -> NetworkManagerClient.Sighting {
        var heard: [NetworkManagerClient.Sighting] = []
        do throws(NetworkManagerError) {
            heard = try await look(manager, for: max(.milliseconds(500), foundBy - ContinuousClock.now)) {
                !$0.isEmpty
            }
            if name == nil, !heard.isEmpty { heard = try await look(manager, for: Self.others) { _ in false } }
        } catch {
            throw BoardError(error)
        }
        guard let first = heard.first else {
            let what = name.map { "No Wi-Fi network \($0) was found" } ?? "No Wi-Fi network of a board was found"
            throw BoardError(
                .unavailable, message: "\(what). Check that the board is powered, near, and in provisioning mode.",
                reason: "not_found", remedies: name == nil ? [.boardName([])] : [])
        }
        let names = Set(heard.map(\.network.name))
        guard names.count == 1 else {
            throw BoardError(
                .invalidArgument, message: "The networks of several boards were found.", reason: "several_boards",
                remedies: [.boardName(names.sorted())])
        }
        return first
    }

    /// Returns the boards' networks, strongest first, when there are enough or the time is over.
    private func look(
        _ manager: NetworkManagerClient, for limit: Duration,
        until isEnough: @escaping @Sendable ([NetworkManagerClient.Sighting]) -> Bool
    ) async throws(NetworkManagerError) -> [NetworkManagerClient.Sighting] {
        let latest = Mutex<[NetworkManagerClient.Sighting]>([])
        try await manager.look(for: limit) { (all) throws(NetworkManagerError) in
            let boards = all.filter { isMeant($0.network) }.sorted { $0.network.strength > $1.network.strength }
            latest.withLock { $0 = boards }
            return !isEnough(boards)
        }
        return latest.withLock { $0 }
    }

    private func isMeant(_ network: HeardNetwork) -> Bool {
        if let name { return network.ssid == Array(name.utf8) }
        return network.ssid.starts(with: Array(Self.prefix.utf8))
    }
}

/// Whether this machine has an address in the network that boards open, 192.168.4.0/24 (ESP-IDF, `esp_netif_defaults.h`).
enum BoardNetworkAddress {
    static var isHere: Bool {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return false }
        defer { freeifaddrs(first) }
        var next = first
        while let entry = next {
            next = entry.pointee.ifa_next
            guard let address = entry.pointee.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET) else {
                continue
            }
            let number = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt32(bigEndian: $0.pointee.sin_addr.s_addr)
            }
            if contains(number) { return true }
        }
        return false
    }

    /// Returns once there is such an address, or no longer one. Throws if it is cancelled.
    static func wait(until isWanted: Bool) async throws {
        while isHere != isWanted { try await Task.sleep(for: .milliseconds(250)) }
    }

    /// Whether an IPv4 address, as a number, is in that network.
    static func contains(_ address: UInt32) -> Bool { address >> 8 == 0xC0A804 }
}

/// A change of this machine's own network, for a board that is reached over its access point.
public enum NetworkChange: Sendable, Hashable {
    /// The board's network is searched for; without a name the only one in range.
    case looking(for: String?)
    /// This machine leaves its own network, if it has one, for the board's.
    case joining(String, leaving: String?)
    /// This machine returns to its own network; nil for none.
    case returning(to: String?)
    /// This machine has returned to its own network, or to none, as before.
    case restored(String?)
    /// This machine could not return; the text shows why.
    case notRestored(String?, why: String)
    /// Only the user can join the board's network here. With `isWaitedFor` this is waited for; otherwise the run ends.
    case joinByHand(String?, hasPassword: Bool, why: String, isWaitedFor: Bool)
    /// The user has joined the board's network.
    case joinedByHand(String?)
    /// The user can return to this machine's own network, because the board is not asked anything more. `wasAsked` is false if the machine
    /// was on the board's network before the run.
    case returnByHand(wasAsked: Bool)
    /// The user has left the board's network.
    case returnedByHand
}

/// The name of the user of this process.
enum UserName {
    /// Nil if the user has no name.
    static var current: String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1 << 14)
        guard getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return String(cString: entry.pw_name)
    }
}
