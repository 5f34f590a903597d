// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import ProtocommTransports
import RainCore
import RainDBus

/// Boards that are already on this machine's network and can be added to an account there: RainMaker's on-network service, or its local
/// control with challenge and response. They are found by their announced name (Avahi), or by their address.
public struct OnNetworkBoards: BoardTransport {
    public let scheme = "on-network"
    public let options: [BoardOption] = [.location("device-host"), .parameter("device-name")]
    public let canDiscover = true
    public let isForConnectedBoards = true
    private let browser: ServiceBrowser

    /// - Parameter bus: the bus with Avahi; the system bus, which `DBUS_SYSTEM_BUS_ADDRESS` may name.
    public init(bus: DBusAddress = .system) { browser = ServiceBrowser(bus: bus) }

    public func discover(
        _ search: BoardSearch, found: @Sendable (FoundBoard) async -> Bool
    ) async throws(BoardError) {
        let heard = HeardOnNetwork(wanted: search.name)
        try await browse(for: search.time) { board in
            if let prefix = search.prefix, !board.name.lowercased().hasPrefix(prefix.lowercased()) { return true }
            guard await heard.take(board) else { return true }
            return await found(FoundBoard(.onNetwork(board.place), name: board.name, nodeID: board.nodeID))
        }
    }

    public func board(at address: BoardAddress, _ opening: BoardOpening) async throws(BoardError) -> any Board {
        if let location = address.location {
            let place = try HostAndPort(location)
            try place.checkInterface()
            return board(at: place, announced: nil, opening)
        }
        let found = try await announced(
            address.parameters["device-name"],
            as: address.parameters["service"].map { [$0] } ?? AnnouncedBoard.serviceTypes,
            by: opening.foundBy)
        return board(at: try HostAndPort(found.place), announced: found.security, opening)
    }

    private func board(
        at place: HostAndPort, announced: SecurityRequirement?, _ opening: BoardOpening
    ) -> any Board {
        opening.protocommBoard(
            over: SoftAPTransport(
                http: opening.tools.http(nil), host: place.host, port: place.port, names: .localControl,
                logger: opening.logger), announced: announced)
    }

    /// Returns the only board with that name, or the only one. After the first board, waits a moment for others: hosts answer a query within
    /// 120 ms (RFC 6762, 6), and a lost answer is requested again after a second.
    private func announced(
        _ name: String?, as types: [String], by end: ContinuousClock.Instant
    ) async throws(BoardError) -> AnnouncedBoard {
        let heard = HeardOnNetwork(wanted: name)
        let limit = min(.seconds(10), ContinuousClock.now.duration(to: end))
        try await browse(for: limit, types) { board in
            _ = await heard.take(board)
            return await heard.boards.candidates.isEmpty
        }
        if await heard.boards.unmistakable == nil, await !heard.boards.candidates.isEmpty {
            try await browse(for: min(.milliseconds(1500), limit), types) { board in
                _ = await heard.take(board)
                return await heard.boards.unmistakable == nil
            }
        }
        return try await heard.boards.choice()
    }

    private func browse(
        for limit: Duration, _ types: [String] = AnnouncedBoard.serviceTypes,
        _ found: @Sendable (AnnouncedBoard) async -> Bool
    ) async throws(BoardError) {
        do throws(ServiceDiscoveryError) {
            try await browser.browse(types, for: limit) { service in
                let board = AnnouncedBoard(service)
                // RainMaker Neo's firmware also announces boards that cannot be added to an account.
                guard board.signsChallenges else { return true }
                return await found(board)
            }
        } catch {
            throw BoardError(error)
        }
    }
}

extension BoardAddress {
    /// A board on this machine's network at a host, with or without `:PORT`; if none is given, the only one that is announced there.
    ///
    /// - Parameter name: the announced name: the board's name, its node id or its host's name.
    public static func onNetwork(_ host: String? = nil, name: String? = nil) -> BoardAddress {
        BoardAddress(scheme: "on-network", location: host, parameters: name.map { ["device-name": $0] } ?? [:])
    }

    /// The local control of a node on this machine's network (`LocalControl` of ESPProvisioning). The node is at a host, with or without
    /// `:PORT`, or is the one that is announced with that node id, name or host.
    public static func localControl(_ host: String? = nil, name: String? = nil) -> BoardAddress {
        var address = onNetwork(host, name: name)
        address.parameters["service"] = "_esp_local_ctrl._tcp"
        return address
    }
}

extension BoardError {
    fileprivate init(_ error: ServiceDiscoveryError) {
        let reason: String? =
            switch error.code {
            case .noBus: "no_bus"
            case .noAvahi: "no_avahi"
            case .notAllowed: "not_allowed"
            default: nil
            }
        self.init(
            error.code == .cancelled ? .cancelled : .unavailable,
            message: error.code == .cancelled
                ? error.message : "\(error.message) If you give the board's address, no search is needed.",
            reason: reason,
            remedies: error.code == .cancelled ? [] : [.host])
    }
}

/// The boards that a search has found, shared by its closures.
private actor HeardOnNetwork {
    private(set) var boards: AnnouncedBoards

    init(wanted: String?) { boards = AnnouncedBoards(wanted: wanted) }

    func take(_ board: AnnouncedBoard) -> Bool { boards.take(board) }
}

/// A board that announces itself on the network: `_esp_rmaker_chal_resp._tcp`, as in `esp_rmaker_on_network_chal_resp.c` of esp-rainmaker,
/// and its local control. RainMaker Neo's firmware announces `_esp_rmaker_ctrl._tcp` instead.
struct AnnouncedBoard: Equatable {
    static let serviceTypes = ["_esp_rmaker_chal_resp._tcp", "_esp_rmaker_ctrl._tcp"]

    /// The instance: the node's id, unless the firmware's maker chose another name.
    var name: String
    /// The board's id in the cloud, which is unique, if the board announces it.
    var nodeID: String?
    /// The host, such as `node1.local`.
    var host: String
    /// `HOST:PORT`.
    var place: String
    /// `sec_version` and `pop_required`, if the board announces the former.
    var security: SecurityRequirement?
    /// The services of RainMaker Neo's firmware (`cap`): `local_ctrl`, `ch_resp` or both; nil for other firmware.
    var capabilities: [String]?

    /// Whether the board can be added to an account over the network.
    var signsChallenges: Bool { capabilities?.contains("ch_resp") ?? true }

    init(_ service: DiscoveredService) {
        name = service.name
        nodeID = service.text["node_id"].flatMap { $0.isEmpty ? nil : $0 }
        host = service.host
        place = service.place
        capabilities = service.text["cap"].map { $0.split(separator: ",").map { $0.filter { $0 != " " } } }
        guard let version = service.text["sec_version"].flatMap({ Int($0) }), (0...2).contains(version) else { return }
        security = SecurityRequirement(
            version: version,
            // Firmware omits it for Security 2, which always needs one.
            needsProofOfPossession: version == 2
                || version == 1 && service.text["pop_required"]?.lowercased() != "false")
    }

    /// Whether both are the same board, found on several interfaces.
    func isSame(as other: AnnouncedBoard) -> Bool {
        if let nodeID, let id = other.nodeID { return nodeID == id }
        return name == other.name && host == other.host
    }

    /// A name that distinguishes it from all others.
    var label: String { nodeID ?? "\(name) (\(place))" }

    /// Whether a person may mean this board by the text: its node id, its host or its name. If a name is already used on the network, a
    /// host renames its services: `Lamp #2` (Avahi), `Lamp-2` (ESP-IDF's mdns).
    func answers(to text: String) -> Bool {
        let text = text.lowercased()
        return isNamed(exactly: text) || Self.withoutNumber(name.lowercased()) == text
    }

    /// Whether the text names only this board: `Lamp` may also mean `Lamp #2`.
    func isNamed(exactly text: String) -> Bool {
        let text = text.lowercased()
        let host = host.lowercased()
        return nodeID?.lowercased() == text || name.lowercased() == text || host == text || host == "\(text).local"
    }

    private static func withoutNumber(_ name: String) -> String? {
        let digits = name.reversed().prefix { $0.isASCII && $0.isNumber }.count
        let rest = name.dropLast(digits)
        guard (1...3).contains(digits) else { return nil }
        if rest.hasSuffix(" #") { return String(rest.dropLast(2)) }
        return rest.hasSuffix("-") ? String(rest.dropLast()) : nil
    }
}

/// The boards that a search has found so far, and the choice among them.
struct AnnouncedBoards {
    /// The name that the user gave; nil for the only board.
    let wanted: String?
    /// The boards that match, in order.
    private(set) var candidates: [AnnouncedBoard] = []

    init(wanted: String?) { self.wanted = wanted }

    /// Adds a board.
    ///
    /// - Returns: whether it is new, and matches.
    mutating func take(_ board: AnnouncedBoard) -> Bool {
        guard wanted.map({ board.answers(to: $0) }) ?? true, !candidates.contains(where: { board.isSame(as: $0) })
        else {
            return false
        }
        candidates.append(board)
        return true
    }

    /// The board with exactly that node id, which is unique, so that nothing else is waited for.
    var unmistakable: AnnouncedBoard? {
        guard let wanted else { return nil }
        return candidates.first { $0.nodeID?.lowercased() == wanted.lowercased() }
    }

    /// Returns the only board that matches. Throws `unavailable` if there is none, and `invalidArgument` with the choices if there are
    /// several.
    func choice() throws(BoardError) -> AnnouncedBoard {
        if let unmistakable { return unmistakable }
        guard let first = candidates.first else {
            let name = wanted.map { " \($0)" } ?? ""
            throw BoardError(
                .unavailable,
                message:
                    "No board\(name) announces itself on this machine's network. Check that the board is powered, on this network, and not in an "
                    + "account already.", reason: "not_found", remedies: [.boardName([]), .host])
        }
        guard candidates.count == 1 else {
            // "Lamp #2" names one board; "Lamp" may mean any of them.
            if let wanted, wanted.contains("#"), let exact = candidates.first(where: { $0.isNamed(exactly: wanted) }) {
                return exact
            }
            throw BoardError(
                .invalidArgument,
                message: wanted.map { "Several boards on the network are called \($0)." }
                    ?? "Several boards announce themselves on the network.", reason: "several_boards",
                remedies: [.boardName(candidates.map(\.label).sorted())])
        }
        return first
    }
}
