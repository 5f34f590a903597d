// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import ProtocommTransports
import RainIO

/// A board on a serial port, in whichever dialect its console speaks: protocomm's, or RainMaker's own commands. One that takes no commands
/// is reached in the way that its log names.
///
/// The port is opened and probed by ``identify()``, so that nothing is typed into a board before a run has come that far. A
/// booting board answers only once it is up, which the probe waits for.
actor SerialBoard: Board {
    nonisolated let peer: String
    private let opening: BoardOpening
    private let parameters: [String: String]
    private let ports: PortOpening
    private var board: (any Board)?
    /// What the board has printed since its port was opened.
    private var log: DeviceLog?
    private var isClosed = false

    /// - Parameters:
    ///   - parameters: of the board's address, for the way that its log names.
    ///   - files: where the system's ports are.
    init(path: String, parameters: [String: String] = [:], in files: SystemFiles, opening: BoardOpening) {
        peer = path
        self.parameters = parameters
        self.opening = opening
        ports = PortOpening(
            files: files, timer: opening.tools.timer, waitsUntil: opening.waitsForBoard ? opening.foundBy : nil)
    }

    var isOffline: Bool { get async { await board?.isOffline ?? false } }
    func identify() async throws(ProvisioningError) -> BoardIdentity {
        var identity = try await opened().identify()
        if let summary = log?.moment.summary, summary.isESP { identity.printed = summary.identity }
        return identity
    }
    func secure() async throws(ProvisioningError) { try await opened().secure() }
    func scan() async throws(ProvisioningError) -> [AccessPoint] { try await opened().scan() }
    func join(_ network: WiFiNetwork) async throws(ProvisioningError) { try await opened().join(network) }
    func join(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(ProvisioningError) { try await opened().join(network, report: report) }
    func cloudContact() async throws(ProvisioningError) -> CloudContact? { try await opened().cloudContact() }
    func reset() async throws(ProvisioningError) { try await opened().reset() }

    func endAssociation() async throws(ProvisioningError) { try await board?.endAssociation() }

    func startClaim() async throws(ProvisioningError) -> [UInt8] { try await opened().startClaim() }
    func requestCertificate(_ reply: [UInt8]) async throws(ProvisioningError) -> [UInt8] {
        try await opened().requestCertificate(reply)
    }
    func storeCertificate(_ reply: [UInt8]) async throws(ProvisioningError) {
        try await opened().storeCertificate(reply)
    }
    func abortClaim() async -> Bool { await board?.abortClaim() ?? false }

    func associate(_ request: AssociationRequest) async throws(ProvisioningError) -> AssociationReply {
        try await opened().associate(request)
    }

    func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(ProvisioningError) -> JoinedNetwork {
        try await opened().watch(report: report)
    }

    func send(_ payload: [UInt8], to endpoint: String) async throws(ProvisioningError) -> [UInt8] {
        try await opened().send(payload, to: endpoint)
    }

    func close() async {
        isClosed = true
        await board?.close()
    }

    private func opened() async throws(ProvisioningError) -> any Board {
        if let board { return board }
        let found = try await find()
        guard !isClosed else {
            await found.close()
            throw ProvisioningError(.cancelled, message: "The board was closed while it was being opened.")
        }
        board = found
        return found
    }

    private func find() async throws(ProvisioningError) -> any Board {
        let began = ContinuousClock.now
        let (logger, kept) = (opening.logger, opening.deviceLog)
        let log = DeviceLog(now: { ContinuousClock.now - began }) { line in
            kept(line)
            logger.debug("the board prints: \(line)")
        }
        let inbox = ImprovInbox()
        let heard: @Sendable ([UInt8]) -> Void = { bytes in
            log.take(bytes)
            inbox.take(bytes)
        }
        var port = try await ports.open(peer, heard: heard)
        self.log = log
        let listeners = Listeners(log: log, inbox: inbox, heard: heard)
        var reopenings = 2
        while true {
            do throws(ProvisioningError) {
                let console = CommandConsole(port: port.port)
                if let board = try await reached(console, port.description, listeners, began, mayReopen: reopenings > 0)
                {
                    return board
                }
                reopenings -= 1
                await port.port.close()
                // A board that starts anew when its port is opened sees that by the lines, which are let go of for a moment.
                do { try await opening.tools.timer.sleep(for: .milliseconds(100)) } catch {
                    throw ProvisioningError(.cancelled, message: "The operation was cancelled.")
                }
                port = try await ports.open(port.port.path, heard: heard)
            } catch {
                await port.port.close()
                // The chip's own USB leaves the bus when the chip restarts, and comes back, maybe under another name.
                guard port.port.isGone,
                    let next = try await ports.reopen(port.description, heard: heard)
                else { throw error }
                logger.info("the port came back", metadata: ["port": "\(next.port.path)"])
                port = next
            }
        }
    }

    /// Nil where the port is to be opened anew.
    private func reached(
        _ console: CommandConsole, _ port: SerialPortDescription, _ listeners: Listeners,
        _ began: ContinuousClock.Instant,
        mayReopen: Bool
    ) async throws(ProvisioningError) -> (any Board)? {
        // A board is restarted after a while of silence, and needs a moment then. Where there is less time, the caller's deadline ends it.
        let left = began.duration(to: opening.foundBy)
        let probe = SerialProbe(
            console: console, log: listeners.log, inbox: listeners.inbox,
            isOwnUSB: port.usb?.adapter.isChipsOwn == true,
            timer: opening.tools.timer,
            now: { ContinuousClock.now - began }, mayReopen: mayReopen,
            silentUntil: left >= SerialProbe.patienceInSilence + .seconds(2) ? left : nil,
            isProbedForModem: { [ports] in ports.isProbedForModem(port.path) })
        switch try await probe.find() {
        case .console(.protocomm(let sessionID)):
            var opening = opening
            opening.credentials = try PrintedBoard(summary: listeners.log.moment.summary, port: peer)
                .credentials(opening.credentials, from: listeners.log)
            return LoggedBoard(
                opening.protocommBoard(
                    over: ConsoleTransport(console: console, sessionID: sessionID, logger: opening.logger)),
                log: listeners.log)
        case .console(.rainMaker(let node)):
            return RainMakerConsoleBoard(console: console, nodeID: node, logger: opening.logger)
        case .incomplete: return nil
        case .improv: return improvBoard(console.port, port, listeners)
        case .logOnly(let summary):
            return try await handedOn(
                summary, listeners.log, PortOpening.OpenPort(port: console.port, description: port))
        }
    }

    /// What is fed with everything that is read from the port.
    private struct Listeners: Sendable {
        let log: DeviceLog
        let inbox: ImprovInbox
        let heard: @Sendable ([UInt8]) -> Void
    }

    private func improvBoard(_ port: SerialPort, _ description: SerialPortDescription, _ listeners: Listeners)
        -> any Board
    {
        let board = ImprovBoard(
            port: port, inbox: listeners.inbox,
            reopen: { [ports] () async throws(ProvisioningError) in
                try await ports.reopen(description, heard: listeners.heard)?.port
            },
            openOnNetwork: { [opening, parameters] (host) async throws(ProvisioningError) in
                try await opening.other(.onNetwork(parameters["device-host"] ?? host), opening.credentials)
            }, logger: opening.logger)
        return LoggedBoard(board, log: listeners.log)
    }

    /// The board over the transport that its log names.
    private func handedOn(
        _ summary: DeviceSummary, _ log: DeviceLog, _ port: PortOpening.OpenPort
    ) async throws(ProvisioningError) -> any Board {
        let printed = PrintedBoard(summary: summary, port: peer)
        guard opening.followsLog else {
            try printed.checkUp()
            return LogOnlyBoard(peer: peer, reachedAt: try? printed.address(parameters), port: port.port)
        }
        let address = try printed.address(parameters)
        opening.logger.info(
            "the board takes no commands; its log names another way",
            metadata: ["port": "\(peer)", "board": "\(address)"])
        let inner = try await opening.other(address, try printed.credentials(opening.credentials))
        return LoggedBoard(inner, at: address, log: log, port: port, ports: ports)
    }
}
