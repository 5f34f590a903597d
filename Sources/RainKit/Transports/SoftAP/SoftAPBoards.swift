// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import ProtocommTransports
import RainDBus
import RainIO
import Synchronization

/// Boards that answer HTTP: on their own access point, which this machine joins through NetworkManager or has joined, or elsewhere.
public struct SoftAPBoards: BoardTransport {
    public let scheme = "softap"
    public let options: [BoardOption] = [.location("device-host"), .parameter("device-name")]
    public let leavesNetwork = true
    public let canDiscover = true
    let bus: DBusAddress

    /// - Parameter bus: the bus with NetworkManager; the system bus, which `DBUS_SYSTEM_BUS_ADDRESS` may name.
    public init(bus: DBusAddress = .system) { self.bus = bus }

    /// A given address needs no other network to be joined.
    public func mayAppearLater(_ address: BoardAddress) -> Bool { address.location == nil }

    public func board(at address: BoardAddress, _ opening: BoardOpening) async throws(BoardError) -> any Board {
        let place = try address.location.map { text throws(BoardError) in try HostAndPort(text) }
        try place?.checkInterface()
        let (host, port) = (place?.host ?? SoftAPTransport.defaultHost, place?.port ?? 80)
        let connect: @Sendable () -> any Board = {
            opening.protocommBoard(
                over: SoftAPTransport(http: opening.tools.http(nil), host: host, port: port, logger: opening.logger))
        }
        // A given address is not on the board's own network.
        guard place == nil else { return connect() }
        let request = BoardNetwork.Request(
            name: address.parameters["device-name"], password: opening.credentials.accessPointPassphrase, bus: bus,
            journal: opening.state.map { NetworkJournal(folder: $0) }, foundBy: opening.foundBy,
            waitsForPerson: opening.waitsForPerson, randomBytes: opening.tools.randomBytes, logger: opening.logger,
            tell: opening.networkChange)
        return SoftAPBoard(request, peer: "\(host):\(port)", connect: connect)
    }
}

extension BoardAddress {
    /// A board at a host, with or without `:PORT`; if none is given, at the usual address of boards on their own access point.
    ///
    /// - Parameter name: the board's name, which is also its network's name. If NetworkManager runs, that network is joined for the
    ///   session. Has no effect with a host.
    public static func softAP(_ host: String? = nil, name: String? = nil) -> BoardAddress {
        BoardAddress(scheme: "softap", location: host, parameters: name.map { ["device-name": $0] } ?? [:])
    }
}

extension SoftAPBoards {
    /// Reports the networks in range with the names of boards. Throws `unavailable` if NetworkManager does not run or has no Wi-Fi.
    public func discover(
        _ search: BoardSearch, found: @Sendable (FoundBoard) async -> Bool
    ) async throws(BoardError) {
        // A network advertises no services.
        guard search.services.isEmpty else { return }
        let seen = Mutex<Set<[UInt8]>>([])
        do throws(NetworkManagerError) {
            let manager = try await NetworkManagerClient.open(bus: bus)
            defer { manager.close() }
            try await manager.look(for: search.time) { (all) throws(NetworkManagerError) in
                for sighting in all where search.means(sighting.network) {
                    guard seen.withLock({ $0.insert(sighting.network.ssid).inserted }) else { continue }
                    guard await found(FoundBoard(sighting.network)) else { return false }
                }
                return true
            }
        } catch {
            throw BoardError(error)
        }
    }
}

extension BoardSearch {
    fileprivate func means(_ network: HeardNetwork) -> Bool {
        if let name { return network.ssid == Array(name.utf8) }
        return network.ssid.starts(with: Array((prefix ?? BoardNetworkSearch.prefix).utf8))
    }
}

extension FoundBoard {
    fileprivate init(_ network: HeardNetwork) {
        self.init(.softAP(name: network.name), name: network.name, signal: network.signal)
    }
}

/// A board over its own access point.
///
/// The first request joins its network. Before the cloud is asked anything again, this machine returns to its own network. That happens
/// once the board has reported the result of its Wi-Fi, or is lost, and in any case at the end.
actor SoftAPBoard: WrappedBoard {
    nonisolated let peer: String
    private let network: BoardNetwork
    private let name: String?
    private let hasPassword: Bool
    private let tell: @Sendable (NetworkChange) -> Void
    /// Makes another session with the board, without asking it anything yet.
    private let connect: @Sendable () -> any Board
    private(set) var inner: any Board
    private var hasLeft = false
    private let foundBy: ContinuousClock.Instant
    private let waitsForPerson: Bool
    /// Whether a person joins the board's network, or has joined it before the run.
    private var isByHand = false
    /// Whether the user was asked to join the board's network.
    private var wasAsked = false
    /// Reports the user's return to the own network; cancelled with the board.
    private var returning: Task<Void, Never>?

    init(_ request: BoardNetwork.Request, peer: String, connect: @escaping @Sendable () -> any Board) {
        self.peer = peer
        self.connect = connect
        name = request.name
        hasPassword = request.password != nil
        tell = request.tell
        foundBy = request.foundBy
        waitsForPerson = request.waitsForPerson
        network = BoardNetwork(request)
        inner = connect()
    }

    var leavesNetwork: Bool { get async { true } }

    var isOffline: Bool { get async { isByHand ? isThereByHand : await network.isAway && !DefaultRoute.exists } }

    /// Whether a person has this machine on a board's network, and on no other that leads to the internet.
    private var isThereByHand: Bool { isByHand && BoardNetworkAddress.isHere && !DefaultRoute.leadsElsewhere }

    func identify() async throws(BoardError) -> BoardIdentity {
        let entry = try await network.enter()
        isByHand = await !network.isAway
        switch entry {
        case .here: return try await inner.identify()
        case .byHand(let why): return try await identifyOnceJoined(why)
        }
    }

    func join(_ network: WiFiNetwork) async throws(BoardError) { try await join(network) { _ in } }

    func join(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(BoardError) {
        do throws(BoardError) {
            try await inner.join(network, report: report)
        } catch {
            if error.code == .mayBeJoining { await leave() }
            throw error
        }
    }

    func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(BoardError) -> JoinedNetwork {
        do throws(BoardError) {
            let joined = try await inner.watch(report: report)
            await leave()
            return joined
        } catch {
            // After a result the same session may send another network.
            if error.code == .deviceLost { await leave() }
            throw error
        }
    }

    func cloudContact() async throws(BoardError) -> CloudContact? {
        hasLeft ? nil : try await inner.cloudContact()
    }

    /// Only boards on their own network have an association mode to end.
    func endAssociation() async throws(BoardError) {}

    func close() async {
        await leave()
        returning?.cancel()
        await returning?.value
    }

    private func leave() async {
        let isFirst = !hasLeft
        hasLeft = true
        await inner.close()
        await network.leave()
        if isFirst, isThereByHand { askToReturn() }
    }

    // MARK: if the user joins the network

    private func askToReturn() {
        tell(.returnByHand(wasAsked: wasAsked))
        returning = Task { [tell] in
            guard (try? await BoardNetworkAddress.wait(until: false)) != nil else { return }
            tell(.returnedByHand)
        }
    }

    /// Asks the board until it answers. If a person is there, the person is waited for until the time for finding the board is over.
    private func identifyOnceJoined(_ why: NetworkManagerError) async throws(BoardError) -> BoardIdentity {
        let isHere = BoardNetworkAddress.isHere
        if !isHere {
            wasAsked = true
            tell(.joinByHand(name, hasPassword: hasPassword, why: why.message, isWaitedFor: waitsForPerson))
        }
        var isTold = isHere
        while true {
            do throws(BoardError) {
                return try await identifyIfJoined(why) {
                    guard !isTold else { return }
                    isTold = true
                    tell(.joinedByHand(name))
                }
            } catch {
                let isAbsent = [.unavailable, .neverAnswered].contains(error.code)
                guard waitsForPerson, isAbsent, ContinuousClock.now < foundBy else { throw error }
            }
            await pauseUntilJoined()
        }
    }

    /// Waits for a moment; less if this machine joins a board's network meanwhile.
    private func pauseUntilJoined() async {
        let pause = min(Self.betweenQuestions, max(.zero, foundBy - ContinuousClock.now))
        if BoardNetworkAddress.isHere {
            try? await Task.sleep(for: min(pause, .milliseconds(500)))
            return
        }
        _ = await withDeadline(pause, sleep: { try await Task.sleep(for: $0) }) { () async throws in
            try await BoardNetworkAddress.wait(until: true)
        }
    }

    /// The board's address is asked this often, because it may also be reached through a router.
    private static let betweenQuestions = Duration.seconds(2)

    /// Asks the board, and repeats that if this machine gets an address in the network of boards meanwhile, because the running request
    /// went elsewhere.
    /// - Parameter joined: called before the board is asked in its own network.
    private func identifyIfJoined(
        _ why: NetworkManagerError, joined: () -> Void
    ) async throws(BoardError) -> BoardIdentity {
        let result: Result<BoardIdentity, BoardError>?
        if BoardNetworkAddress.isHere {
            result = nil
        } else {
            let board = inner
            result = await race(against: { try await BoardNetworkAddress.wait(until: true) }) {
                () async throws(BoardError) in try await board.identify()
            }
        }
        if case .success(let identity)? = result { return identity }
        if case .failure(let error)? = result, ![.unavailable, .neverAnswered].contains(error.code) { throw error }
        // If the board did not answer, or another device did, a new session asks again.
        await inner.close()
        inner = connect()
        guard case .failure(var error)? = result else {
            joined()
            return try await inner.identify()
        }
        let network = name.map { "the board's Wi-Fi network \($0)" } ?? "the board's Wi-Fi network (PROV_…)"
        // The device that answered is not the board: this machine is on another network.
        error.message =
            "This machine is not on \(network), and this program cannot join that network: \(why.message) Join the network yourself, and try again. "
            + "(\(error.message))"
        if error.reason == "not_a_board" { error.reason = nil }
        throw error
    }
}

/// Whether this machine has a route to the internet, or to other networks than its own (`/proc/net`, proc(5)).
enum DefaultRoute {
    static var exists: Bool {
        // Destination and gateway, as in the kernel's columns.
        rows("/proc/net/route").contains { $0.count > 1 && $0[1] == "00000000" } || leadsElsewhereBySix
    }

    /// Whether one of these routes does not lead through a board. A board's DHCP server names the board itself as the gateway.
    static var leadsElsewhere: Bool {
        let gateways = rows("/proc/net/route").filter { $0.count > 2 && $0[1] == "00000000" }.map {
            // In the order of the bytes in the network, printed as one number of this machine.
            UInt32(bigEndian: UInt32($0[2], radix: 16) ?? 0)
        }
        return gateways.contains { !BoardNetworkAddress.contains($0) } || leadsElsewhereBySix
    }

    /// The same for IPv6. Boards have no such route, but every machine has one over the loopback interface that leads nowhere.
    private static var leadsElsewhereBySix: Bool {
        rows("/proc/net/ipv6_route").contains { $0.count == 10 && $0[1] == "00" && $0[9] != "lo" }
    }

    /// Returns the words of each line, up to the size of a normal routing table.
    private static func rows(_ path: String) -> [[Substring]] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 14)
        while text.count < 1 << 20 {
            let count = read(descriptor, &piece, piece.count)
            guard count > 0 else { break }
            text += piece[..<count]
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map {
            $0.split { $0 == " " || $0 == "\t" }
        }
    }
}
