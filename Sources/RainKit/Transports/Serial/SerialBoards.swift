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

/// Opens serial ports, and waits where waiting helps: for a board that is about to be plugged in, for one that leaves the bus and comes
/// back, for udev to give the user rights to a new port, and for ModemManager to let go of one.
struct PortOpening: Sendable {
    /// A port, and what it was when it was opened, by which it is found again.
    struct OpenPort: Sendable {
        var port: SerialPort
        var description: SerialPortDescription
    }

    /// udev's rules are applied to a new port within this time.
    static let timeForRules = Duration.seconds(2)
    /// ModemManager looks at a port for no longer.
    static let timeForModemManager = Duration.seconds(40)
    /// A chip that restarts is back on the bus within this time: a second on a loaded machine.
    static let timeToComeBack = Duration.seconds(5)

    let files: SystemFiles
    let timer: any Clock<Duration>
    /// Until when a port that is not there may be plugged in; nil where that is an error.
    var waitsUntil: ContinuousClock.Instant?

    /// Throws `unavailable` with the reasons `no_port`, `port_denied` and `not_a_port`; `busy` with the programs that hold the port.
    func open(
        _ path: String, heard: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(ProvisioningError) -> OpenPort {
        let began = ContinuousClock.now
        var hasBeenAway = false
        var pause = Duration.milliseconds(20)
        while true {
            let failure: ProvisioningError
            let patience: ContinuousClock.Instant?
            do throws(SerialPortError) {
                let port = try SerialPort.open(path, heard: heard)
                let description = SerialPort.description(of: path, in: files)
                return OpenPort(port: port, description: description ?? SerialPortDescription(path: path))
            } catch {
                switch error.code {
                case .notFound:
                    (failure, patience) = (ProvisioningError(error), waitsUntil)
                    hasBeenAway = true
                case .denied:
                    (failure, patience) = (ProvisioningError(error), hasBeenAway ? began + Self.timeForRules : nil)
                case .busy:
                    let holders = SerialPort.holders(of: path, in: files)
                    let isTransient = holders.contains(where: \.isModemManager)
                    (failure, patience) = (.busy(error, holders), isTransient ? began + Self.timeForModemManager : nil)
                default: throw ProvisioningError(error)
                }
            }
            guard let patience, ContinuousClock.now < patience else { throw failure }
            try await sleep(&pause)
        }
    }

    /// The port that a board has now whose port went away; nil if it does not come back.
    func reopen(
        _ port: SerialPortDescription, heard: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(ProvisioningError) -> OpenPort? {
        let end = ContinuousClock.now + Self.timeToComeBack
        var pause = Duration.milliseconds(20)
        while ContinuousClock.now < end {
            if let next = SerialPort.successor(of: port, in: files),
                let open = try? SerialPort.open(next.path, heard: heard)
            {
                return OpenPort(port: open, description: next)
            }
            try await sleep(&pause)
        }
        return nil
    }

    /// The ports that look like a board's, once there is one or the time is over.
    func likely(
        _ ports: @Sendable () -> [SerialPortDescription]
    ) async throws(ProvisioningError) -> [SerialPortDescription] {
        var pause = Duration.milliseconds(20)
        while true {
            let found = ports()
            guard found.isEmpty, let waitsUntil, ContinuousClock.now < waitsUntil else { return found }
            try await sleep(&pause)
        }
    }

    func isProbedForModem(_ path: String) -> Bool { SerialPort.isProbedForModem(path, in: files) }

    private func sleep(_ pause: inout Duration) async throws(ProvisioningError) {
        do {
            try await timer.sleep(for: pause)
        } catch {
            throw ProvisioningError(.cancelled, message: "The operation was cancelled.")
        }
        pause = min(pause * 2, .milliseconds(250))
    }
}

extension ProvisioningError {
    init(_ error: SerialPortError) {
        let (code, reason): (Code, String?) =
            switch error.code {
            case .busy: (.busy, nil)
            case .lost: (.deviceLost, "port_gone")
            case .cancelled, .closed: (.cancelled, nil)
            case .notFound: (.unavailable, "no_port")
            case .denied: (.unavailable, "port_denied")
            case .notATerminal: (.unavailable, "not_a_port")
            default: (.unavailable, nil)
            }
        self.init(code, message: error.message, cause: error.description, reason: reason)
    }

    /// Names the programs that have the port open, where this user can see them.
    static func busy(_ error: SerialPortError, _ holders: [PortHolder]) -> ProvisioningError {
        var told = ProvisioningError(error)
        if holders.contains(where: \.isModemManager) {
            told.message =
                "ModemManager holds \(error.path): it tries whether the board is a modem, for half a minute after it was plugged in. Try "
                + "again then; a udev rule with ENV{ID_MM_DEVICE_IGNORE}=\"1\" keeps it away for good."
        } else if holders.isEmpty {
            told.message =
                "Another program holds this port. Close its serial monitor and try again; `sudo fuser -v \(ShellWord.quoted(error.path))` shows which it is."
        } else {
            let names = holders.prefix(3).map { "\($0.name) (process \($0.processID))" }.joined(separator: ", ")
            told.message = "Another program holds this port: \(names). Close it and try again."
        }
        return told
    }
}
