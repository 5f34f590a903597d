import Glibc
import RainKit
import Vocabulary

/// The board that the options name, and how to open it.
struct BoardTarget {
    enum Way {
        case serial(path: String?)
        case softAP(HostAndPort)
        /// Nil for whichever is heard.
        case bluetooth(BoardFilter?, adapter: String?)
    }

    let way: Way
    private let credentials: BoardCredentials
    private let isDefaultHost: Bool

    init(_ options: DeviceOptions, context: Context) throws {
        let code = try Self.qrCode(options, context)
        let given = try Self.proofOfPossession(options, context)
        let proof = given ?? code?.proofOfPossession
        let source = SecretSource(name: "proof of possession", flag: "--pop")
        let globals = context
        var credentials = BoardCredentials(
            username: options.username ?? code?.username ?? BoardCredentials.defaultUsername,
            securityVersion: options.securityVersion
        ) {
            if let proof { return proof }
            guard globals.mayAsk else { return nil }
            return (try? source.prompt(mayAsk: true)).map { ProofOfPossession($0) }
        }
        // What the label says cannot be talked down by whoever answers in clear; the user can.
        if options.securityVersion == nil, let code { credentials.leastSecurity = code.leastSecurity }
        if proof != nil, options.securityVersion != 0 {
            credentials.whenUnproven = { security in
                if StandardStreams.errIsTerminal { StandardStreams.err("\r\u{1B}[2K") }
                globals.output.warn(
                    security.version == 0
                        ? "the board speaks Security 0, so the proof of possession is not used and all goes in clear, the "
                            + "Wi-Fi password too; --sec-ver 1 or 2 refuses such a board."
                        : "the board wants no proof of possession, so the one given is not used: nothing shows that this "
                            + "is the board it belongs to.")
            }
        }
        self.credentials = credentials

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
    /// - Parameter limit: the command's time. A board that is not heard is told of before that is over: "not found" and what to try
    ///   say more than "late".
    func open(_ context: Context, within limit: Duration) async throws -> any Board {
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

    /// The one board that is heard, and that nobody on this machine talks to. Once the first is, others get a moment to be heard as well.
    private static func onlyBoard(_ central: BluetoothCentral, by end: ContinuousClock.Instant) async throws
        -> BoardFilter
    {
        let heard = HeardBoards()
        let limit = min(.seconds(20), ContinuousClock.now.duration(to: end))
        try await central.discover(.anyBoard, for: limit, includesConnected: false) {
            await heard.add($0, isEnough: true)
        }
        if await !heard.boards.isEmpty {
            try await central.discover(.anyBoard, for: .milliseconds(1500), includesConnected: false) {
                await heard.add($0)
            }
        }
        let boards = await heard.boards
        guard let first = boards.first else {
            throw CommandFailure(
                .unavailable, reason: "not_found",
                message: "No board was heard over Bluetooth: check that it is powered, near, and in provisioning mode. "
                    + "One that this machine is connected to is taken only by its name (--device-name).")
        }
        guard boards.count == 1 else {
            let names = boards.map(\.label.onOneLine).sorted().joined(separator: " or ")
            throw CommandFailure(
                .usage, reason: "several_boards",
                message: "Several boards are heard: choose with --device-name \(names).")
        }
        return .address(first.address)
    }

    private static func qrCode(_ options: DeviceOptions, _ context: Context) throws -> QRPayload? {
        guard let text = options.qrcode else { return nil }
        let bytes: [UInt8]
        if text == "-" {
            bytes = try SecretSource.standardInput(name: "QR code").revealBytes()
        } else if access(text, R_OK) == 0 {
            bytes = try SecretSource.contents(of: text, name: "QR code").revealBytes()
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

    private static func proofOfPossession(
        _ options: DeviceOptions, _ context: Context
    ) throws(CommandFailure) -> ProofOfPossession? {
        let source = SecretSource(
            name: "proof of possession", flag: "--pop", value: options.pop, file: options.popFile,
            fromStandardInput: options.popStdin, environmentVariable: "RAINKIT_POP")
        return try source.read(environment: context.environment, output: context.output).map { ProofOfPossession($0) }
    }
}

/// `HOST`, `HOST:PORT`, `[IPV6]` or `[IPV6]:PORT`; a board's own access point where nothing is given.
struct HostAndPort: Equatable {
    var host: String
    var port: Int

    init(_ text: String?) throws(CommandFailure) {
        guard let text else {
            (host, port) = (SoftAPTransport.defaultHost, 80)
            return
        }
        let end =
            text.hasPrefix("[") ? text.firstIndex(of: "]").map { text.index(after: $0) } : text.firstIndex(of: ":")
        let (host, rest) = (text[..<(end ?? text.endIndex)], text[(end ?? text.endIndex)...])
        let port = rest.isEmpty ? 80 : rest.hasPrefix(":") ? Int(rest.dropFirst()) ?? 0 : 0
        let allowed = host.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"/?#@%\\".utf8.contains($0) }
        guard !host.isEmpty, allowed, (1...65535).contains(port) else {
            throw CommandFailure(.usage, message: "--device-host takes HOST or HOST:PORT.")
        }
        self.host = String(host)
        self.port = port
    }
}

/// What was heard so far.
actor HeardBoards {
    private(set) var boards: [DiscoveredBoard] = []

    /// True where listening goes on.
    func add(_ board: DiscoveredBoard, isEnough: Bool = false) -> Bool {
        if !boards.contains(where: { $0.address == board.address }) { boards.append(board) }
        return !isEnough
    }
}

extension BoardFilter {
    /// A name, or an address where it looks like one.
    static func named(_ text: String) -> BoardFilter {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let isAddress = parts.count == 6 && parts.allSatisfy { $0.utf8.count == 2 && UInt8($0, radix: 16) != nil }
        return isAddress ? .address(text) : .name(text)
    }
}
