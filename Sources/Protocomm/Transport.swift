// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainIO
import Synchronization

/// Carries one request to an endpoint of one board and brings its response back. It knows nothing of security.
///
/// A transport is asked for one exchange at a time, which ``ProtocommSession`` sees to. It never sends a request twice:
/// the ciphers count messages. Cancelling the calling task ends the exchange promptly with
/// ``TransportError/Code-swift.struct/cancelled``; what was sent stays sent.
///
/// Errors, by ``TransportError/Code-swift.struct``: `unreachable` before anything was sent; `refused` when the board took the
/// request and answered with nothing (its way of saying that a handler failed); `evicted` when another client has taken the board's session or
/// connection, where the transport can tell that from a refusal; `timeout`; `lost` when the connection broke
/// for good; `tooLong` before anything was sent; `malformed` for an answer that is not one; `noSuchEndpoint`; `cancelled`.
public protocol Transport: Sendable {
    /// The name that messages and logs give the board, such as `192.168.4.1:80` or `/dev/ttyUSB0`.
    var peer: String { get }

    /// What carries one request, for messages about its length, such as "a console line".
    var carrier: String { get }

    /// The longest request in bytes that this transport can carry to that endpoint, or nil where it sets no limit of its own.
    func maximumRequestLength(on endpoint: Endpoint) -> Int?

    /// How long this transport gives a board to answer. The session enforces it; see ``ExchangeDeadlines``.
    var deadlines: ExchangeDeadlines { get }

    /// Whether a broken connection is made again by the next exchange that begins a session, so that going on after `lost` makes sense.
    var restoresLinks: Bool { get }

    /// Whether an answer may get lost or change on the way without anybody noticing, as on a wire that others write to: one that is missing
    /// or makes no sense is asked for again, some times.
    var mayGarbleAnswers: Bool { get }

    /// Sends the request to the endpoint and returns the bytes of the board's answer. Neither is encrypted or decrypted here.
    ///
    /// Throws the errors that ``Transport`` lists; `tooLong` for more bytes than ``maximumRequestLength(on:)`` allows.
    func exchange(_ request: [UInt8], on endpoint: Endpoint) async throws(TransportError) -> [UInt8]

    /// Closes the connection to the board. Closing twice is harmless; an exchange in flight ends with `cancelled`.
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
/// A handshake gets more time than the rest: computing SRP-6a took 4.5 s on a single-core chip of the family
/// (espressif/esp-idf issue 13451).
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

    /// A console's prompt tells when a command has ended, so silence means that nobody reads the line.
    public static let console = ExchangeDeadlines(handshake: .seconds(5), exchange: .seconds(5))
}

/// What went wrong between here and the board, and on which endpoint.
public struct TransportError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it. Its description is the name used here, such as `noSuchEndpoint`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case unreachable, refused, evicted, timeout, lost, tooLong, malformed, noSuchEndpoint, busy, cancelled
        }
        private let value: Value
        public var description: String { value.rawValue }

        /// The board, port or host is not there and nothing was sent; or something else answers in its place (`not_a_board`).
        public static let unreachable = Code(value: .unreachable)
        /// The board took the request and answered with nothing: protocomm's only way to say that a handler failed.
        public static let refused = Code(value: .refused)
        /// The board took no notice of the request: another client has taken its one session, or its one connection.
        public static let evicted = Code(value: .evicted)
        /// No answer within the deadline.
        public static let timeout = Code(value: .timeout)
        /// The connection broke and does not come back by itself.
        public static let lost = Code(value: .lost)
        /// The request is longer than the transport can carry; nothing was sent.
        public static let tooLong = Code(value: .tooLong)
        /// An answer came that is not one.
        public static let malformed = Code(value: .malformed)
        /// The board does not have that endpoint.
        public static let noSuchEndpoint = Code(value: .noSuchEndpoint)
        /// Another program holds the port.
        public static let busy = Code(value: .busy)
        /// The calling task was cancelled, or the transport closed.
        public static let cancelled = Code(value: .cancelled)
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// Absent where the fault came before any endpoint was asked.
    public var endpoint: Endpoint?
    /// The board's name, as the transport gives it.
    public var peer: String
    /// One sentence that says what happened and, where there is one, what to try.
    public var message: String
    /// The transport's own, finer word for it in snake case, such as `not_found` or `powered_off`, where it has one. Of an eviction,
    /// `session_taken` where the board has said so, and `connection_taken` where that is the only explanation.
    public var reason: String?

    public init(_ code: Code, endpoint: Endpoint? = nil, peer: String, message: String, reason: String? = nil) {
        self.code = code
        self.endpoint = endpoint
        self.peer = peer
        self.message = message
        self.reason = reason
    }

    /// The ``reason`` of a `refused` that nothing but a missing answer speaks of.
    package static let noAnswer = "no_answer"
    /// The ``reason`` of a `lost` whose port has left the bus.
    package static let portGone = "port_gone"

    public var description: String {
        if let endpoint { return "\(code) on \(endpoint): \(message) (\(peer))" }
        return "\(code): \(message) (\(peer))"
    }
}

/// The exchanges that are under way on a transport, so that closing it ends them at once.
package final class OpenExchanges: Sendable {
    private struct State {
        var isClosed = false
        var nextID = 0
        var ends: [Int: AsyncStream<Never>.Continuation] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Runs `body`; when the transport is closed first, `body` is cancelled, awaited, and the result is nil. On a closed transport it
    /// does not begin.
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

    /// Ends what is under way, and whatever comes after it.
    package func close() {
        let ends = state.withLock { state in
            state.isClosed = true
            return state.ends.values
        }
        for end in ends { end.finish() }
    }
}
