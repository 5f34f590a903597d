// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import ProtocommTransports
import RainDBus

/// Boards that answer HTTP: on their own access point, which this machine joins through NetworkManager or has joined, or elsewhere.
public struct SoftAPBoards: BoardTransport {
    public let scheme = "softap"
    public let options: [BoardOption] = [.location("device-host"), .parameter("device-name")]
    public let leavesNetwork = true
    public let canDiscover = true
    let bus: DBusAddress

    /// - Parameter bus: where NetworkManager is; the system's bus, which `DBUS_SYSTEM_BUS_ADDRESS` may name.
    public init(bus: DBusAddress = .system) { self.bus = bus }

    /// Nobody joins a board's network for an address of their own.
    public func mayAppearLater(_ address: BoardAddress) -> Bool { address.location == nil }

    public func board(at address: BoardAddress, _ opening: BoardOpening) async throws(ProvisioningError) -> any Board {
        let place = try address.location.map { text throws(ProvisioningError) in try HostAndPort(text) }
        try place?.checkInterface()
        let (host, port) = (place?.host ?? SoftAPTransport.defaultHost, place?.port ?? 80)
        let connect: @Sendable () -> any Board = {
            opening.protocommBoard(
                over: SoftAPTransport(http: opening.tools.http(nil), host: host, port: port, logger: opening.logger))
        }
        // An address of its own is on a network that is none of the board's.
        guard place == nil else { return connect() }
        let request = BoardNetwork.Request(
            name: address.parameters["device-name"], password: opening.credentials.accessPointPassphrase, bus: bus,
            journal: opening.state.map { NetworkJournal(folder: $0) }, foundBy: opening.foundBy,
            randomBytes: opening.tools.randomBytes, logger: opening.logger, tell: opening.networkChange)
        return SoftAPBoard(request, peer: "\(host):\(port)", connect: connect)
    }
}

extension BoardAddress {
    /// A board at a host, with or without `:PORT`; at the address that boards have on their own access point, if none is given.
    ///
    /// - Parameter name: the board's name, which is its network's; where NetworkManager runs, that is joined for the conversation. Of no
    ///   effect with a host.
    public static func softAP(_ host: String? = nil, name: String? = nil) -> BoardAddress {
        BoardAddress(scheme: "softap", location: host, parameters: name.map { ["device-name": $0] } ?? [:])
    }
}
