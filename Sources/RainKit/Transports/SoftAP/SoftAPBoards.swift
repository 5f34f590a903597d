// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import ProtocommSoftAP

/// Boards that answer HTTP: on their own access point, which this machine has joined, or elsewhere.
public struct SoftAPBoards: BoardTransport {
    public let scheme = "softap"
    public let options: [BoardOption] = [.location("device-host")]
    public let leavesNetwork = true

    public init() {}

    /// Nobody joins a board's network for an address of their own.
    public func mayAppearLater(_ address: BoardAddress) -> Bool { address.location == nil }

    public func board(at address: BoardAddress, _ opening: BoardOpening) async throws(ProvisioningError) -> any Board {
        let place = try address.location.map { text throws(ProvisioningError) in try HostAndPort(text) }
        return opening.protocommBoard(
            over: SoftAPTransport(
                http: opening.tools.http(nil), host: place?.host ?? SoftAPTransport.defaultHost,
                port: place?.port ?? 80, logger: opening.logger))
    }
}

extension BoardAddress {
    /// A board at a host, with or without `:PORT`; at the address that boards have on their own access point, if none is given.
    public static func softAP(_ host: String? = nil) -> BoardAddress { BoardAddress(scheme: "softap", location: host) }
}
