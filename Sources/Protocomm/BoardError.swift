// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainCore

/// A failure between this program and a board: the kind of failure, what happened, and what to try.
///
/// A transport creates it when an exchange fails. ``ProtocommSession`` adds whether the board has ever answered, and which step of a
/// handshake failed. A `Board` (in `ESPProvisioning`) adds the meaning for the board's setup, and advice.
///
/// Firmware never answers a failed handshake with a status: it falls silent or closes the connection. The code is inferred from the step.
/// A refused first command means another scheme, a refused second one a wrong proof of possession. (The handlers in protocomm's
/// `security1.c` and `security2.c` return an error, and every transport drops the answer.)
public struct BoardError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it. Its description is the name used here, such as `neverAnswered`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case unavailable, busy, joining, neverAnswered, deviceLost, mayBeJoining, wrongProofOfPossession,
                securityMismatch
            case wifiAuthenticationFailed, wifiNetworkNotFound, wifiFailed, rejected, unsupported, notRainMaker
            case claimFailed, claimInterrupted, malformed, invalidArgument, cancelled
            case unreachable, refused, evicted, timeout, lost, tooLong, noSuchEndpoint
            case cipherFailure, handshakeNeeded, ended
        }
        private let value: Value
        public var description: String { value.rawValue }

        /// The port or host does not exist.
        public static let unavailable = Code(value: .unavailable)
        /// Another program is using the port, or another client the board's only session.
        public static let busy = Code(value: .busy)
        /// The board is trying to join a network, and accepts nothing else meanwhile.
        public static let joining = Code(value: .joining)
        /// No request was ever answered.
        public static let neverAnswered = Code(value: .neverAnswered)
        /// The board answered before, and no longer does.
        public static let deviceLost = Code(value: .deviceLost)
        /// The board fell silent while it received its Wi-Fi settings, and may have accepted them or not.
        public static let mayBeJoining = Code(value: .mayBeJoining)
        /// The board and the client have different proofs of possession. RainMaker boards stop provisioning after five wrong ones.
        public static let wrongProofOfPossession = Code(value: .wrongProofOfPossession)
        /// The requested scheme is not the board's, or this transport cannot carry it.
        public static let securityMismatch = Code(value: .securityMismatch)
        /// The access point refused the board, in most cases because the Wi-Fi password is wrong.
        public static let wifiAuthenticationFailed = Code(value: .wifiAuthenticationFailed)
        /// The board receives no network with that name: it is misspelt, out of range, or not on a band of the board.
        public static let wifiNetworkNotFound = Code(value: .wifiNetworkNotFound)
        /// The board gave up on the network without a reason.
        public static let wifiFailed = Code(value: .wifiFailed)
        /// The board answered with a status other than success.
        public static let rejected = Code(value: .rejected)
        /// The board, or its connection, does not support this function.
        public static let unsupported = Code(value: .unsupported)
        /// The firmware does not contain RainMaker: it can join Wi-Fi, but cannot be added to an account.
        public static let notRainMaker = Code(value: .notRainMaker)
        /// The board could not get its certificate. The message tells whether it must be restarted before the next try.
        public static let claimFailed = Code(value: .claimFailed)
        /// The connection broke during a claim and was restored. The claim may be repeated at once.
        public static let claimInterrupted = Code(value: .claimInterrupted)
        /// The answer does not follow the protocol.
        public static let malformed = Code(value: .malformed)
        /// The request can never work; nothing was sent.
        public static let invalidArgument = Code(value: .invalidArgument)
        /// The calling task was cancelled, or this side closed the connection to the board.
        public static let cancelled = Code(value: .cancelled)
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// The endpoint of the request; nil if the failure belongs to none.
    public var endpoint: Endpoint?
    /// The board's name, from the transport; nil if the failure came before any request.
    public var peer: String?
    /// One or two sentences: what happened, where, and what to try. Never contains a secret.
    public var message: String
    /// The underlying error; it is safe to show.
    public var cause: String?
    /// A more precise code in snake case, such as `not_found` or `powered_off`, if known. For an eviction: `session_taken` if the board
    /// reported it, `connection_taken` if that is the only explanation.
    public var reason: String?
    /// Changes that the caller can make, if known; any one of them helps.
    public var remedies: [Remedy]
    /// Whether the board had answered any request in the session of the failed one. Only the errors of an exchange have it.
    public var hasAnswered = false
    /// The code with which the transport's exchange failed; nil if it did not fail.
    package var transportCode: Code?
    /// Whether a handshake broke after a proof was sent, so that the board may have counted it as a wrong one.
    package var isProofInDoubt = false
    /// How many proofs the board has refused and counted so far (`wrongProofOfPossession`), including those of earlier runs.
    package var refusedProofs = 0
    /// Why a cancelled wait had not ended (`cancelled`), such as "no data has arrived from …". Callers with their own deadline report it.
    package var unfinished: String?
    /// Whether the board is ending its provisioning service (`deviceLost`, `mayBeJoining`), so that asking it again does not help.
    package var isLeaving = false
    /// Whether the board refused a handshake with a proof that it accepted before. A board that restarts in its middle does that, too.
    package var isRefusedHandshake = false
    /// The node id of a board that accepts no Wi-Fi settings because it has a network already; nil if it is not known, or for other errors.
    package var provisionedNode: NodeID?
    /// Whether the board did not scan (`rejected`) because it is on a network already.
    package var isOnNetwork = false
    /// The board's answer, if the board did answer, but not as the protocol requires, such as `HTTP status 500`; nil for a missing answer.
    package var faultyAnswer: String?
    /// Whether nothing listens at the port of a host that can be reached (`unreachable`).
    package var isConnectionRefused = false
    /// Whether this machine's end of the connection failed, not the board's.
    package var isOfThisMachine = false

    public init(
        _ code: Code, endpoint: Endpoint? = nil, peer: String? = nil, message: String, cause: String? = nil,
        reason: String? = nil, remedies: [Remedy] = []
    ) {
        self.code = code
        self.endpoint = endpoint
        self.peer = peer
        self.message = message
        self.cause = cause
        self.reason = reason
        self.remedies = remedies
    }

    public var description: String {
        // The cause has the endpoint and the board.
        if let cause { return "\(code): \(message) [\(cause)]" }
        return "\(code)\(endpoint.map { " on \($0)" } ?? ""): \(message)\(peer.map { " (\($0))" } ?? "")"
    }

    /// The ``reason`` of a `refused` whose only evidence is a missing answer.
    package static let noAnswer = "no_answer"
    /// The ``reason`` of a `refused` whose answer arrived, without a single byte. Firmware with an HTTP server refuses in another way.
    package static let emptyAnswer = "empty_answer"
    /// The ``reason`` of a `cancelled` or `timeout` after a part of the answer arrived.
    package static let answerCut = "answer_cut"
    /// The ``message`` of all failures over a console whose cause is that bytes get lost on the cable.
    package static let lostCharacters =
        "Characters get lost between this machine and the board's console, so the answer is incomplete. Try another cable or port, "
        + "and close other programs that use the port."
    /// Whether bytes got lost on the cable, although other bytes arrived.
    package var isAboutLostCharacters: Bool { message == Self.lostCharacters }
    /// The ``reason`` of a `lost` before which nothing was sent: the transport closed its connection to read the board's endpoints again.
    package static let endpointsUnknown = "endpoints_unknown"
    /// The ``reason`` of a `lost` whose port was removed from the bus.
    package static let portGone = "port_gone"
}

/// Codes of a ``Transport`` and of ``ProtocommSession``. A `Board` replaces them by those above.
extension BoardError.Code {
    /// The board, port or host is not there and nothing was sent, or something else answers at its address (`not_a_board`).
    public static let unreachable = Self(value: .unreachable)
    /// The board received the request and sent an empty answer: protocomm's only way to report that a handler failed.
    public static let refused = Self(value: .refused)
    /// The board ignored the request: another client has taken its one session or its one connection. A new handshake takes it back.
    public static let evicted = Self(value: .evicted)
    /// No answer within the deadline.
    public static let timeout = Self(value: .timeout)
    /// The connection broke and does not come back by itself.
    public static let lost = Self(value: .lost)
    /// The request is longer than the transport can carry; nothing was sent.
    public static let tooLong = Self(value: .tooLong)
    /// The board does not have that endpoint, or the transport cannot carry its name.
    public static let noSuchEndpoint = Self(value: .noSuchEndpoint)
    /// An answer could not be decrypted.
    public static let cipherFailure = Self(value: .cipherFailure)
    /// There is no session yet, or a lost exchange put the two ends out of step. Perform the handshake (again).
    public static let handshakeNeeded = Self(value: .handshakeNeeded)
    /// The session was ended.
    public static let ended = Self(value: .ended)

    package var isOfExchange: Bool {
        [
            .unreachable, .refused, .evicted, .timeout, .lost, .tooLong, .noSuchEndpoint, .cipherFailure,
            .handshakeNeeded, .ended,
        ].contains(self)
    }
}

extension BoardError {
    /// Adds what the session knows to a transport's error. Silence from the start is `neverAnswered`.
    func inSession(with peer: String, hasAnswered: Bool) -> BoardError {
        var error = self
        error.transportCode = code
        error.peer = error.peer ?? peer
        error.hasAnswered = hasAnswered
        switch code {
        case .unreachable, .refused, .tooLong, .noSuchEndpoint, .busy, .cancelled: break
        case .timeout, .lost, .evicted:
            guard !hasAnswered else { break }
            error.code = .neverAnswered
            guard !error.isAboutLostCharacters else { break }
            error.message +=
                " Check that the board is powered and in provisioning mode, and that it is the right board."
        default: error.code = .malformed
        }
        return error
    }

    /// Whether the request certainly did not reach the board's cipher.
    var neverReachedTheCipher: Bool {
        code == .unreachable || code == .tooLong || code == .noSuchEndpoint || code == .busy
    }
}
