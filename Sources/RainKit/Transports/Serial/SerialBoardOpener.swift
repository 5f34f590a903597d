// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import ProtocommTransports
import RainCore
import RainIO

/// Opens the board on a serial port, whichever protocol its console has: protocomm, RainMaker's own commands, or Improv. A board that
/// accepts no commands is opened over the transport that its log names.
///
/// It opens and probes the port. A booting board answers only once it is up, which the probe waits for.
struct SerialBoardOpener: Sendable {
    private let peer: String
    private let opening: BoardOpening
    private let parameters: [String: String]
    private let ports: PortOpening

    /// - Parameters:
    ///   - parameters: the parameters of the board's address, for the transport that its log names.
    ///   - files: the folder of the system's ports.
    init(path: String, parameters: [String: String] = [:], in files: SystemFiles, opening: BoardOpening) {
        peer = path
        self.parameters = parameters
        self.opening = opening
        ports = PortOpening(
            files: files, timer: opening.tools.timer, waitsUntil: opening.waitsForBoard ? opening.foundBy : nil)
    }

    /// Throws `unavailable` with the reason why no board was found. The port is then closed.
    func open() async throws(BoardError) -> any Board {
        let silence = silentPort
        do throws(BoardError) {
            let board = try await open(silence)
            await silence.end()
            return board
        } catch {
            await silence.end()
            throw error
        }
    }

    private var silentPort: SilentPort {
        let (credentials, nearby, foundBy) = (opening.credentials, opening.nearby, opening.foundBy)
        let look: SilentPort.Search = { found, unavailable in
            await nearby(foundBy - ContinuousClock.now, found, unavailable)
        }
        return SilentPort(
            macAddress: { [peer, ports] in SerialPort.description(of: peer, in: ports.files)?.usb?.macAddress },
            hasProof: credentials.hasProofOfPossession || credentials.securityVersion == 0, tell: opening.portChange,
            schemes: opening.nearbySchemes, look: opening.followsLog ? look : nil)
    }

    private func open(_ silence: SilentPort) async throws(BoardError) -> any Board {
        let began = ContinuousClock.now
        let (logger, kept) = (opening.logger, opening.deviceLog)
        let log = DeviceLog(now: { ContinuousClock.now - began }) { line in
            kept(line)
            logger.debug("board output: \(line)")
        }
        let inbox = ImprovInbox()
        let heard: @Sendable ([UInt8]) -> Void = { bytes in
            log.take(bytes)
            inbox.take(bytes)
        }
        var port = try await ports.open(peer, heard: heard)
        let listeners = Listeners(log: log, inbox: inbox, heard: heard)
        var reopenings = 2
        while true {
            do throws(BoardError) {
                let console = CommandConsole(port: port.port)
                if let board = try await reached(
                    console, port.description, listeners, silence, began, mayReopen: reopenings > 0)
                {
                    return board
                }
                reopenings -= 1
                await port.port.close()
                // A board that restarts when its port is opened detects that by the lines, which are released for a moment.
                do { try await opening.tools.timer.sleep(for: .milliseconds(100)) } catch {
                    throw BoardError(.cancelled, message: "The operation was cancelled.")
                }
                port = try await ports.open(port.port.path, heard: heard)
            } catch {
                await port.port.close()
                guard port.port.isGone else { throw error }
                // The chip's own USB is removed when the chip restarts, and returns, maybe under another name.
                let isByHand = silence.isReported && opening.waitsForPerson
                guard
                    let next = try await Self.comesBack(
                        port.description, ports, heard, until: isByHand ? opening.foundBy : nil)
                else {
                    // An earlier error in the log is the better reason.
                    guard error.code != .cancelled, log.moment.summary.verdict == nil else { throw error }
                    throw .portGone(port.port.path)
                }
                logger.debug("the port came back", metadata: ["port": "\(next.port.path)"])
                silence.returned(next.port.path)
                port = next
            }
        }
    }

    /// Returns nil if the port does not return. The error of a cancelled wait reports that the port is gone.
    private static func comesBack(
        _ port: SerialPortDescription, _ ports: PortOpening, _ heard: @escaping @Sendable ([UInt8]) -> Void,
        until end: ContinuousClock.Instant? = nil
    ) async throws(BoardError) -> PortOpening.OpenPort? {
        do throws(BoardError) {
            return try await ports.reopen(port, heard: heard, until: end)
        } catch {
            var error = error
            error.unfinished = "the port \(port.path) was removed and has not returned"
            throw error
        }
    }

    /// Returns nil if the port is to be opened again.
    private func reached(
        _ console: CommandConsole, _ port: SerialPortDescription, _ listeners: Listeners, _ silence: SilentPort,
        _ began: ContinuousClock.Instant, mayReopen: Bool
    ) async throws(BoardError) -> (any Board)? {
        // A silent board is restarted after a while, and then needs a moment. If less time remains, the caller's deadline ends it.
        let left = began.duration(to: opening.foundBy)
        let probe = SerialProbe(
            console: console, log: listeners.log, inbox: listeners.inbox,
            isOwnUSB: port.usb?.adapter.isChipsOwn == true,
            timer: opening.tools.timer,
            now: { ContinuousClock.now - began }, mayReopen: mayReopen,
            silentUntil: left >= SerialProbe.patienceInSilence + .seconds(2) ? left : nil,
            waitsForPerson: opening.waitsForPerson, silence: silence,
            isProbedForModem: { [ports] in ports.isProbedForModem(port.path) },
            holders: { [ports] in ports.holders(port.path) })
        switch try await probe.find() {
        case .console(.protocomm(let sessionID)):
            var opening = opening
            opening.credentials = try PrintedBoard(summary: listeners.log.moment.summary, port: peer)
                .credentials(opening.credentials, from: listeners.log)
            return LoggedBoard(
                peer,
                opening.protocommBoard(
                    over: ConsoleTransport(console: console, sessionID: sessionID, logger: opening.logger)),
                log: listeners.log)
        case .console(.rainMaker(let node)):
            try checkInsistence()
            return RainMakerConsoleBoard(
                console: console, nodeID: node, printed: { listeners.log.printedIdentity }, logger: opening.logger)
        case .incomplete: return nil
        case .elsewhere(let board):
            await silence.end()
            opening.logger.debug(
                "nothing arrives from the port, but the board on this port was found over another transport",
                metadata: ["port": "\(peer)", "board": "\(board.address)"])
            let inner = try await opening.other(board.address, opening.credentials)
            return LoggedBoard(
                peer, inner, at: board.address, log: listeners.log,
                port: PortOpening.OpenPort(port: console.port, description: port), ports: ports)
        case .improv: return improvBoard(console.port, port, listeners)
        case .logOnly(let summary):
            return try await handedOn(
                summary, listeners.log, PortOpening.OpenPort(port: console.port, description: port))
        }
    }

    /// Throws `security_mismatch` if the caller requires a scheme with a session, which RainMaker's own console does not have.
    private func checkInsistence() throws(BoardError) {
        guard let wanted = opening.credentials.securityVersion, wanted > 0 else { return }
        throw BoardError(
            .securityMismatch,
            message:
                "The board at \(peer) cannot use Security \(wanted): it has RainMaker's own serial console, which encrypts nothing. Nothing secret was sent.",
            remedies: [.anySecurity, .anyOtherTransport])
    }

    /// The consumers of all input from the port.
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
            reopen: { [ports] () async throws(BoardError) in
                try await Self.comesBack(description, ports, listeners.heard)?.port
            },
            openOnNetwork: { [opening, parameters] (host) async throws(BoardError) in
                try await opening.other(.onNetwork(parameters["device-host"] ?? host), opening.credentials)
            }, logger: opening.logger)
        return LoggedBoard(peer, board, log: listeners.log)
    }

    /// Opens the board over the transport that its log names.
    private func handedOn(
        _ summary: DeviceSummary, _ log: DeviceLog, _ port: PortOpening.OpenPort
    ) async throws(BoardError) -> any Board {
        let printed = PrintedBoard(summary: summary, port: peer)
        guard opening.followsLog else {
            try printed.checkUp()
            return LogOnlyBoard(
                peer: peer, reachedAt: try? printed.address(parameters), log: log, port: port.port)
        }
        let address = try printed.address(parameters)
        opening.logger.debug(
            "the board accepts no commands; its log names another transport",
            metadata: ["port": "\(peer)", "board": "\(address)"])
        let inner = try await opening.other(address, try printed.credentials(opening.credentials))
        return LoggedBoard(peer, inner, at: address, log: log, port: port, ports: ports)
    }
}

/// A board whose log is available: it is connected over another transport than the cable, or over the console that also prints the log.
///
/// The log completes the board's answers. A crash is the reason why it fell silent, and an address means that it has joined its network,
/// even if the answer about that was lost.
actor LoggedBoard: WrappedBoard {
    nonisolated let peer: String
    nonisolated let inner: any Board
    /// The board's address, if it is not the port of its log.
    private let address: String?
    private let log: DeviceLog
    /// Reads the log, if nothing else reads the port.
    private let reading: Task<Void, Never>?
    /// The requested network, and the address that the log contained before the request.
    private var asked: (network: WiFiNetwork, earlier: String?)?

    /// A board behind a console, which reads the port.
    init(_ port: String, _ inner: any Board, log: DeviceLog) {
        peer = port
        self.inner = inner
        self.log = log
        address = nil
        reading = nil
    }

    /// A board at another address.
    init(
        _ path: String, _ inner: any Board, at address: BoardAddress, log: DeviceLog, port: PortOpening.OpenPort,
        ports: PortOpening
    ) {
        peer = path
        self.inner = inner
        self.address = "\(address)"
        self.log = log
        // The port itself passes its input to the log.
        reading = Task {
            var open: PortOpening.OpenPort? = port
            while let current = open {
                while (try? await current.port.read()) != nil {}
                await current.port.close()
                open = current.port.isGone ? try? await ports.reopen(current.description, heard: { log.take($0) }) : nil
            }
        }
    }

    func identify() async throws(BoardError) -> BoardIdentity {
        var identity = try await call { (board) async throws(BoardError) in try await board.identify() }
        if let address { identity.reachedAt = address }
        identity.nodeID = identity.nodeID ?? log.moment.summary.nodeID
        identity.printed = log.printedIdentity ?? identity.printed
        return identity
    }

    func join(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(BoardError) {
        asked = (network, log.moment.summary.address)
        try await call { (board) async throws(BoardError) in try await board.join(network, report: report) }
    }

    func join(_ network: WiFiNetwork) async throws(BoardError) {
        asked = (network, log.moment.summary.address)
        try await call { (board) async throws(BoardError) in try await board.join(network) }
    }

    func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(BoardError) -> JoinedNetwork {
        do throws(BoardError) {
            return try await call { (board) async throws(BoardError) in try await board.watch(report: report) }
        } catch {
            guard [.deviceLost, .neverAnswered].contains(error.code), let asked, asked.earlier == nil,
                let address = log.moment.summary.address
            else { throw error }
            return JoinedNetwork(address: address, ssid: asked.network.ssid)
        }
    }

    func cloudContact() async throws(BoardError) -> CloudContact? {
        if let host = log.moment.summary.cloudHost { return .connecting(to: host) }
        return try await inner.cloudContact()
    }

    func close() async {
        await inner.close()
        reading?.cancel()
        await reading?.value
    }

    /// If the board is lost during a call, a trouble in its log at that time is the reason.
    func call<Answer: Sendable>(
        _ step: @Sendable (any Board) async throws(BoardError) -> Answer
    ) async throws(BoardError) -> Answer {
        _ = log.takeTrouble()
        do throws(BoardError) {
            return try await step(inner)
        } catch {
            let isLoss = [.deviceLost, .mayBeJoining, .neverAnswered, .unavailable].contains(error.code)
            guard isLoss, let trouble = log.takeTrouble() else { throw error }
            var told = error
            told.message = "\(trouble.description) \(error.message)"
            told.reason = error.reason ?? trouble.code
            told.remedies += trouble.remedies
            throw told
        }
    }
}

extension DeviceLog {
    /// The identity that the board has printed so far; nil if the output is not an Espressif chip's.
    fileprivate var printedIdentity: PrintedIdentity? {
        let summary = moment.summary
        return summary.isESP ? summary.identity : nil
    }
}

/// A board that only prints: its address, from its log.
struct PrintedBoard {
    let summary: DeviceSummary
    let port: String

    /// Returns the board's address that its log names.
    ///
    /// - Parameter given: the parameters of the port's address: a host or an adapter that the user has given for this.
    /// - Throws: `unavailable` if the log shows why there is none, or does not contain the board's name.
    func address(_ given: [String: String]) throws(BoardError) -> BoardAddress {
        try checkUp()
        if summary.isProvisioned {
            var error = BoardError(
                .unavailable,
                message:
                    "The board at \(port) already has a Wi-Fi network and does not start provisioning. Hold its BOOT button for 3 s to "
                    + "make it forget that network, and try again.", reason: "already_provisioned")
            error.provisionedNode = summary.nodeID
            throw error
        }
        if summary.isUnnamed, summary.serviceName == nil {
            throw BoardError(
                .unavailable,
                message:
                    "The Arduino sketch on the board at \(port) starts provisioning, but does not print the board's name. Add WiFiProv.printQR "
                    + "to the sketch.", reason: "unnamed_board",
                remedies: [.boardName([]), .anyOtherTransport])
        }
        guard let name = summary.code?.name ?? summary.serviceName else {
            throw BoardError(
                .unavailable,
                message:
                    "The board at \(port) accepts no commands, and its log does not contain its name. Press its RESET button during the "
                    + "search.", reason: "log_only", remedies: [.anyOtherTransport])
        }
        // Firmware that names no transport is RainMaker's from before its codes; its examples are built with Bluetooth.
        guard (summary.code?.transport ?? summary.announcedTransport) == .softap else {
            return .bluetooth(name, adapter: given["adapter"])
        }
        return .softAP(given["device-host"], name: name)
    }

    /// Throws `unavailable` with the cause if the board does not come up.
    func checkUp() throws(BoardError) {
        if summary.isDown, let trouble = summary.verdict {
            throw BoardError(
                .unavailable, message: trouble.description, reason: trouble.code, remedies: trouble.remedies)
        }
    }

    /// The same for a board that continues to print during the session: its code may come after its prompt.
    func credentials(
        _ given: BoardCredentials, from log: DeviceLog
    ) throws(BoardError) -> BoardCredentials {
        var credentials = try credentials(given)
        guard !credentials.hasProofOfPossession, !given.leastSecurity.needsProofOfPossession else { return credentials }
        credentials.proofOfPossession = {
            let summary = log.moment.summary
            if let proof = summary.code?.proofOfPossession ?? summary.announcedProof { return proof }
            return await given.proofOfPossession()
        }
        return credentials
    }

    /// Completes the user's credentials from the log.
    ///
    /// - Throws: `malformed` if the log contains an unusable code. Without the code it is unknown how the board is protected.
    func credentials(_ given: BoardCredentials) throws(BoardError) -> BoardCredentials {
        var credentials = given
        credentials.accessPointPassphrase =
            given.accessPointPassphrase ?? summary.code?.accessPointPassphrase ?? summary.announcedPassphrase
        let isKnown = given.hasProofOfPossession || given.leastSecurity.needsProofOfPossession
        guard !isKnown else { return credentials }
        if let fault = summary.codeFault, summary.code == nil, given.securityVersion == nil {
            throw BoardError(
                .malformed, message: "\(fault) This code comes from the log of the board at \(port).",
                remedies: [.proofOfPossession])
        }
        if let proof = summary.code?.proofOfPossession ?? summary.announcedProof {
            credentials.proofOfPossession = { proof }
            credentials.hasProofOfPossession = true
        }
        guard let code = summary.code, given.securityVersion == nil else { return credentials }
        credentials.leastSecurity = code.leastSecurity
        if given.username == BoardCredentials.defaultUsername, let name = code.username { credentials.username = name }
        return credentials
    }
}

/// A board that accepts no commands on its cable, and can only be identified.
struct LogOnlyBoard: Board {
    let peer: String
    /// The address that its log names.
    let reachedAt: BoardAddress?
    let log: DeviceLog
    let port: SerialPort

    func identify() async throws(BoardError) -> BoardIdentity {
        var identity = BoardIdentity(association: .challengeResponse, needsClaim: nil)
        identity.takesCommands = false
        identity.reachedAt = reachedAt.map { "\($0)" }
        identity.printed = log.printedIdentity
        return identity
    }

    func secure() async throws(BoardError) { throw takesNone }
    func scan() async throws(BoardError) -> [AccessPoint] { throw takesNone }
    func associate(_ request: AssociationRequest) async throws(BoardError) -> AssociationReply {
        throw takesNone
    }
    func join(_ network: WiFiNetwork) async throws(BoardError) { throw takesNone }
    func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(BoardError) -> JoinedNetwork {
        throw takesNone
    }
    func reset() async throws(BoardError) { throw takesNone }
    func close() async { await port.close() }

    private var takesNone: BoardError {
        BoardError(
            .unsupported, message: "The board at \(peer) only prints its log and accepts no commands.",
            reason: "log_only",
            remedies: [.anyOtherTransport])
    }
}
