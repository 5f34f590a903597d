import Glibc
import RainKit
import RainCore

/// The board that the options name, and how to open it.
struct BoardTarget {
    enum Way {
        case serial(path: String?)
        case softAP(HostAndPort)
        /// Nil for whichever is heard.
        case bluetooth(BoardFilter?, adapter: String?)
    }

    let way: Way
    /// What the board's label calls it, where that is known.
    let label: String?
    private let credentials: BoardCredentials
    private let isDefaultHost: Bool

    init(_ options: DeviceOptions, _ context: Context, within time: TimeBudget) throws {
        let code = try Self.qrCode(options, context, within: time)
        credentials = try BoardCredentials(options, code, context, within: time)
        label = options.deviceName ?? code?.name
        let transport = Self.transport(options, code)
        switch transport {
        case .softap: way = .softAP(try HostAndPort(options.deviceHost))
        case .ble: way = .bluetooth((options.deviceName ?? code?.name).map(BoardFilter.named), adapter: options.adapter)
        case .serial, .auto: way = .serial(path: options.port)
        }
        isDefaultHost = transport == .softap && options.deviceHost == nil
    }

    /// What `auto` means: what was named, then what the QR code says, then the cable.
    private static func transport(_ options: DeviceOptions, _ code: QRPayload?) -> DeviceOptions.Transport {
        guard options.transport == .auto else { return options.transport }
        if options.deviceHost != nil { return .softap }
        if options.port != nil { return .serial }
        if options.adapter != nil { return .ble }
        switch code?.transport {
        case .softap: return .softap
        case .ble: return .ble
        case nil: break
        }
        let isCabled = SerialPort.available().contains(where: \.isLikelyBoard)
        return options.deviceName != nil && !isCabled ? .ble : .serial
    }

    /// Whether reaching the board takes this machine off its own network.
    var usesSharedRadio: Bool { if case .softAP = way { true } else { false } }

    /// Whether a person may still be joining the board's network: waiting for it makes sense.
    var mayAppearLater: Bool { isDefaultHost && StandardStreams.errIsTerminal }

    /// The board, of which nothing is touched yet. What ails this machine's Bluetooth is told at once.
    ///
    /// A board that is not heard is told of before the time is over: "not found" and what to try say more than "late".
    func open(_ context: Context, within time: TimeBudget) async throws -> any Board {
        try await time.run { try await open(context, within: time.left) }
    }

    private func open(_ context: Context, within limit: Duration) async throws -> any Board {
        switch way {
        case .bluetooth(let filter, let adapter):
            let foundBy = ContinuousClock.now + limit - min(.seconds(2), limit / 4)
            let central = try await BluetoothCentral.open(adapter: adapter, logger: context.logger)
            let board: BoardFilter
            if let filter { board = filter } else { board = try await Self.onlyBoard(central, by: foundBy) }
            return Boards.bluetooth(
                board, through: central, times: .init(foundBy: foundBy), credentials: credentials,
                logger: context.logger)
        case .softAP(let address):
            return Boards.softAP(
                host: address.host, port: address.port, credentials: credentials, logger: context.logger)
        case .serial(let path):
            return Boards.serial(
                path: try path ?? Self.onlyPort(), credentials: credentials, logger: context.logger)
        }
    }

    /// The one serial port that looks like a board.
    private static func onlyPort() throws(CommandFailure) -> String {
        let ports = SerialPort.available()
        let likely = ports.filter(\.isLikelyBoard)
        let choice = likely.isEmpty ? ports : likely
        if choice.count == 1 { return choice[0].path }
        if choice.isEmpty {
            throw CommandFailure(
                .unavailable, reason: "no_port",
                message:
                    "No serial port with a board was found: plug one in, name it (--port), or use --transport ble or softap."
            )
        }
        throw CommandFailure(
            .usage, reason: "several_ports",
            message:
                "Several ports could be the board: choose with --port \(choice.map(\.path).joined(separator: " or ")).")
    }

    private static func qrCode(
        _ options: DeviceOptions, _ context: Context, within time: TimeBudget
    ) throws -> QRPayload? {
        guard let text = options.qrcode else { return nil }
        let bytes: [UInt8]
        if text == "-" {
            bytes = try SecretSource.standardInput(name: "QR code", within: time.left).revealBytes()
        } else if access(text, R_OK) == 0 {
            bytes = try SecretSource.contents(of: text, name: "QR code", within: time.left).revealBytes()
        } else {
            bytes = Array(text.utf8)
            if text.contains("pop") || text.hasPrefix("NP:") {
                context.output.warn(
                    "the QR code on the command line can be read by other users; --qrcode FILE or - cannot.")
            }
        }
        let code: QRPayload
        do {
            code = try QRPayload(bytes)
        } catch {
            throw CommandFailure(.badData, reason: "bad_qr_code", message: error.message)
        }
        if let network = code.network, network != "wifi" {
            throw CommandFailure(
                .other, reason: "unsupported",
                message: "The QR code is of a board that joins another network than Wi-Fi: \(network.onOneLine).")
        }
        return code
    }
}
