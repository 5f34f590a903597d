// SPDX-License-Identifier: Apache-2.0
import DeviceCore

extension FirmwareSim {
    /// Serves the node's properties from the moment at which the board is on its network, by whichever way it came there.
    /// - Returns: where.
    func serveLocalControl(_ address: BindAddress, _ board: Board, on loop: EventLoop) throws -> String {
        let server = try SoftAPServer(address, board: board, service: .localControl)
        loop.add(server)
        if listening.announce {
            loop.add(
                try AvahiAnnouncement(
                    board, .localControl, port: server.address.port, name: listening.announceAs ?? board.nodeID))
        }
        board.observe { [weak board] event in
            if case .joined = event { board?.startLocalControl() }
        }
        return server.address.description
    }
}
