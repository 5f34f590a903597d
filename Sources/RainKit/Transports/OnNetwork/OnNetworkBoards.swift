// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import ProtocommTransports
import RainCore
import RainDBus

/// Boards that are on the network of this machine already, and let themselves be put into an account there: RainMaker's on-network service,
/// or its local control with challenge and response. They are found by the name that they announce (Avahi), or reached by their address.
public struct OnNetworkBoards: BoardTransport {
    public let scheme = "on-network"
    public let options: [BoardOption] = [.location("device-host"), .parameter("device-name")]
    public let canDiscover = true
    public let isForConnectedBoards = true
    private let browser: ServiceBrowser

    /// - Parameter bus: where Avahi is; the system's bus, which `DBUS_SYSTEM_BUS_ADDRESS` may name.
    public init(bus: DBusAddress = .system) { browser = ServiceBrowser(bus: bus) }

    public func discover(
        _ search: BoardSearch, found: @Sendable (FoundBoard) async -> Bool
    ) async throws(ProvisioningError) {
        let heard = HeardOnNetwork(wanted: search.name)
        try await browse(for: search.time) { board in
            if let prefix = search.prefix, !board.name.lowercased().hasPrefix(prefix.lowercased()) { return true }
            guard await heard.take(board) else { return true }
            return await found(FoundBoard(.onNetwork(board.place), name: board.name, nodeID: board.nodeID))
        }
    }

    public func board(at address: BoardAddress, _ opening: BoardOpening) async throws(ProvisioningError) -> any Board {
        if let location = address.location {
            let place = try HostAndPort(location)
            try place.checkInterface()
            return board(at: place, announced: nil, opening)
        }
        let found = try await announced(
            address.parameters["device-name"], as: address.parameters["service"] ?? AnnouncedBoard.serviceType,
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

    /// The one board of that name, or the only one. Once the first is heard, others get a moment to be heard as well: hosts answer a question
    /// within 120 ms (RFC 6762, 6), and one whose answer was lost is asked again after a second.
    private func announced(
        _ name: String?, as type: String, by end: ContinuousClock.Instant
    ) async throws(ProvisioningError) -> AnnouncedBoard {
        let heard = HeardOnNetwork(wanted: name)
        let limit = min(.seconds(10), ContinuousClock.now.duration(to: end))
        try await browse(for: limit, type) { board in
            _ = await heard.take(board)
            return await heard.boards.candidates.isEmpty
        }
        if await heard.boards.unmistakable == nil, await !heard.boards.candidates.isEmpty {
            try await browse(for: min(.milliseconds(1500), limit), type) { board in
                _ = await heard.take(board)
                return await heard.boards.unmistakable == nil
            }
        }
        return try await heard.boards.choice()
    }

    private func browse(
        for limit: Duration, _ type: String = AnnouncedBoard.serviceType,
        _ found: @Sendable (AnnouncedBoard) async -> Bool
    ) async throws(ProvisioningError) {
        do throws(ServiceDiscoveryError) {
            try await browser.browse(type, for: limit) { await found(AnnouncedBoard($0)) }
        } catch {
            throw ProvisioningError(error)
        }
    }
}

extension BoardAddress {
    /// A board on this machine's network at a host, with or without `:PORT`; the only one that is announced there, if none is given.
    /// - Parameter name: what the board announces: its name, its node id or its host's name.
    public static func onNetwork(_ host: String? = nil, name: String? = nil) -> BoardAddress {
        BoardAddress(scheme: "on-network", location: host, parameters: name.map { ["device-name": $0] } ?? [:])
    }

    /// The local control of a node on this machine's network (`LocalControl` of ESPProvisioning): at a host, with or without `:PORT`, or the one
    /// that is announced by that node id, name or host.
    public static func localControl(_ host: String? = nil, name: String? = nil) -> BoardAddress {
        var address = onNetwork(host, name: name)
        address.parameters["service"] = "_esp_local_ctrl._tcp"
        return address
    }
}

extension ProvisioningError {
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
                ? error.message : "\(error.message) A board whose address is known needs none of this.", reason: reason,
            remedies: error.code == .cancelled ? [] : [.host])
    }
}

/// What a search has heard, which its closures share.
private actor HeardOnNetwork {
    private(set) var boards: BoardsHeard

    init(wanted: String?) { boards = BoardsHeard(wanted: wanted) }

    func take(_ board: AnnouncedBoard) -> Bool { boards.take(board) }
}
