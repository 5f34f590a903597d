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

    var text: String {
        if let port { return port }
        let strength = rssi.map { "\($0) dBm" } ?? "connected"
        return "\(name?.onOneLine ?? "(no name)")  \(address ?? "")  \(strength)"
    }
}

extension DiscoveredBoardResult {
    init(_ port: SerialPortDescription) { self.init(transport: "serial", port: port.path) }

    init(_ board: DiscoveredBoard) {
        self.init(
            transport: "ble", address: board.address, name: board.name, rssi: board.rssi,
            services: board.serviceUUIDs, connected: board.isConnected)
    }
}
