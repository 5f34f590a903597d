import Glibc
import RainKit
import Vocabulary

/// The board that the options name, and how to open it.
struct BoardTarget {
    enum Way { case serial(path: String?), softAP(HostAndPort) }

    let way: Way
    private let credentials: BoardCredentials
    private let isDefaultHost: Bool

    init(_ options: DeviceOptions, context: Context) throws {
        let code = try Self.qrCode(options, context)
        let given = try Self.proofOfPossession(options, context)
        let proof = given ?? code?.proofOfPossession
        let source = SecretSource(name: "proof of possession", flag: "--pop")
        let globals = context
        credentials = BoardCredentials(
            username: options.username ?? code?.username ?? BoardCredentials.defaultUsername,
            securityVersion: options.securityVersion
        ) {
            if let proof { return proof }
            guard globals.mayAsk else { return nil }
            return (try? source.prompt(mayAsk: true)).map { ProofOfPossession($0) }
        }

        let speaksHTTP =
            switch options.transport {
            case .serial: false
            case .softap: true
            case .auto: options.deviceHost != nil || options.port == nil && code?.transport == .softap
            }
        way = speaksHTTP ? .softAP(try HostAndPort(options.deviceHost)) : .serial(path: options.port)
        isDefaultHost = speaksHTTP && options.deviceHost == nil
    }

    /// Whether reaching the board takes this machine off its own network.
    var usesSharedRadio: Bool { if case .softAP = way { true } else { false } }

    /// Whether a person may still be joining the board's network: waiting for it makes sense.
    var mayAppearLater: Bool { isDefaultHost && StandardStreams.errIsTerminal }

    /// The board, of which nothing is touched yet.
    func open(_ context: Context) throws -> any Board {
        switch way {
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
                    "No serial port with a board was found: plug one in, name it (--port), or use --transport softap.")
        }
        throw CommandFailure(
            .usage, reason: "several_ports",
            message:
                "Several ports could be the board: choose with --port \(choice.map(\.path).joined(separator: " or ")).")
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
        do {
            return try QRPayload(bytes)
        } catch {
            throw CommandFailure(.badData, reason: "bad_qr_code", message: error.message)
        }
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
