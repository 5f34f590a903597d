// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Protocomm
import RainCore
import RainIO

/// Boards on serial ports, with any of the consoles.
public struct SerialBoards: BoardTransport {
    public let scheme = "serial"
    public let options: [BoardOption] = [.location("port"), .forOther("device-host"), .forOther("adapter")]
    public let canDiscover = true
    public var hasBoardAtHand: Bool { ports().contains(where: \.isLikelyBoard) }
    let files: SystemFiles
    private let ports: @Sendable () -> [SerialPortDescription]

    /// - Parameters:
    ///   - files: the folder where the system describes its ports.
    ///   - ports: the serial ports of this machine; those that the system lists if nil.
    public init(in files: SystemFiles = SystemFiles(), ports: (@Sendable () -> [SerialPortDescription])? = nil) {
        self.files = files
        self.ports = ports ?? { SerialPort.available(in: files) }
    }

    public func discover(
        _ search: BoardSearch, found: @Sendable (FoundBoard) async -> Bool
    ) async throws(BoardError) {
        // A port has no name of its board.
        guard search.name == nil else { return }
        let end = ContinuousClock.now + search.time
        var told: Set<String> = []
        if let error = rootFault { throw error }
        while true {
            for port in ports() where port.isLikelyBoard && told.insert(port.path).inserted {
                guard await found(FoundBoard(port)) else { return }
            }
            guard search.watches, ContinuousClock.now < end else { return }
            // Reading a folder is cheap; kernel events would need a connection to udev.
            let left = max(.zero, end - ContinuousClock.now)
            do { try await Task.sleep(for: min(left, .milliseconds(200))) } catch {
                throw BoardError(.cancelled, message: "The search was cancelled.")
            }
        }
    }

    /// Chooses the port. The board is probed once it is opened, so nothing is sent to it before a run has come that far.
    public func locate(
        _ address: BoardAddress, _ opening: BoardOpening
    ) async throws(BoardError) -> UnopenedBoard {
        let waiting = PortOpening(
            files: files, timer: opening.tools.timer, waitsUntil: opening.waitsForBoard ? opening.foundBy : nil)
        let path: String
        do throws(BoardError) {
            path = try await chosen(address.location, waiting)
        } catch {
            guard let host = address.parameters["device-host"], error.reason == "no_port" else { throw error }
            var error = error
            error.message =
                "No serial port with a board was found. The address \(host) works only if a board is on a cable and its log names its "
                + "access point."
            throw error
        }
        let opener = SerialBoardOpener(path: path, parameters: address.parameters, in: files, opening: opening)
        return UnopenedBoard(peer: path) { () async throws(BoardError) in try await opener.open() }
    }

    public func board(at address: BoardAddress, _ opening: BoardOpening) async throws(BoardError) -> any Board {
        try await locate(address, opening).open()
    }

    /// Returns why a port cannot be opened now: it does not exist, this user may not open it, or another program is using it. Nil if it can
    /// be opened.
    package func problem(at path: String) async -> BoardError? {
        let path = files.device(path)
        do throws(SerialPortError) {
            let port = try SerialPort.open(path) { _ in }
            await port.close()
        } catch {
            switch error.code {
            case .busy: return .busy(error, SerialPort.holders(of: path, in: files))
            case .notFound: return .absent(error, in: files)
            default: return BoardError(error)
            }
        }
        let holders = SerialPort.holders(of: path, in: files)
        return holders.isEmpty ? nil : .shared(path, with: holders)
    }

    /// The error for a root of the system that cannot be read; nil if it can be read.
    private var rootFault: BoardError? {
        files.fault.map { BoardError(.unavailable, message: $0, reason: "no_port") }
    }

    /// Returns the given port, or else the one that looks like a board's.
    func chosen(_ path: String?, _ waiting: PortOpening) async throws(BoardError) -> String {
        if let path { return files.device(path) }
        let ports = try await waiting.likely(ports)
        let likely = ports.filter(\.isLikelyBoard)
        let choice = likely.isEmpty ? ports : likely
        if choice.count == 1 { return choice[0].path }
        guard !choice.isEmpty else {
            if rootFault == nil, let port = SerialPort.withoutFile(in: files).first { throw .withoutFile(port) }
            throw rootFault
                ?? BoardError(
                    .unavailable,
                    message:
                        "No serial port with a board was found: no board is plugged in, or its cable carries only power.",
                    reason: "no_port",
                    remedies: [.waiting, .anyOtherTransport])
        }
        throw BoardError(
            .invalidArgument, message: "Several ports could belong to the board.", reason: "several_ports",
            remedies: [.port(choice.map(\.path))])
    }
}

extension BoardAddress {
    /// A board on a serial port; if no path is given, on the only one.
    public static func serial(_ path: String? = nil) -> BoardAddress { BoardAddress(scheme: "serial", location: path) }
}

extension FoundBoard {
    init(_ port: SerialPortDescription) {
        self.init(.serial(port.path))
        detail = port.usb?.productName
    }
}

/// Opens serial ports, and waits if that helps. It waits for a board that is about to be plugged in, for a removed port that returns, and
/// for ModemManager to release a port. It also waits for udev to give the user rights to a new port.
struct PortOpening: Sendable {
    /// An open port, and its description at that time, by which it is found again.
    struct OpenPort: Sendable {
        var port: SerialPort
        var description: SerialPortDescription
    }

    /// udev applies its rules to a new port within this time.
    static let timeForRules = Duration.seconds(2)
    /// ModemManager probes a port for no longer than this.
    static let timeForModemManager = Duration.seconds(40)
    /// The port of a chip that restarts is back within this time: a second on a loaded machine.
    static let timeToComeBack = Duration.seconds(5)

    let files: SystemFiles
    let timer: any Clock<Duration>
    /// Until when an absent port may be plugged in; nil if its absence is an error.
    var waitsUntil: ContinuousClock.Instant?

    /// Opens a port. Throws `unavailable` with the reasons `no_port`, `port_denied` and `not_a_port`; `busy` with the programs that use the
    /// port.
    func open(
        _ path: String, heard: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(BoardError) -> OpenPort {
        let began = ContinuousClock.now
        var hasBeenAway = false
        var pause = Duration.milliseconds(20)
        while true {
            let failure: BoardError
            let patience: ContinuousClock.Instant?
            do throws(SerialPortError) {
                let port = try SerialPort.open(path, heard: heard)
                let description = SerialPort.description(of: path, in: files)
                return OpenPort(port: port, description: description ?? SerialPortDescription(path: path))
            } catch {
                switch error.code {
                case .notFound:
                    (failure, patience) = (.absent(error, in: files), waitsUntil)
                    hasBeenAway = true
                case .denied:
                    (failure, patience) = (BoardError(error), hasBeenAway ? began + Self.timeForRules : nil)
                case .busy:
                    let holders = SerialPort.holders(of: path, in: files)
                    let isTransient = holders.contains(where: \.isModemManager)
                    (failure, patience) = (.busy(error, holders), isTransient ? began + Self.timeForModemManager : nil)
                default: throw BoardError(error)
                }
            }
            guard let patience, ContinuousClock.now < patience else { throw failure }
            try await sleep(&pause)
        }
    }

    /// Opens the new port of a board whose port was removed; returns nil if it does not return.
    /// - Parameter end: nil for the time in which a chip that restarts is back.
    func reopen(
        _ port: SerialPortDescription, heard: @escaping @Sendable ([UInt8]) -> Void,
        until end: ContinuousClock.Instant? = nil
    ) async throws(BoardError) -> OpenPort? {
        let end = end ?? ContinuousClock.now + Self.timeToComeBack
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

    /// Returns the ports that look like a board's, once there is one or the time is over.
    func likely(
        _ ports: @Sendable () -> [SerialPortDescription]
    ) async throws(BoardError) -> [SerialPortDescription] {
        var pause = Duration.milliseconds(20)
        while true {
            let found = ports()
            guard found.isEmpty, let waitsUntil, ContinuousClock.now < waitsUntil else { return found }
            try await sleep(&pause)
        }
    }

    func holders(_ path: String) -> [PortHolder] { SerialPort.holders(of: path, in: files) }

    func isProbedForModem(_ path: String) -> Bool { SerialPort.isProbedForModem(path, in: files) }

    private func sleep(_ pause: inout Duration) async throws(BoardError) {
        do {
            try await timer.sleep(for: pause)
        } catch {
            throw BoardError(.cancelled, message: "The operation was cancelled.")
        }
        pause = min(pause * 2, .milliseconds(250))
    }
}

extension BoardError {
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

    /// The error for a port that does not exist, with the name that was probably meant, or the ports that are present.
    static func absent(_ error: SerialPortError, in files: SystemFiles) -> BoardError {
        var told = BoardError(error)
        let path = error.path
        if let port = SerialPort.withoutFile(in: files).first(where: { $0.path == path }) { return withoutFile(port) }
        if !path.contains("/"), case let device = files.device("/dev/" + path),
            SerialPort.description(of: device, in: files) != nil
        {
            told.message = "The port \(path.onOneLine) does not exist. Did you mean \(device.onOneLine)?"
            return told
        }
        let digits = path.dropFirst(3)
        if path.prefix(3).lowercased() == "com", !digits.isEmpty, digits.allSatisfy(\.isNumber) {
            told.message =
                "\(path.onOneLine) is the name of a port on Windows. On Linux, ports have names such as /dev/ttyUSB0."
        }
        let present = SerialPort.available(in: files).map(\.path)
        if !present.isEmpty { told.remedies = [.port(present)] }
        return told
    }

    /// The error for a board that is plugged in, but has no device file.
    static func withoutFile(_ port: SerialPortDescription) -> BoardError {
        let name = port.path.split(separator: "/").last.map(String.init) ?? port.path
        let device = port.usb?.productName.map { "The USB device \"\($0.onOneLine)\"" } ?? "A board's USB adapter"
        return BoardError(
            .unavailable,
            message:
                "\(device) is plugged in, but its port \(port.path.onOneLine) does not exist here. If this is a container, pass the port "
                + "into it, such as with `docker run --device /dev/\(name)`. If it is not a container, check that udev is running.",
            reason: "no_port")
    }

    /// Names the programs that have the port open, as far as this user can see them.
    static func busy(_ error: SerialPortError, _ holders: [PortHolder]) -> BoardError {
        var told = BoardError(error)
        if holders.contains(where: \.isModemManager) {
            told.message =
                "ModemManager is using \(error.path). For half a minute after the board is plugged in, ModemManager checks whether the board is a modem. Try again after this time. A udev rule with ENV{ID_MM_DEVICE_IGNORE}=\"1\" keeps ModemManager away permanently."
        } else if holders.isEmpty {
            told.message =
                "Another program is using this port. Close that program, such as a serial monitor, and try again; `sudo fuser -v "
                + "\(ShellWord.quoted(error.path))` shows which program it is."
        } else {
            told.message = "Another program is using this port: \(names(holders)). Close that program and try again."
        }
        return told
    }

    /// Another program opened the port before, and did not lock it.
    static func shared(_ path: String, with holders: [PortHolder]) -> BoardError {
        BoardError(
            .busy,
            message:
                "Another program also has \(path) open, and may be reading the board's output: \(names(holders)). Close that program and try again."
        )
    }

    /// The port of a board that had not been found by then.
    static func portGone(_ path: String) -> BoardError {
        BoardError(
            .unavailable,
            message:
                "The port \(path) was removed and has not returned: check the cable, and that the board has power.",
            reason: BoardError.portGone)
    }

    private static func names(_ holders: [PortHolder]) -> String {
        holders.prefix(3).map { "\($0.name) (process \($0.processID))" }.joined(separator: ", ")
    }
}
