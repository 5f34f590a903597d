// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore

/// Protocomm over Bluetooth Low Energy. Each endpoint is one characteristic: the request is written with response, and the answer is read
/// from it (ESP-IDF, protocomm_ble.h).
///
/// The first exchange finds the board and connects to it. A connection is a session to the board. So only an exchange that begins a session
/// (`prov-session`) or needs none (`proto-ver`) restores a broken one; any other throws `lost`.
public actor BLETransport: Transport {
    /// Opens Bluetooth; called by the first exchange, so that nothing is touched before.
    public typealias Opening = @Sendable () async throws(BluetoothError) -> BluetoothCentral

    public nonisolated let peer: String
    public nonisolated let deadlines: ExchangeDeadlines
    public nonisolated var restoresLinks: Bool { true }

    private let opening: @Sendable () async throws(BluetoothError) -> any LinkMaking
    private let wanted: BoardFilter
    private let times: Times
    private let logger: Logger

    private var links: (any LinkMaking)?
    private var link: BoardLink?
    /// The board that was found first; no other is used later.
    private var found: BoardFilter?
    /// Its BlueZ object after the first connection, and the adapter of that connection.
    private var last: (adapter: OpenAdapter, device: String)?
    private var hasForgotten = false
    private var wantsForgetting = false
    /// Whether the board answered over this link.
    private var hasAnswered = false
    /// The answered requests to the session's endpoint since any other one, on this link. A handshake has two rounds (one under Security 0).
    private var handshakeRounds = 0
    /// Consecutive links that broke before an answer, although BlueZ has keys for the board.
    private var lossesWithBond = 0
    private var isClosed = false
    /// The running exchange or connection attempt.
    private var running: [Int: Task<[UInt8], any Error>] = [:]
    private var nextID = 0

    /// The time limits for the parts of an exchange.
    public struct Times: Sendable {
        /// For finding the board and connecting to it, all attempts together.
        public var connect: Duration
        /// For one answer on `prov-session`, for which the board computes.
        public var handshake: Duration
        /// For any other answer. BlueZ ends the link after 30 s without one.
        public var exchange: Duration
        /// When the board must be found and connected for the first time, however long ``connect`` is. A caller with a deadline sets it a
        /// little earlier, and so gets the reason (`not_found`) instead of a timeout.
        public var foundBy: ContinuousClock.Instant?
        /// How much longer to wait if all links of the adapters are in use.
        public var waiting: Duration

        public init(
            connect: Duration = .seconds(30), handshake: Duration = .seconds(15), exchange: Duration = .seconds(10),
            foundBy: ContinuousClock.Instant? = nil, waiting: Duration = .zero
        ) {
            self.waiting = waiting
            self.connect = connect
            self.handshake = handshake
            self.exchange = exchange
            self.foundBy = foundBy
        }

        fileprivate func connecting(isFirst: Bool) -> Duration {
            guard isFirst, let foundBy else { return connect }
            return min(connect, max(.zero, ContinuousClock.now.duration(to: foundBy)))
        }

        /// How much longer than ``connecting(isFirst:)`` to wait for a link.
        fileprivate func patience(isFirst: Bool) -> Duration {
            guard isFirst, let foundBy else { return waiting }
            return min(waiting, max(.zero, ContinuousClock.now.duration(to: foundBy) - connecting(isFirst: true)))
        }
    }

    /// - Parameters:
    ///   - board: the board; if several match, the first that is received.
    ///   - central: this machine's Bluetooth, shared by all transports of a process.
    public init(
        to board: BoardFilter, times: Times = Times(),
        logger: Logger = Logger(label: "protocomm.ble") { _ in SwiftLogNoOpLogHandler() }, central: @escaping Opening
    ) {
        self.init(to: board, times, logger) { () async throws(BluetoothError) in try await central() }
    }

    /// - Parameters:
    ///   - board: the board; if several match, the first that is received.
    ///   - adapters: this machine's adapters, shared by all transports of a process. Any of them may make the connection.
    public init(
        to board: BoardFilter, times: Times = Times(),
        logger: Logger = Logger(label: "protocomm.ble") { _ in SwiftLogNoOpLogHandler() }, adapters: BluetoothAdapters
    ) {
        self.init(to: board, times, logger) { () async throws(BluetoothError) in adapters }
    }

    private init(
        to board: BoardFilter, _ times: Times, _ logger: Logger,
        opening: @escaping @Sendable () async throws(BluetoothError) -> any LinkMaking
    ) {
        wanted = board
        peer = board.label
        self.opening = opening
        self.times = times
        self.logger = logger
        deadlines = ExchangeDeadlines(
            handshake: times.connect + times.waiting + times.handshake + .seconds(1),
            exchange: times.connect + times.waiting + times.exchange + .seconds(1))
    }

    /// The maximum length of an attribute; a board that accepts less answers with `tooLong`.
    public nonisolated func maximumRequestLength(on endpoint: Endpoint) -> Int? { ValueLimit.attribute }

    public func exchange(_ request: [UInt8], on endpoint: Endpoint) async throws(BoardError) -> [UInt8] {
        guard !isClosed else { throw error(.cancelled, endpoint, "The transport was closed.") }
        // An empty write is acknowledged without an effect, so the previous answer would be read again.
        guard !request.isEmpty else { throw error(.malformed, endpoint, "The board does not accept an empty request.") }
        let limit = link.map { ValueLimit.bytes(mtu: $0.mtu) } ?? ValueLimit.attribute
        guard request.count <= limit else {
            throw error(
                .tooLong, endpoint, "The request has \(request.count) bytes; the board accepts at most \(limit).")
        }
        nextID += 1
        let id = nextID
        // A separate task, so that closing ends it.
        let task = Task { try await self.converse(request, endpoint) }
        running[id] = task
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        running[id] = nil
        do {
            return try result.get()
        } catch let error as BoardError {
            throw error
        } catch {
            throw self.error(.cancelled, endpoint, "The exchange was cancelled.")
        }
    }

    /// Ends the connection properly, so that the board advertises again at once.
    public func close() async {
        isClosed = true
        for task in running.values { task.cancel() }
        for task in running.values { _ = await task.result }
        guard let (adapter, device) = last else { return }
        let link = link
        (self.link, last) = (nil, nil)
        let slot = link?.slot
        await adapter.leave(device, isOurs: link?.isUp == true)
        link?.hold.release()
        slot?.release(after: device, at: adapter)
    }

    // MARK: one exchange

    private func converse(_ request: [UInt8], _ endpoint: Endpoint) async throws(BoardError) -> [UInt8] {
        do {
            let link = try await connected(for: endpoint)
            guard let characteristic = link.endpoints[endpoint] else { throw missing(endpoint) }
            let answer = try await link.exchange(
                request, at: characteristic, within: endpoint == .session ? times.handshake : times.exchange)
            hasAnswered = true
            handshakeRounds = endpoint == .session ? handshakeRounds + 1 : 0
            guard !answer.isEmpty else {
                throw error(.refused, endpoint, "The board refused the request: its answer is empty.")
            }
            return answer
        } catch let error as BoardError {
            throw error
        } catch let failure as BluetoothError {
            // The caller knows that its handshake is over.
            handshakeRounds = 0
            if [.linkLost, .radioLost].contains(failure.code) { giveUpLink() }
            throw error(failure, endpoint)
        } catch {
            throw self.error(.cancelled, endpoint, "The exchange was cancelled.")
        }
    }

    private func connected(for endpoint: Endpoint) async throws -> BoardLink {
        if let link, link.isUp { return link }
        let isFirst = found == nil
        // The board forgets a handshake with its link, and would count the second round alone as a wrong proof.
        let breaksHandshake = handshakeRounds % 2 == 1
        (link, handshakeRounds) = (nil, 0)
        if breaksHandshake { throw BluetoothError(.linkLost, message: "The Bluetooth connection to the board broke.") }
        guard isFirst || endpoint == .session || endpoint == .version else {
            throw BluetoothError(.linkLost, message: "The Bluetooth connection to the board broke.")
        }
        defer { wantsForgetting = false }
        let made = try await opened().connect(
            found ?? wanted, within: times.connecting(isFirst: isFirst), waiting: times.patience(isFirst: isFirst),
            isFresh: wantsForgetting)
        guard !isClosed else {
            await made.adapter.release(made.board.path)
            throw BluetoothError.cancelled
        }
        // BlueZ's data about the board's previous address is removed like the rest.
        if let last, last.adapter === made.adapter, last.device != made.board.path {
            await last.adapter.leave(last.device, isOurs: false)
        }
        found = .found(made.board)
        last = (made.adapter, made.board.path)
        link = made
        hasAnswered = false
        return made
    }

    private func opened() async throws(BluetoothError) -> any LinkMaking {
        if let links { return links }
        let made = try await opening()
        links = made
        return made
    }

    /// Returns the error for a missing endpoint. The board may have it anyway, because BlueZ remembers the attributes of another firmware.
    /// So the connection is closed once, and the next session reads the endpoints again.
    private func missing(_ endpoint: Endpoint) -> BoardError {
        guard !hasForgotten else { return .missing(endpoint, peer) }
        hasForgotten = true
        wantsForgetting = true
        giveUpLink()
        return BoardError(
            .lost, endpoint: endpoint, peer: peer, message: "The board's endpoints are read again.",
            reason: BoardError.endpointsUnknown)
    }

    /// Closes the link; the next session opens another one.
    private func giveUpLink() {
        guard let link else { return }
        self.link = nil
        guard link.isUp else { return noteLoss(of: link) }
        // Ends by itself, within the limits of its calls. The next connection waits for it, because the link owns the board until then.
        Task {
            await link.adapter.release(link.board.path)
            link.slot?.release()
        }
    }

    /// Counts broken links: a board that lost its keys breaks each link at the first request, when it is to be encrypted.
    private func noteLoss(of link: BoardLink) {
        guard !hasAnswered, link.adapter.watch.read({ $0.isBonded(link.board.path) }) else { return lossesWithBond = 0 }
        lossesWithBond += 1
        if lossesWithBond == 2 { wantsForgetting = true }
    }

    // MARK: errors

    private func error(_ failure: BluetoothError, _ endpoint: Endpoint) -> BoardError {
        let code: BoardError.Code =
            switch failure.code {
            case .refused: .refused
            case .tooLong: .tooLong
            // Also the bus: this machine's end of the link.
            case .linkLost, .radioLost: .lost
            case .timeout: .timeout
            case .cancelled: .cancelled
            // These include failed pairing, and values that must not be written. Another connection would not help, and nothing was sent.
            default: .unreachable
            }
        return BoardError(
            code, endpoint: endpoint, peer: peer, message: failure.message, reason: failure.code.name)
    }

    private func error(_ code: BoardError.Code, _ endpoint: Endpoint, _ message: String) -> BoardError {
        BoardError(code, endpoint: endpoint, peer: peer, message: message)
    }
}

/// The maximum length of a value that a board accepts.
///
/// Espressif's two stacks differ: NimBLE accepts 512 bytes, Bluedroid 481 (257 if Security 2 is not compiled in). Bluedroid is recognised
/// by the larger MTU that it accepts (ESP-IDF, protocomm_nimble.c and simple_ble.c).
enum ValueLimit {
    /// The maximum length of an attribute (Bluetooth Core Specification, volume 3, part F, 3.2.9).
    static let attribute = 512
    static let bluedroid = 481
    /// NimBLE's preferred MTU. BlueZ offers 517, and Bluedroid's own is 500.
    static let nimbleMTU = 256

    static func bytes(mtu: Int?) -> Int {
        guard let mtu, mtu > nimbleMTU else { return attribute }
        return bluedroid
    }
}
