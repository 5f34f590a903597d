// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainIO
import Synchronization

/// Sends one request to an endpoint of one board and returns its response. It knows nothing about security.
///
/// A transport handles one exchange at a time; ``ProtocommSession`` guarantees that. It never sends a request twice, because the ciphers
/// count messages. Cancelling the calling task ends the exchange promptly with ``TransportError/Code-swift.struct/cancelled``, but does not
/// take back a request that was sent.
///
/// Errors, by ``TransportError/Code-swift.struct``:
///
/// - `unreachable`, `tooLong`: nothing was sent.
/// - `refused`: the board received the request and sent an empty answer. That is its way to report that a handler failed.
/// - `evicted`: another client took the board's session or connection, and the transport can distinguish that from a refusal.
/// - `lost`: the connection broke and does not come back.
/// - `malformed`: the answer is not valid.
/// - `timeout`, `noSuchEndpoint`, `busy`, `cancelled`.
public protocol Transport: Sendable {
    /// The board's name in messages and logs, such as `192.168.4.1:80` or `/dev/ttyUSB0`.
    var peer: String { get }

    /// The carrier of one request, such as "a console line", for messages about its length.
    var carrier: String { get }

    /// Returns the maximum length in bytes of a request to that endpoint, or nil if this transport sets no limit.
    func maximumRequestLength(on endpoint: Endpoint) -> Int?

    /// How long a board may take to answer over this transport. The session enforces it; see ``ExchangeDeadlines``.
    var deadlines: ExchangeDeadlines { get }

    /// Whether the next exchange that begins a session restores a broken connection, so that it makes sense to continue after `lost`.
    var restoresLinks: Bool { get }

    /// Whether an answer may get lost or damaged unnoticed, as on a serial line that other tasks write to. The caller then repeats a
    /// request whose answer is missing or makes no sense, a few times.
    var mayGarbleAnswers: Bool { get }

    /// Sends the request to the endpoint and returns the bytes of the board's answer. It neither encrypts nor decrypts.
    ///
    /// Throws the errors that ``Transport`` lists; `tooLong` if the request is longer than ``maximumRequestLength(on:)``.
    func exchange(_ request: [UInt8], on endpoint: Endpoint) async throws(TransportError) -> [UInt8]

    /// Closes the connection to the board. Closing twice is harmless; a running exchange ends with `cancelled`.
    func close() async
}

extension Transport {
    public var carrier: String { "this transport" }
    public var deadlines: ExchangeDeadlines { .standard }
    public var restoresLinks: Bool { false }
    public var mayGarbleAnswers: Bool { false }
}

/// How long a board may take to answer.
///
/// A handshake gets more time than other exchanges: SRP-6a took 4.5 s on a single-core chip of the family (espressif/esp-idf issue 13451).
public struct ExchangeDeadlines: Sendable, Hashable {
    /// For each exchange on `prov-session`.
    public var handshake: Duration
    /// For every other exchange.
    public var exchange: Duration

    public init(handshake: Duration, exchange: Duration) {
        self.handshake = handshake
        self.exchange = exchange
    }

    /// For transports that set no deadlines of their own: 15 s for each exchange of a handshake, 10 s for any other.
    public static let standard = ExchangeDeadlines(handshake: .seconds(15), exchange: .seconds(10))

    /// 5 s for each exchange. A console's prompt shows that a command has ended, so silence means that nothing reads the line.
    public static let console = ExchangeDeadlines(handshake: .seconds(5), exchange: .seconds(5))
}

/// A failed exchange between this machine and the board: the kind of failure, and the endpoint.
public struct TransportError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it. Its description is the name used here, such as `noSuchEndpoint`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case unreachable, refused, evicted, timeout, lost, tooLong, malformed, noSuchEndpoint, busy, cancelled
        }
        private let value: Value
        public var description: String { value.rawValue }

        /// The board, port or host is not there and nothing was sent, or something else answers at its address (`not_a_board`).
        public static let unreachable = Code(value: .unreachable)
        /// The board received the request and sent an empty answer: protocomm's only way to report that a handler failed.
        public static let refused = Code(value: .refused)
        /// The board ignored the request: another client has taken its one session or its one connection.
        public static let evicted = Code(value: .evicted)
        /// No answer within the deadline.
        public static let timeout = Code(value: .timeout)
        /// The connection broke and does not come back by itself.
        public static let lost = Code(value: .lost)
        /// The request is longer than the transport can carry; nothing was sent.
        public static let tooLong = Code(value: .tooLong)
        /// The answer is not valid.
        public static let malformed = Code(value: .malformed)
        /// The board does not have that endpoint.
        public static let noSuchEndpoint = Code(value: .noSuchEndpoint)
        /// Another program is using the port.
        public static let busy = Code(value: .busy)
        /// The calling task was cancelled, or the transport was closed.
        public static let cancelled = Code(value: .cancelled)
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// The endpoint of the request; nil if the failure came before any request.
    public var endpoint: Endpoint?
    /// The board's name, from the transport.
    public var peer: String
    /// One sentence: what happened and, if possible, what to try.
    public var message: String
    /// The transport's own, more precise code in snake case, such as `not_found` or `powered_off`, if it has one. For an eviction:
    /// `session_taken` if the board reported it, `connection_taken` if that is the only explanation.
    public var reason: String?

    public init(_ code: Code, endpoint: Endpoint? = nil, peer: String, message: String, reason: String? = nil) {
        self.code = code
        self.endpoint = endpoint
        self.peer = peer
        self.message = message
        self.reason = reason
    }

    /// The ``reason`` of a `refused` whose only evidence is a missing answer.
    package static let noAnswer = "no_answer"
    /// The ``reason`` of a `cancelled` or `timeout` after a part of the answer arrived.
    package static let answerCut = "answer_cut"
    /// The ``reason`` of a `lost` before which nothing was sent: the transport closed its connection to read the board's endpoints again.
    package static let endpointsUnknown = "endpoints_unknown"
    /// The ``reason`` of a `lost` whose port was removed from the bus.
    package static let portGone = "port_gone"

    public var description: String {
        if let endpoint { return "\(code) on \(endpoint): \(message) (\(peer))" }
        return "\(code): \(message) (\(peer))"
    }
}

/// The running exchanges of a transport, so that closing it ends them at once.
package final class OpenExchanges: Sendable {
    private struct State {
        var isClosed = false
        var nextID = 0
        var ends: [Int: AsyncStream<Never>.Continuation] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Runs `body` and returns its result. If the transport is closed first, `body` is cancelled and awaited, and the result is nil. On a
    /// closed transport `body` does not begin.
    package func run<Answer: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () async throws(Failure) -> Answer
    ) async -> Result<Answer, Failure>? {
        let (closing, end) = AsyncStream.makeStream(of: Never.self)
        let id: Int? = state.withLock { state in
            guard !state.isClosed else { return nil }
            defer { state.nextID += 1 }
            state.ends[state.nextID] = end
            return state.nextID
        }
        guard let id else { return nil }
        defer { state.withLock { _ = $0.ends.removeValue(forKey: id) } }
        return await race(
            against: {
                for await _ in closing {}
                try Task.checkCancellation()
            }, body)
    }

    /// Ends running exchanges, and every later one.
    package func close() {
        let ends = state.withLock { state in
            state.isClosed = true
            return state.ends.values
        }
        for end in ends { end.finish() }
    }
}
