// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainIO

/// Boards on serial ports, whichever console their firmware has.
public struct SerialBoards: BoardTransport {
    public let scheme = "serial"
    public let options: [BoardOption] = [.location("port"), .forOther("device-host"), .forOther("adapter")]
    public let canDiscover = true
    public var hasBoardAtHand: Bool { ports().contains(where: \.isLikelyBoard) }
    let files: SystemFiles
    private let ports: @Sendable () -> [SerialPortDescription]

    /// - Parameters:
    ///   - files: where the system keeps what it knows of ports.
    ///   - ports: the serial ports of this machine; those that the system knows of if nil.
    public init(in files: SystemFiles = SystemFiles(), ports: (@Sendable () -> [SerialPortDescription])? = nil) {
        self.files = files
        self.ports = ports ?? { SerialPort.available(in: files) }
    }

    public func discover(
        _ search: BoardSearch, found: @Sendable (FoundBoard) async -> Bool
    ) async throws(ProvisioningError) {
        // A port does not say what its board is called.
        guard search.name == nil else { return }
        let end = ContinuousClock.now + search.time
        var told: Set<String> = []
        while true {
            for port in ports() where port.isLikelyBoard && told.insert(port.path).inserted {
                guard await found(FoundBoard(port)) else { return }
            }
            guard search.watches, ContinuousClock.now < end else { return }
            // A folder is read; no event of the kernel's is worth a connection to udev.
            do { try await Task.sleep(for: .milliseconds(200)) } catch {
                throw ProvisioningError(.cancelled, message: "The search was cancelled.")
            }
        }
    }

    public func board(at address: BoardAddress, _ opening: BoardOpening) async throws(ProvisioningError) -> any Board {
        let waiting = PortOpening(
            files: files, timer: opening.tools.timer, waitsUntil: opening.waitsForBoard ? opening.foundBy : nil)
        let path = try await chosen(address.location, waiting)
        return SerialBoard(path: path, parameters: address.parameters, in: files, opening: opening)
    }

    /// The port that is named, or else the one that looks like a board's.
    func chosen(_ path: String?, _ waiting: PortOpening) async throws(ProvisioningError) -> String {
        if let path { return path }
        let ports = try await waiting.likely(ports)
        let likely = ports.filter(\.isLikelyBoard)
        let choice = likely.isEmpty ? ports : likely
        if choice.count == 1 { return choice[0].path }
        guard !choice.isEmpty else {
            throw ProvisioningError(
                .unavailable, message: "No serial port with a board was found: plug one in.", reason: "no_port",
                remedies: [.waiting, .anyOtherTransport])
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

extension FoundBoard {
    init(_ port: SerialPortDescription) {
        self.init(.serial(port.path))
        detail = port.usb?.productName
    }
}
