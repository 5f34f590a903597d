// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import RainIO

/// ESP-IDF's protocomm console on a serial port: one line of text per request, `endpoint session hex`, and one of hex back.
///
/// The board's line buffer holds 256 bytes, so a request carries some 115 bytes, which Security 2 does not fit into; see
/// ``maximumRequestLength(on:)``. A board that is still booting is waited for. What it logs in between is skipped.
public actor ConsoleTransport: Transport {
    /// `LINE_BUF_SIZE` in ESP-IDF's `protocomm_console.c`, less the terminating zero; it includes the CR.
    public static let maximumLineLength = 255

    public nonisolated let peer: String
    public nonisolated let deadlines = ExchangeDeadlines.console
    public nonisolated let mayGarbleAnswers = true
    private nonisolated let sessionID: [UInt8]
    private let console: CommandConsole
    private let logger: Logger

    /// - Parameters:
    ///   - port: belongs to the transport from now on, and is closed with it.
    ///   - sessionID: what the board tells conversations apart by. Another id ends the board's running session, so each
    ///     transport draws its own. The board reads it with `atoi`.
    public init(
        port: SerialPort, sessionID: Int32 = .random(in: 1...Int32.max), clock: any Clock<Duration> = ContinuousClock(),
        logger: Logger = Logger(label: "protocomm.console") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.init(console: CommandConsole(port: port, clock: clock), sessionID: sessionID, logger: logger)
    }

    /// Uses a console that was probed already.
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

    public func exchange(_ request: [UInt8], on endpoint: Endpoint) async throws(TransportError) -> [UInt8] {
        guard !request.isEmpty else {
            throw error(.malformed, endpoint, "A console line cannot carry an empty request.")
        }
        guard !endpoint.name.isEmpty,
            endpoint.name.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
        else {
            throw error(.noSuchEndpoint, endpoint, "The console cannot spell this endpoint's name.")
        }
        if let limit = maximumRequestLength(on: endpoint), request.count > limit {
            throw error(
                .tooLong, endpoint,
                "The request has \(request.count) bytes, and a console line carries at most \(limit). Security 2 and long "
                    + "messages need HTTP or BLE.")
        }
        let space = UInt8(ascii: " ")
        let line = endpoint.name + [space] + sessionID + [space] + Hex.encode(request)
        let outcome: ConsoleReplyParser.Outcome
        do {
            outcome = try await console.run(ConsoleReplyParser(command: line))
        } catch {
            throw self.error(error, endpoint)
        }
        switch outcome {
        case .answer(let bytes):
            return bytes
        case .refused:
            throw error(.refused, endpoint, "The console went back to its prompt without an answer.")
        case .nothing:
            throw error(
                .refused, endpoint, "The console went back to its prompt without an answer.",
                reason: TransportError.noAnswer)
        case .malformed:
            throw error(.malformed, endpoint, "The console printed an answer that is not whole bytes in hex.")
        case .restarted:
            logger.debug("the board restarted", metadata: ["peer": "\(peer)"])
            throw error(.lost, endpoint, "The board restarted in the middle of the exchange.")
        }
    }

    public func close() async { await console.close() }

    private func error(_ error: SerialPortError, _ endpoint: Endpoint) -> TransportError {
        let code: TransportError.Code =
            switch error.code {
            case .notFound, .denied, .notATerminal: .unreachable
            case .busy: .busy
            case .cancelled, .closed: .cancelled
            default: .lost
            }
        return self.error(
            code, endpoint, error.message, reason: error.code == .lost ? TransportError.portGone : nil)
    }

    private func error(
        _ code: TransportError.Code, _ endpoint: Endpoint, _ message: String, reason: String? = nil
    ) -> TransportError {
        TransportError(code, endpoint: endpoint, peer: peer, message: message, reason: reason)
    }
}
