// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainIO
import Synchronization

/// Sends one request to an endpoint of one board and returns its response. It knows nothing about security.
///
/// A transport handles one exchange at a time; ``ProtocommSession`` guarantees that. It never sends a request twice, because the ciphers
/// count messages. Cancelling the calling task ends the exchange promptly with ``BoardError/Code-swift.struct/cancelled``, but does not
/// take back a request that was sent.
///
/// Errors, by ``BoardError/Code-swift.struct``:
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
    func exchange(_ request: [UInt8], on endpoint: Endpoint) async throws(BoardError) -> [UInt8]

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
    /// For all other exchanges.
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
