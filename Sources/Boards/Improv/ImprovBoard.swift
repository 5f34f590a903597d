// SPDX-License-Identifier: Apache-2.0
import Protocomm
import Logging
import RainCore
import RainIO

/// A ``Board`` that receives its Wi-Fi settings by Improv over a serial port.
///
/// There is no encryption and no proof of possession: the cable alone gives control over the board. Improv does not support accounts: a
/// board is associated over its network after it has joined.
public actor ImprovBoard: Board {
    /// A board answers within milliseconds, but later while it scans or restarts its radio.
    static let commandDeadline = Duration.seconds(3)
    static let scanDeadline = Duration.seconds(20)
    /// Packets get lost between many log lines, so a request without an answer is repeated.
    static let attempts = 3

    public nonisolated let peer: String
    private var port: SerialPort
    private let inbox: ImprovInbox
    private let reopen: @Sendable () async throws(BoardError) -> SerialPort?
    private let openOnNetwork: @Sendable (_ host: String?) async throws(BoardError) -> any Board
    private let logger: Logger
    private var pump: Task<Void, Never>?
    private var asked: WiFiNetwork?
    private var addresses: [String] = []
    private var onNetwork: (any Board)?

    /// - Parameters:
    ///   - port: owned by the board from now on, and closed with it; the port itself passes its input to the inbox.
    ///   - inbox: the packets that arrive.
    ///   - reopen: opens the port again after it was removed and has returned; nil if it does not return.
    ///   - openOnNetwork: opens the same board on its network, at its host if that is known.
    public init(
        port: SerialPort, inbox: ImprovInbox,
        reopen: @escaping @Sendable () async throws(BoardError) -> SerialPort? = {
            () throws(BoardError) in nil
        },
        openOnNetwork: @escaping @Sendable (_ host: String?) async throws(BoardError) -> any Board,
        logger: Logger
    ) {
        peer = port.path
        self.port = port
        self.inbox = inbox
        self.reopen = reopen
        self.openOnNetwork = openOnNetwork
        self.logger = logger
    }

    public func identify() async throws(BoardError) -> BoardIdentity {
        var words: [String] = []
        do throws(BoardError) {
            let strings = try await ask(.information).first ?? []
            words = strings.map { String(decoding: $0, as: UTF8.self) }
        } catch {
            // Information is optional: an error for this command also shows that the board answers.
            guard error.code == .unsupported else { throw error }
        }
        var identity = BoardIdentity(
            association: .challengeResponse, canScan: true,
            version: words.prefix(2).joined(separator: " "), capabilities: [BoardIdentity.improv])
        identity.associatesOnNetwork = true
        identity.takesWiFiKey = true
        return identity
    }

    public func secure() async throws(BoardError) {}

    public func scan() async throws(BoardError) -> [AccessPoint] {
        let networks = try await ask(.scan, for: Self.scanDeadline)
        return networks.compactMap { AccessPoint(improv: $0) }.sorted { $0.rssi > $1.rssi }
    }

    public func join(_ network: WiFiNetwork) async throws(BoardError) {
        asked = network
        addresses = []
        let strings = [network.ssid.bytes, network.passphrase.revealBytes()]
        guard let frame = ImprovFrame.command(.joinNetwork, strings) else {
            throw BoardError(
                .invalidArgument, message: "The network's name and passphrase are too long for Improv.")
        }
        // The error of an earlier attempt may still arrive.
        inbox.clear()
        try await send(frame)
        logger.debug(
            "network sent",
            metadata: ["peer": "\(peer)", "endpoint": "joinNetwork", "sent": .stringConvertible(frame.encoded.count)])
    }

    /// State, result and error arrive in any order. A board whose port is removed when it has joined may send nothing at all.
    public func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(BoardError) -> JoinedNetwork {
        var hasReported = false
        var isAsked = false
        var silences = 0
        var reaction = ReactionToSettings()
        while true {
            let heard: ImprovFrame?
            do throws(BoardError) {
                heard = try await next(within: .seconds(1))
            } catch {
                throw reaction.unfinished(error, peer)
            }
            if let refusal = reaction.note(heard, isAsked: isAsked, peer) { throw refusal }
            guard let frame = heard else {
                // If no state arrived, ask for it. The settings themselves are never sent twice.
                silences += 1
                if silences % 2 == 0 {
                    isAsked = true
                    try await send(.command(.state)!)
                }
                continue
            }
            if let result = frame.result, result.command == .joinNetwork || result.command == .state {
                addresses = result.strings.compactMap { Self.host(inURL: $0) } + addresses
                // The result of the settings command means success; the result of a state request comes after a state.
                if result.command == .joinNetwork { return joined() }
            }
            if frame.state == .provisioned {
                if let more = try await next(within: .milliseconds(300)), let result = more.result {
                    addresses = result.strings.compactMap { Self.host(inURL: $0) } + addresses
                }
                return joined()
            }
            if frame.state == .provisioning, !hasReported {
                hasReported = true
                await report(.connecting)
            }
            if frame.state == .stopped {
                throw BoardError(
                    .rejected,
                    message:
                        "The board does not accept Wi-Fi settings now (Improv is stopped). Restart the board, then try again.",
                    reason: "improv_stopped")
            }
            // A board that restarted has forgotten its settings.
            if frame.state == .ready, isAsked, hasReported {
                throw BoardError(
                    .wifiFailed,
                    message:
                        "The board stopped trying to join the network and did not report why. Check the network's name and password."
                )
            }
            if let failure = frame.failure { try check(failure) }
        }
    }

    private func check(_ failure: ImprovFailure) throws(BoardError) {
        guard let error = failure.error else { return }
        throw failure == .unableToConnect ? error.remarking(on: asked) : error
    }

    private func joined() -> JoinedNetwork {
        JoinedNetwork(address: addresses.first { Self.isAddress($0) } ?? "", ssid: asked?.ssid ?? SSID([]))
    }

    public func reset() async throws(BoardError) {
        // Nothing to do: a board accepts other settings at any time.
    }

    public func associate(_ request: AssociationRequest) async throws(BoardError) -> AssociationReply {
        try await boardOnNetwork().associate(request)
    }

    public func endAssociation() async throws(BoardError) { try await onNetwork?.endAssociation() }

    /// Opens the board on its network, shortly after it has its address: first at the address that it reported, then by its mDNS
    /// announcement.
    private func boardOnNetwork() async throws(BoardError) -> any Board {
        if let onNetwork { return onNetwork }
        let end = ContinuousClock.now + Self.timeToAppear
        var pause = Duration.milliseconds(100)
        while true {
            var failure: BoardError?
            for host in addresses.prefix(1).map(Optional.some) + [nil] {
                do throws(BoardError) {
                    return try await reached(host)
                } catch {
                    guard [.unavailable, .neverAnswered].contains(error.code) else { throw error.onNetwork }
                    failure = failure ?? error
                }
            }
            if ContinuousClock.now >= end, let failure { throw failure.onNetwork }
            do { try await Task.sleep(for: pause) } catch {
                throw BoardError(.cancelled, message: "Cancelled.")
            }
            pause = min(pause * 2, .seconds(1))
        }
    }

    /// Firmware starts its service once it has an address.
    private static let timeToAppear = Duration.seconds(10)

    private func reached(_ host: String?) async throws(BoardError) -> any Board {
        let board = try await openOnNetwork(host)
        do throws(BoardError) {
            _ = try await board.identify()
            try await board.secure()
        } catch {
            await board.close()
            throw error
        }
        onNetwork = board
        return board
    }

    public func close() async {
        pump?.cancel()
        await onNetwork?.close()
        await port.close()
    }
}

// MARK: the conversation

extension ImprovBoard {
    /// Sends a command and returns the strings of each result: one result, or for a list all results before the empty one.
    private func ask(
        _ command: ImprovCommand, for time: Duration = commandDeadline
    ) async throws(BoardError) -> [[[UInt8]]] {
        let frame = ImprovFrame.command(command)!
        let start = ContinuousClock.now
        func log(_ results: [[[UInt8]]]) {
            let bytes = results.joined().map(\.count).reduce(0, +)
            logger.debug(
                "exchange",
                metadata: [
                    "peer": "\(peer)", "endpoint": "\(command)", "sent": .stringConvertible(frame.encoded.count),
                    "bytes": .stringConvertible(bytes),
                    "ms": .stringConvertible(Int(start.duration(to: .now) / .milliseconds(1))),
                ])
        }
        for _ in 0..<Self.attempts {
            inbox.clear()
            try await send(frame)
            var results: [[[UInt8]]] = []
            let end = ContinuousClock.now + time
            while let answer = try await next(within: ContinuousClock.now.duration(to: end)) {
                if answer.failure == .unknownCommand {
                    throw BoardError(
                        .unsupported, message: "The board's firmware does not know Improv's command \(command).")
                }
                guard let result = answer.result, result.command == command else { continue }
                if command != .scan { results = [result.strings] }
                if command != .scan || result.strings.isEmpty {
                    log(results)
                    return results
                }
                if results.count < 256 { results.append(result.strings) }
            }
            // The end of the list was lost.
            if !results.isEmpty {
                log(results)
                return results
            }
        }
        logger.debug("exchange failed", metadata: ["peer": "\(peer)", "endpoint": "\(command)", "cause": "timeout"])
        throw BoardError(
            .deviceLost, message: "The board at \(peer) stopped answering. Check its power, then try again.")
    }

    private func send(_ frame: ImprovFrame) async throws(BoardError) {
        listen()
        do throws(SerialPortError) {
            try await port.write(frame.encoded)
        } catch {
            guard try await comesBack() else { throw Self.lost(error) }
            do throws(SerialPortError) { try await port.write(frame.encoded) } catch { throw Self.lost(error) }
        }
    }

    private func next(within limit: Duration) async throws(BoardError) -> ImprovFrame? {
        listen()
        let frame = await inbox.next(within: max(.zero, limit))
        if Task.isCancelled { throw BoardError(.cancelled, message: "Cancelled.") }
        if frame == nil, port.isGone, !(try await comesBack()) {
            throw BoardError(
                .deviceLost, message: "The port \(peer) is gone. Check the cable, and that the board has power.",
                reason: "port_gone")
        }
        return frame
    }

    /// Starts reading the port, which passes its input to the inbox.
    private func listen() {
        guard pump == nil else { return }
        let port = port
        pump = Task { while (try? await port.read()) != nil {} }
    }

    private func comesBack() async throws(BoardError) -> Bool {
        guard port.isGone else { return false }
        await port.close()
        guard let again = try await reopen() else { return false }
        logger.debug("the port came back", metadata: ["port": "\(again.path)"])
        port = again
        pump = nil
        listen()
        return true
    }

    private static func lost(_ error: SerialPortError) -> BoardError {
        BoardError(
            error.code == .cancelled || error.code == .closed ? .cancelled : .deviceLost, message: error.message,
            cause: error.description)
    }
}

/// Detects a board that does not react to its Wi-Fi settings: they were lost on the line, or its firmware ignores them.
struct ReactionToSettings: Sendable {
    /// How many seconds without any packet are accepted. A board that restarts or joins may be busy for many seconds.
    static let maximumSilences = 20
    /// How many times the board may report that it waits for settings. It receives each request for its state after the settings.
    static let maximumWaits = 3

    private var hasReacted = false
    private var silences = 0
    private var waits = 0

    /// Takes the next packet, or nil after a second without one. Returns the error for a board that does not react.
    ///
    /// - Parameter isAsked: whether the board was asked for its state after the settings.
    mutating func note(_ frame: ImprovFrame?, isAsked: Bool, _ peer: String) -> BoardError? {
        guard !hasReacted else { return nil }
        if let frame {
            silences = 0
            if frame.state == .ready || frame.state == .awaitingAuthorization {
                waits += isAsked && frame.state == .ready ? 1 : 0
            } else if frame.state != nil || (frame.failure?.rawValue ?? 0) != 0
                || frame.result?.command == .joinNetwork
            {
                hasReacted = true
            }
        } else {
            silences += 1
        }
        if waits >= Self.maximumWaits {
            return BoardError(
                .rejected,
                message:
                    "The board at \(peer) did not answer the Wi-Fi settings, and still waits for settings. Try again. If that does not help, "
                    + "restart the board.")
        }
        guard silences >= Self.maximumSilences else { return nil }
        return BoardError(
            .deviceLost,
            message:
                "The board at \(peer) did not answer the Wi-Fi settings. Restart the board, then try again. The board may be online anyway."
        )
    }

    /// Returns the error of a cancelled wait, with what has not happened yet.
    func unfinished(_ error: BoardError, _ peer: String) -> BoardError {
        guard error.code == .cancelled, !hasReacted else { return error }
        var error = error
        error.unfinished = "the board at \(peer) has not answered the Wi-Fi settings"
        return error
    }
}

// MARK: what results hold

extension ImprovBoard {
    /// Returns the host of a URL such as `http://192.168.1.7:80/path`; nil if it is not a URL, or longer than a name may be.
    static func host(inURL bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let begin = text.firstRange(of: "://")?.upperBound else { return nil }
        let rest = text[begin...]
        let end = rest.firstIndex { "/?#:".contains($0) } ?? rest.endIndex
        let host = String(rest[..<end])
        let isHost = host.utf8.allSatisfy {
            $0.isASCIILetterOrDigit || $0 == 0x2D || $0 == 0x2E
        }
        return !host.isEmpty && host.utf8.count <= 253 && isHost ? host : nil
    }

    static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { $0.utf8.count <= 3 && UInt8($0) != nil }
    }
}

extension AccessPoint {
    /// Takes the name, the strength in dBm, and `YES` or `NO` for a password; nil for any other strings.
    init?(improv strings: [[UInt8]]) {
        guard strings.count >= 3, strings[0].count <= 32,
            let strength = Int(String(decoding: strings[1], as: UTF8.self)),
            (-200...0).contains(strength)
        else { return nil }
        let isOpen = strings[2] == Array("NO".utf8)
        // Improv does not report a network's kind of protection.
        self.init(
            ssid: SSID(strings[0]), bssid: [], channel: 0, rssi: strength,
            protection: NetworkProtection(rawValue: isOpen ? 0 : 3))
    }
}

extension BoardError {
    /// Converts the error for a board that has joined its Wi-Fi.
    var onNetwork: BoardError {
        if isConnectionRefused && code == .unavailable || reason == "not_a_board" || code == .unsupported
            || code == .notRainMaker
        {
            let place = peer.map { " (at \($0))" } ?? ""
            return BoardError(
                .notRainMaker,
                message:
                    "The board is on Wi-Fi, but its firmware does not offer RainMaker's service there\(place), so it cannot be added to the "
                    + "account. Only its Wi-Fi can be set up.",
                cause: cause ?? message, remedies: [.withoutMapping])
        }
        var told = self
        told.message = "The board is on its network, but cannot be added to the account there. \(message)"
        return told
    }
}

extension ImprovFailure {
    /// The error of a board that reports this failure after it received a network; nil if it reports success.
    var error: BoardError? {
        switch self {
        case .none: nil
        case .malformedCommand:
            BoardError(
                .rejected,
                message:
                    "The board could not read the Wi-Fi settings (Improv error 1). Its firmware may not accept a name or password of this "
                    + "length, or with these characters. Try again. If that does not help, use another version of the firmware."
            )
        case .unknownCommand:
            BoardError(
                .rejected,
                message:
                    "The board's firmware cannot receive Wi-Fi settings over this cable: it does not know the command (Improv error 2). "
                    + "Set up its Wi-Fi in another way, or use another version of the firmware.")
        case .unableToConnect:
            BoardError(
                .wifiAuthenticationFailed,
                message:
                    "The board could not join the network: check the network's name and password. The network must be on 2.4 GHz and in "
                    + "range. Improv does not report the cause.", reason: "unable_to_connect")
        case .notAuthorized:
            BoardError(
                .rejected, message: "The board accepts a network only after you press its button.",
                reason: "not_authorized")
        case .badHostname:
            BoardError(
                .rejected,
                message: "The board refused its host name (Improv error 5). Restart the board, then try again."
            )
        case .unknown:
            BoardError(
                .rejected,
                message:
                    "The board did not accept the Wi-Fi settings, and did not report why (Improv: unknown error). Check the network's name "
                    + "and password, restart the board, then try again.")
        }
    }
}
