// SPDX-License-Identifier: Apache-2.0
import RainCore
import Logging
import Protocomm
import ProtocommCore
import RainIO
import Synchronization

/// ESP-IDF's protocomm console on a serial port: the request is one line of text, `endpoint session hex`, and the answer one line of hex.
///
/// The board's line buffer has 256 bytes, so a request has at most about 115 bytes, too few for Security 2; see
/// ``maximumRequestLength(on:)``. A board that is still booting is waited for. Log lines are skipped.
public actor ConsoleTransport: Transport {
    /// `LINE_BUF_SIZE` in ESP-IDF's `protocomm_console.c`, without the terminating zero; it includes the CR.
    public static let maximumLineLength = 255

    public nonisolated let peer: String
    public nonisolated let deadlines = ExchangeDeadlines.console
    public nonisolated let mayGarbleAnswers = true
    private nonisolated let sessionID: [UInt8]
    private let console: CommandConsole
    private let logger: Logger
    /// Whether bytes of an echo got lost in an earlier exchange.
    private var hasLostBytes = false

    /// - Parameters:
    ///   - port: owned by the transport from now on, and closed with it.
    ///   - sessionID: identifies the session. Another id ends the board's current session, so each transport draws its own. The board reads
    ///     it with `atoi`.
    public init(
        port: SerialPort, sessionID: Int32 = .random(in: 1...Int32.max), clock: any Clock<Duration> = ContinuousClock(),
        logger: Logger = Logger(label: "protocomm.console") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.init(console: CommandConsole(port: port, clock: clock), sessionID: sessionID, logger: logger)
    }

    /// Uses a console that was already probed.
    public init(
        console: CommandConsole, sessionID: Int32 = .random(in: 1...Int32.max),
        logger: Logger = Logger(label: "protocomm.console") { _ in SwiftLogNoOpLogHandler() }
    ) {
        peer = console.port.path
        self.console = console
        self.sessionID = Array(String(sessionID).utf8)
        self.logger = logger
    }

    public nonisolated var carrier: String { "a console line" }

    public nonisolated func maximumRequestLength(on endpoint: Endpoint) -> Int? {
        let room = Self.maximumLineLength - endpoint.name.count - sessionID.count - 3
        return max(0, room / 2)
    }

    public func exchange(_ request: [UInt8], on endpoint: Endpoint) async throws(BoardError) -> [UInt8] {
        guard !request.isEmpty else {
            throw error(.malformed, endpoint, "A console line cannot carry an empty request.")
        }
        guard !endpoint.name.isEmpty,
            endpoint.name.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
        else {
            throw error(.noSuchEndpoint, endpoint, "This endpoint's name cannot be sent on the console.")
        }
        if let limit = maximumRequestLength(on: endpoint), request.count > limit {
            throw error(
                .tooLong, endpoint,
                "The request has \(request.count) bytes; a console line carries at most \(limit). Security 2 and long "
                    + "messages need Bluetooth or the board's own access point.")
        }
        let space = UInt8(ascii: " ")
        let line = endpoint.name + [space] + sessionID + [space] + Hex.encoded(request)
        let outcome: ConsoleReplyParser.Outcome
        let end = Mutex<ConsoleReplyParser?>(nil)
        do {
            outcome = try await console.run(
                ConsoleReplyParser(command: line), atEnd: { reply in end.withLock { $0 = reply } })
        } catch {
            var failure = self.error(error, endpoint)
            // The session's deadline ends an exchange without an answer.
            if failure.code == .cancelled, hasLostBytes || end.withLock({ $0?.lacksBytes }) == true {
                (failure.message, failure.reason) = (BoardError.lostCharacters, BoardError.answerCut)
                failure.unfinished = "characters get lost between this machine and the board's console"
            }
            throw failure
        }
        // A restart cuts the echo, too.
        if outcome != .restarted, end.withLock({ $0?.isEchoCut }) == true { hasLostBytes = true }
        switch outcome {
        case .answer(let bytes):
            return bytes
        case .refused:
            throw error(.refused, endpoint, "The board's console showed its prompt again, but no answer.")
        case .nothing:
            throw error(
                .refused, endpoint, "The board's console showed its prompt again, but no answer.",
                reason: BoardError.noAnswer)
        case .malformed:
            throw error(.malformed, endpoint, BoardError.lostCharacters)
        case .restarted:
            logger.debug("the board restarted", metadata: ["peer": "\(peer)"])
            throw error(.lost, endpoint, "The board restarted in the middle of the exchange.")
        }
    }

    public func close() async { await console.close() }

    private func error(_ error: SerialPortError, _ endpoint: Endpoint) -> BoardError {
        let code: BoardError.Code =
            switch error.code {
            case .notFound, .denied, .notATerminal: .unreachable
            case .busy: .busy
            case .cancelled, .closed: .cancelled
            default: .lost
            }
        return self.error(
            code, endpoint, error.message, reason: error.code == .lost ? BoardError.portGone : nil)
    }

    private func error(
        _ code: BoardError.Code, _ endpoint: Endpoint, _ message: String, reason: String? = nil
    ) -> BoardError {
        BoardError(code, endpoint: endpoint, peer: peer, message: message, reason: reason)
    }
}
