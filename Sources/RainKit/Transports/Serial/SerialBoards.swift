// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainSerialPort

/// Boards on serial ports, whichever console their firmware has.
public struct SerialBoards: BoardTransport {
    public let scheme = "serial"
    public let options: [BoardOption] = [.location("port"), .forOther("device-host"), .forOther("adapter")]
    public let canDiscover = true
    public var hasBoardAtHand: Bool { ports().contains(where: \.isLikelyBoard) }
    private let ports: @Sendable () -> [SerialPortDescription]

    /// - Parameter ports: the serial ports of this machine.
    public init(ports: @escaping @Sendable () -> [SerialPortDescription] = { SerialPort.available() }) {
        self.ports = ports
    }

    public func discover(
        _ search: BoardSearch, found: @Sendable (FoundBoard) async -> Bool
    ) async throws(ProvisioningError) {
        // A port does not say what its board is called.
        guard search.name == nil else { return }
        for port in ports() where port.isLikelyBoard {
            guard await found(FoundBoard(.serial(port.path))) else { return }
        }
    }

    public func board(at address: BoardAddress, _ opening: BoardOpening) async throws(ProvisioningError) -> any Board {
        let path: String
        if let location = address.location { path = location } else { path = try onlyPort() }
        let isOwnUSB = ports().contains { $0.path == path && $0.usb?.adapter.isChipsOwn == true }
        return SerialBoard(path: path, parameters: address.parameters, isOwnUSB: isOwnUSB, opening: opening)
    }

    /// The one port that looks like a board's.
    private func onlyPort() throws(ProvisioningError) -> String {
        let ports = ports()
        let likely = ports.filter(\.isLikelyBoard)
        let choice = likely.isEmpty ? ports : likely
        if choice.count == 1 { return choice[0].path }
        guard !choice.isEmpty else {
            throw ProvisioningError(
                .unavailable, message: "No serial port with a board was found: plug one in.", reason: "no_port",
                remedies: [.port([]), .anyOtherTransport])
        }
        throw ProvisioningError(
            .invalidArgument, message: "Several ports could be the board.", reason: "several_ports",
            remedies: [.port(choice.map(\.path))])
    }
}

extension BoardAddress {
    /// A board on a serial port; on the only one if no path is given.
    public static func serial(_ path: String? = nil) -> BoardAddress { BoardAddress(scheme: "serial", location: path) }
}
