// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

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
