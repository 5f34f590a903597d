// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// A failed exchange with a board: the kind of failure, the endpoint, and what to try.
///
/// Firmware never answers a failed handshake with a status: it falls silent or closes the connection. The cause is inferred from the step.
/// A refused first command means another scheme, a refused second one a wrong proof of possession. (The handlers in protocomm's
/// `security1.c` and `security2.c` return an error, and every transport drops the answer.)
public struct ProtocommError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it. Its description is the name used here, such as `neverAnswered`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case unreachable, refused, evicted, timeout, lost, tooLong, malformed, noSuchEndpoint, busy, cancelled
            case neverAnswered, securityMismatch, wrongProofOfPossession, cipherFailure, handshakeNeeded, ended
        }
        private let value: Value
        public var description: String { value.rawValue }

        /// The board, port or host is not there. Nothing was sent.
        public static let unreachable = Code(value: .unreachable)
        /// The board received the request and sent an empty answer.
        public static let refused = Code(value: .refused)
        /// Another client has taken the board's one session. A new handshake takes it back.
        public static let evicted = Code(value: .evicted)
        /// The board answered earlier requests, but not this one within the deadline.
        public static let timeout = Code(value: .timeout)
        /// The board answered earlier requests, then the connection broke.
        public static let lost = Code(value: .lost)
        /// The request is longer than the transport can carry. Nothing was sent.
        public static let tooLong = Code(value: .tooLong)
        /// The answer is not valid.
        public static let malformed = Code(value: .malformed)
        /// The board does not have that endpoint, or the transport cannot carry its name.
        public static let noSuchEndpoint = Code(value: .noSuchEndpoint)
        /// Another program is using the port.
        public static let busy = Code(value: .busy)
        /// The calling task was cancelled, or the transport was closed.
        public static let cancelled = Code(value: .cancelled)
        /// The board has not answered any request.
        public static let neverAnswered = Code(value: .neverAnswered)
        /// The board uses another security scheme, or this transport cannot carry the requested one.
        public static let securityMismatch = Code(value: .securityMismatch)
        /// The board and the client have different proofs of possession.
        public static let wrongProofOfPossession = Code(value: .wrongProofOfPossession)
        /// An answer could not be decrypted.
        public static let cipherFailure = Code(value: .cipherFailure)
        /// There is no session yet, or a lost exchange put the two ends out of step. Perform the handshake (again).
        public static let handshakeNeeded = Code(value: .handshakeNeeded)
        /// The session was ended.
        public static let ended = Code(value: .ended)
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// The endpoint of the request; nil if the failure belongs to none.
    public var endpoint: Endpoint?
    /// The board's name, from the transport.
    public var peer: String
    /// What happened, and what to try.
    public var message: String
    /// The transport's error that caused this one, if any.
    public var cause: TransportError?
    /// Whether this board has answered any request in this session.
    public var hasAnswered: Bool
    /// Whether a handshake broke after a proof was sent, so that the board may have counted it as a wrong one.
    public var isProofInDoubt = false

    public init(
        _ code: Code, endpoint: Endpoint? = nil, peer: String, message: String, cause: TransportError? = nil,
        hasAnswered: Bool = false
    ) {
        self.code = code
        self.endpoint = endpoint
        self.peer = peer
        self.message = message
        self.cause = cause
        self.hasAnswered = hasAnswered
    }

    public var description: String {
        let place = endpoint.map { " on \($0)" } ?? ""
        return "\(code)\(place): \(message) (\(peer))"
    }
}

extension ProtocommError {
    /// Converts the transport's error; its code also depends on whether the board has ever answered.
    init(_ error: TransportError, hasAnswered: Bool) {
        let code: Code
        var message = error.message
        switch error.code {
        case .unreachable: code = .unreachable
        case .refused: code = .refused
        case .evicted where hasAnswered: code = .evicted
        case .timeout, .lost, .evicted:
            if hasAnswered {
                code = error.code == .timeout ? .timeout : .lost
            } else {
                code = .neverAnswered
                message +=
                    " The board has not answered any request yet. Check that it is powered, in provisioning mode, and the right board."
            }
        case .tooLong: code = .tooLong
        case .noSuchEndpoint: code = .noSuchEndpoint
        case .busy: code = .busy
        case .cancelled: code = .cancelled
        default: code = .malformed
        }
        self.init(
            code, endpoint: error.endpoint, peer: error.peer, message: message, cause: error, hasAnswered: hasAnswered)
    }
}
