// SPDX-License-Identifier: Apache-2.0
import DeviceCore

extension FirmwareSim {
    /// Whether there is a way to give the board its network.
    var isProvisionable: Bool { listening.http != nil || listening.hasConsole || bluetooth.isServed }

    /// A board that nobody can provision, or whose log says that it was, is on its network from the start.
    var isOnNetworkAlready: Bool {
        guard listening.onNetwork != nil || listening.localControl != nil else { return false }
        return !isProvisionable || listening.hasConsole && listening.bootLog == .provisioned
    }

    /// Serves challenge and response from the moment at which the board is on its network, by whichever way it came there.
    /// - Returns: where.
    func serveOnNetwork(_ address: BindAddress, _ board: Board, on loop: EventLoop) throws -> String {
        let server = try SoftAPServer(address, board: board, service: .onNetwork)
        loop.add(server)
        if listening.announce {
            loop.add(
                try AvahiAnnouncement(
                    board, .onNetwork(security: firmware.security), port: server.address.port,
                    name: listening.announceAs ?? board.nodeID))
        }
        board.observe { [weak board] event in
            if case .joined = event { board?.startOnNetworkService() }
        }
        return server.address.description
    }
}
