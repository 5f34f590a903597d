// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// Why a conversation with a board did not go on, where, and what to try.
///
/// Firmware never answers a failed handshake with a status: it falls silent, or closes the connection. What went wrong is
/// inferred from the step: a refused first command means another scheme, a refused second one a wrong proof of possession
/// (protocomm's `security1.c` and `security2.c` return an error from the handler, and every transport drops the answer).
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
        /// The board took the request and answered with nothing.
        public static let refused = Code(value: .refused)
        /// Another client has taken the board's one session. A new handshake takes it back.
        public static let evicted = Code(value: .evicted)
        /// The board answered before, and did not answer this within the deadline.
        public static let timeout = Code(value: .timeout)
        /// The board answered before, and the connection broke.
        public static let lost = Code(value: .lost)
        /// The request is longer than the transport can carry. Nothing was sent.
        public static let tooLong = Code(value: .tooLong)
        /// An answer came that is not one.
        public static let malformed = Code(value: .malformed)
        /// The board does not have that endpoint, or the transport cannot carry its name.
        public static let noSuchEndpoint = Code(value: .noSuchEndpoint)
        /// Another program holds the port.
        public static let busy = Code(value: .busy)
        /// The calling task was cancelled, or the transport was closed.
        public static let cancelled = Code(value: .cancelled)
        /// Nothing that was sent to this board was ever answered.
        public static let neverAnswered = Code(value: .neverAnswered)
        /// The board speaks another security scheme, or this transport cannot carry the one that was asked for.
        public static let securityMismatch = Code(value: .securityMismatch)
        /// Board and client do not know the same proof of possession.
        public static let wrongProofOfPossession = Code(value: .wrongProofOfPossession)
        /// An answer could not be decrypted.
        public static let cipherFailure = Code(value: .cipherFailure)
        /// There is no session yet, or a lost exchange has put the two ends out of step. Shake hands (again).
        public static let handshakeNeeded = Code(value: .handshakeNeeded)
        /// The session was ended.
        public static let ended = Code(value: .ended)
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// The endpoint that was asked; nil where the failure belongs to none.
    public var endpoint: Endpoint?
    /// The board's name, as the transport gives it.
    public var peer: String
    /// What happened and what to try.
    public var message: String
    /// The transport's error underneath, where there is one.
    public var cause: TransportError?
    /// Whether this board has ever answered anything in this session.
    public var hasAnswered: Bool
    /// Whether a proof had gone out in a handshake that then broke, so that the board may have counted it as a wrong one.
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
    /// The transport's word for it, sharpened by whether the board ever answered.
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
                    " The board has not answered anything yet: is it powered, in provisioning mode, and the right one?"
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
