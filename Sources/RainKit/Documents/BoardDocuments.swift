// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore

// The documents of boards in reach: what was found, and the outcome of provisioning, claiming and asking one.

/// The result of an onboarding.
package struct ProvisionResult: Encodable, Sendable {
    package let nodeID: String?
    /// The board's address, which is empty if the board did not report it, and its network. Both are nil if the Wi-Fi was not changed. The
    /// name is also nil if it is not text; `ssidHex` always has it.
    package let ip: String?
    package let ssid: String?
    package let mapping: String
    package let claimed: Bool
    package let resumed: Bool
    package let elapsedMs: Int64
    package let ssidHex: String?
    /// The answers of the board's application; absent if nothing was sent to it.
    package var customData: [SendResult]?
    /// The name that the board was given; absent if none was requested, or if it could not be given.
    package var name: String?
}

extension ProvisionResult {
    package init(_ node: OnboardedNode) {
        nodeID = node.nodeID?.rawValue
        ip = node.network?.address
        ssid = node.network?.ssid.argument
        ssidHex = node.network?.ssid.hex
        mapping = node.mapping.rawValue
        claimed = node.claimed
        resumed = node.resumed
        elapsedMs = Int64(node.elapsed / .milliseconds(1))
        name = node.name
        customData =
            node.customData.isEmpty ? nil : node.customData.map { SendResult($0.endpoint, answered: $0.payload) }
    }
}

extension SSID {
    /// The name as an argument of a command, byte for byte. Nil for a name that is not text or that no argument can hold; documents have
    /// its bytes as `ssid_hex`.
    package var argument: String? {
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// The outcome of a claim: the board's new node id, or that there was nothing to claim.
package struct ClaimResult: Encodable, Sendable {
    package let nodeID: String?
    package let claimed: Bool
    /// For a claim by the host: the board's address, the file with its credentials, or their flash address.
    package var mac: String?
    package var image: String?
    package var flashAddress: String?
    @TextOnly package var port: String? = nil
}

extension ClaimResult {
    package init(_ node: OnboardedNode) {
        nodeID = node.claimed ? node.nodeID?.rawValue : nil
        claimed = node.claimed
    }

    /// The outcome of a claim by the host.
    package init(_ claim: CableClaim) {
        nodeID = claim.node.rawValue
        claimed = true
        mac = claim.mac
        switch claim.place {
        case .file(let path): image = path
        case .flash(let port, let address): (self.port, flashAddress) = (port, address.hexadecimal)
        }
    }
}

/// The answer of the application at an endpoint.
package struct SendResult: Encodable, Sendable {
    package let endpoint: String
    /// The number of bytes sent.
    package let bytes: Int?
    /// The answer if it is text.
    package let answer: String?
    package let answerHex: String

    package init(_ endpoint: String, sent: [UInt8]? = nil, answered: [UInt8]) {
        self.endpoint = endpoint
        bytes = sent?.count
        answerHex = Hex.text(answered)
        // ESP-IDF's example sends a C string, with the zero at its end.
        let trimmed = answered.last == 0 ? answered.dropLast() : answered[...]
        let text = String(validating: trimmed, as: UTF8.self)
        answer = text.flatMap { $0.withoutControls == $0 ? $0 : nil }
    }
}

/// All boards that were found.
package struct DiscoveryResult: Encodable, Sendable {
    package let boards: [DiscoveredBoardResult]

    package init(boards: [DiscoveredBoardResult]) { self.boards = boards }
}

/// A board that was found: on a cable with its port, over Bluetooth with its advertised data.
package struct DiscoveredBoardResult: Encodable, Sendable {
    package let transport: String
    package var port: String?
    package var address: String?
    package var name: String?
    /// The signal strength in dBm; nil for a connected board, which does not advertise.
    package var rssi: Int?
    package var services: [String]?
    package var connected: Bool?
    /// The board's node id, if it announces one.
    package var nodeID: String?
}

extension DiscoveredBoardResult {
    /// - Parameter transports: the transports of the search. Those with an option `port` have ports, and the others addresses.
    package init(_ board: FoundBoard, over transports: [any BoardTransport] = .standard) {
        let isPort = transports.contains { transport in
            transport.scheme == board.address.scheme && transport.options.contains { $0.name == "port" }
        }
        self.init(
            transport: board.address.scheme, port: isPort ? board.address.location : nil,
            address: isPort ? nil : board.address.location, name: board.name, rssi: board.signal,
            services: board.services, connected: board.isConnected, nodeID: board.nodeID)
    }
}

/// The event of a search for a board that was found.
package struct FoundEvent: Encodable, Sendable {
    private let board: DiscoveredBoardResult

    private enum CodingKeys: CodingKey { case event }

    package init(_ board: DiscoveredBoardResult) { self.board = board }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("found", forKey: .event)
        try board.encode(to: encoder)
    }
}

/// The event of a search for a warning.
package struct WarningEvent: Encodable, Sendable {
    package let event = "warning"
    package let reason: String
    package let message: String

    package init(_ warning: Warning) { (reason, message) = (warning.reason, warning.message) }
}
