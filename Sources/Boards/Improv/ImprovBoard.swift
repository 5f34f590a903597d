// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore
import RainIO

/// A ``Board`` that takes its Wi-Fi by Improv over a serial port.
///
/// There is no encryption and no proof of possession: the cable alone gives control over the board. Improv knows nothing of accounts: a
/// board is put into one over its network, once it is there.
public actor ImprovBoard: Board {
    /// A board answers within milliseconds; one that scans, or restarts its radio, takes its time.
    static let commandDeadline = Duration.seconds(3)
    static let scanDeadline = Duration.seconds(20)
    /// Packets get lost in a log's storm: a question without an answer is asked again.
    static let attempts = 3

    public nonisolated let peer: String
    private var port: SerialPort
    private let inbox: ImprovInbox
    private let reopen: @Sendable () async throws(ProvisioningError) -> SerialPort?
    private let openOnNetwork: @Sendable (_ host: String?) async throws(ProvisioningError) -> any Board
    private let logger: Logger
    private var pump: Task<Void, Never>?
    private var asked: WiFiNetwork?
    private var addresses: [String] = []
    private var onNetwork: (any Board)?

    /// - Parameters:
    ///   - port: belongs to the board from now on, and is closed with it; what is read from it is handed to the inbox by the port itself.
    ///   - inbox: the packets that come.
    ///   - reopen: opens the port again after the board has left the bus and come back; nil if it does not.
    ///   - openOnNetwork: the same board on its network, at a host where one is known.
    public init(
        port: SerialPort, inbox: ImprovInbox,
        reopen: @escaping @Sendable () async throws(ProvisioningError) -> SerialPort? = {
            () throws(ProvisioningError) in nil
        },
        openOnNetwork: @escaping @Sendable (_ host: String?) async throws(ProvisioningError) -> any Board,
        logger: Logger
    ) {
        peer = port.path
        self.port = port
        self.inbox = inbox
        self.reopen = reopen
        self.openOnNetwork = openOnNetwork
        self.logger = logger
    }

    public func identify() async throws(ProvisioningError) -> BoardIdentity {
        var words: [String] = []
        do throws(ProvisioningError) {
            let strings = try await ask(.information).first ?? []
            words = strings.map { String(decoding: $0, as: UTF8.self) }
        } catch {
            // Information is optional; a board that knows the command's place in the protocol is there.
            guard error.code == .unsupported else { throw error }
        }
        var identity = BoardIdentity(
            association: .challengeResponse, canScan: true,
            version: words.prefix(2).joined(separator: " "), capabilities: ["improv.wifi"])
        identity.associatesOnNetwork = true
        identity.takesWiFiKey = true
        return identity
    }

    public func secure() async throws(ProvisioningError) {}

    public func scan() async throws(ProvisioningError) -> [AccessPoint] {
        let networks = try await ask(.scan, for: Self.scanDeadline)
        return networks.compactMap { AccessPoint(improv: $0) }.sorted { $0.rssi > $1.rssi }
    }

    public func join(_ network: WiFiNetwork) async throws(ProvisioningError) {
        asked = network
        addresses = []
        let strings = [network.ssid.bytes, network.passphrase.revealBytes()]
        guard let frame = ImprovFrame.command(.joinNetwork, strings) else {
            throw ProvisioningError(
                .invalidArgument, message: "The network's name and passphrase are too long for Improv.")
        }
        // An error of an earlier attempt may still be under way.
        inbox.clear()
        try await send(frame)
    }

    /// State, result and error come in any order, and a board that leaves the bus when it has joined may say nothing at all.
    public func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(ProvisioningError) -> JoinedNetwork {
        var hasReported = false
        var isAsked = false
        var silences = 0
        while true {
            guard let frame = try await next(within: .seconds(1)) else {
                // A state that nobody heard is asked for; the settings themselves are never sent twice.
                silences += 1
                if silences % 2 == 0 {
                    isAsked = true
                    try await send(.command(.state)!)
                }
                continue
            }
            if let result = frame.result, result.command == .joinNetwork || result.command == .state {
                addresses = result.strings.compactMap { Self.host(inURL: $0) } + addresses
                // The result of the settings is success itself; that of a question stands behind a state.
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
                throw ProvisioningError(
                    .rejected,
                    message:
                        "The board takes no Wi-Fi settings now (Improv is stopped). Restart it, then run this again.",
                    reason: "improv_stopped")
            }
            // A board that restarted has forgotten what it was told.
            if frame.state == .ready, isAsked, hasReported {
                throw ProvisioningError(
                    .wifiFailed,
                    message:
                        "The board gave the network up and did not say why. Check name and password, then run this again."
                )
            }
            if let failure = frame.failure { try check(failure) }
        }
    }

    private func check(_ failure: ImprovFailure) throws(ProvisioningError) {
        switch failure {
        case .none: return
        case .unableToConnect:
            throw ProvisioningError(
                .wifiAuthenticationFailed,
                message:
                    "The board could not join the network: check its name and password, that it is on 2.4 GHz and in reach. Improv does "
                    + "not say which it was.", reason: "unable_to_connect"
            ).remarking(on: asked)
        case .notAuthorized:
            throw ProvisioningError(
                .rejected, message: "The board waits for its button to be pressed before it takes a network.",
                reason: "not_authorized")
        default:
            throw ProvisioningError(.rejected, message: "The board did not accept the Wi-Fi settings (\(failure)).")
        }
    }

    private func joined() -> JoinedNetwork {
        JoinedNetwork(address: addresses.first { Self.isAddress($0) } ?? "", ssid: asked?.ssid ?? SSID([]))
    }

    public func reset() async throws(ProvisioningError) {
        // A board takes other settings at any time.
    }

    public func associate(_ request: AssociationRequest) async throws(ProvisioningError) -> AssociationReply {
        try await boardOnNetwork().associate(request)
    }

    public func endAssociation() async throws(ProvisioningError) { try await onNetwork?.endAssociation() }

    /// The board is there a moment after it has its address: it is looked for at what it said of itself, then by what it announces.
    private func boardOnNetwork() async throws(ProvisioningError) -> any Board {
        if let onNetwork { return onNetwork }
        let end = ContinuousClock.now + Self.timeToAppear
        var pause = Duration.milliseconds(100)
        while true {
            var failure: ProvisioningError?
            for host in addresses.prefix(1).map(Optional.some) + [nil] {
                do throws(ProvisioningError) {
                    return try await reached(host)
                } catch {
                    guard [.unavailable, .neverAnswered].contains(error.code) else { throw error.onNetwork }
                    failure = failure ?? error
                }
            }
            if ContinuousClock.now >= end, let failure { throw failure.onNetwork }
            do { try await Task.sleep(for: pause) } catch {
                throw ProvisioningError(.cancelled, message: "Cancelled.")
            }
            pause = min(pause * 2, .seconds(1))
        }
    }

    /// Firmware starts its service once it has an address.
    private static let timeToAppear = Duration.seconds(10)

    private func reached(_ host: String?) async throws(ProvisioningError) -> any Board {
        let board = try await openOnNetwork(host)
        do throws(ProvisioningError) {
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
    /// The strings of each result: one, or for a list as many as come before the empty one.
    private func ask(
        _ command: ImprovCommand, for time: Duration = commandDeadline
    ) async throws(ProvisioningError) -> [[[UInt8]]] {
        let frame = ImprovFrame.command(command)!
        for _ in 0..<Self.attempts {
            inbox.clear()
            try await send(frame)
            var results: [[[UInt8]]] = []
            let end = ContinuousClock.now + time
            while let answer = try await next(within: ContinuousClock.now.duration(to: end)) {
                if answer.failure == .unknownCommand {
                    throw ProvisioningError(
                        .unsupported, message: "The board's firmware does not know Improv's command \(command).")
                }
                guard let result = answer.result, result.command == command else { continue }
                if command != .scan { return [result.strings] }
                if result.strings.isEmpty { return results }
                if results.count < 256 { results.append(result.strings) }
            }
            // A list whose end was lost.
            if !results.isEmpty { return results }
        }
        throw ProvisioningError(
            .deviceLost, message: "The board at \(peer) stopped answering. Check its power, then run this again.")
    }

    private func send(_ frame: ImprovFrame) async throws(ProvisioningError) {
        listen()
        do throws(SerialPortError) {
            try await port.write(frame.encoded)
        } catch {
            guard try await comesBack() else { throw Self.lost(error) }
            do throws(SerialPortError) { try await port.write(frame.encoded) } catch { throw Self.lost(error) }
        }
    }

    private func next(within limit: Duration) async throws(ProvisioningError) -> ImprovFrame? {
        listen()
        let frame = await inbox.next(within: max(.zero, limit))
        if Task.isCancelled { throw ProvisioningError(.cancelled, message: "Cancelled.") }
        if frame == nil, port.isGone, !(try await comesBack()) {
            throw ProvisioningError(
                .deviceLost, message: "The port \(peer) is gone. Check the cable, and that the board has power.",
                reason: "port_gone")
        }
        return frame
    }

    /// Has the port read, which hands what comes to the inbox.
    private func listen() {
        guard pump == nil else { return }
        let port = port
        pump = Task { while (try? await port.read()) != nil {} }
    }

    private func comesBack() async throws(ProvisioningError) -> Bool {
        guard port.isGone else { return false }
        await port.close()
        guard let again = try await reopen() else { return false }
        logger.info("the port came back", metadata: ["port": "\(again.path)"])
        port = again
        pump = nil
        listen()
        return true
    }

    private static func lost(_ error: SerialPortError) -> ProvisioningError {
        ProvisioningError(
            error.code == .cancelled || error.code == .closed ? .cancelled : .deviceLost, message: error.message,
            cause: error.description)
    }
}

// MARK: what results hold

extension ImprovBoard {
    /// The host of a URL such as `http://192.168.1.7:80/path`; nil where it is none, or longer than a name may be.
    static func host(inURL bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let begin = text.firstRange(of: "://")?.upperBound else { return nil }
        let rest = text[begin...]
        let end = rest.firstIndex { "/?#:".contains($0) } ?? rest.endIndex
        let host = String(rest[..<end])
        let isHost = host.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D || $0 == 0x2E
        }
        return !host.isEmpty && host.utf8.count <= 253 && isHost ? host : nil
    }

    static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { $0.utf8.count <= 3 && UInt8($0) != nil }
    }
}

extension AccessPoint {
    /// Name, strength in dBm and `YES` or `NO` for a password; nil where it is not that.
    init?(improv strings: [[UInt8]]) {
        guard strings.count >= 3, strings[0].count <= 32,
            let strength = Int(String(decoding: strings[1], as: UTF8.self)),
            (-200...0).contains(strength)
        else { return nil }
        let isOpen = strings[2] == Array("NO".utf8)
        // Improv does not say which protection a network has.
        self.init(
            ssid: SSID(strings[0]), bssid: [], channel: 0, rssi: strength,
            protection: NetworkProtection(rawValue: isOpen ? 0 : 3))
    }
}

extension ProvisioningError {
    /// Said of a board whose Wi-Fi is done.
    fileprivate var onNetwork: ProvisioningError {
        var told = self
        told.message = "The board is on its network, and cannot be put into the account there. \(message)"
        return told
    }
}
