// SPDX-License-Identifier: Apache-2.0
import RainKit

/// A board that was found: on a cable with its port, over Bluetooth with all that it advertises.
struct DiscoveredBoardResult: CommandResult {
    let transport: String
    var port: String?
    var address: String?
    var name: String?
    /// In dBm; nil for a board that somebody is connected to, which is not heard.
    var rssi: Int?
    var services: [String]?
    var connected: Bool?
    /// Its id in the cloud, where it announces that.
    var nodeID: String?

    private enum CodingKeys: String, CodingKey {
        case transport, port, address, name, rssi, services, connected
        case nodeID = "node_id"
    }

    var text: String {
        if let port { return port }
        if let nodeID { return "\(name?.onOneLine ?? "(no name)")  \(address ?? "")  node \(nodeID.onOneLine)" }
        let strength = rssi.map { "\($0) dBm" } ?? "connected"
        return "\(name?.onOneLine ?? "(no name)")  \(address ?? "")  \(strength)"
    }
}

extension DiscoveredBoardResult {
    init(_ board: FoundBoard) {
        let isPort = Transports.having(option: "port").contains { $0.scheme == board.address.scheme }
        self.init(
            transport: board.address.scheme, port: isPort ? board.address.location : nil,
            address: isPort ? nil : board.address.location, name: board.name, rssi: board.signal,
            services: board.services, connected: board.isConnected, nodeID: board.nodeID)
    }
}
