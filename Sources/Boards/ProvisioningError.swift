// SPDX-License-Identifier: Apache-2.0
import RainCore

/// A board that could not be set up: the kind of failure, what happened, and what to try.
public struct ProvisioningError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it. Its description is the name used here, such as `neverAnswered`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case unavailable, busy, joining, neverAnswered, deviceLost, mayBeJoining, wrongProofOfPossession,
                securityMismatch
            case wifiAuthenticationFailed, wifiNetworkNotFound, wifiFailed, rejected, unsupported, notRainMaker
            case claimFailed, claimInterrupted, malformed, invalidArgument, cancelled
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
    /// One or two sentences: what happened, where, and what to try. Never contains a secret.
    public var message: String
    /// The underlying error; it is safe to show.
    public var cause: String?
    /// Why the board cannot be reached: the transport's own code, such as `not_found` or `powered_off`, if it has one.
    public var reason: String?
    /// Changes that the caller can make, if known; any one of them helps.
    public var remedies: [Remedy]
    /// How many proofs the board has refused and counted so far (`wrongProofOfPossession`), with ``BoardCredentials/refusedBefore``.
    package var refusedProofs = 0
    /// Why a cancelled wait had not ended (`cancelled`), such as "no data has arrived from …". Callers with their own deadline report it.
    package var unfinished: String?
    /// Whether the board is ending its provisioning service (`deviceLost`, `mayBeJoining`), so that asking it again does not help.
    package var isLeaving = false
    /// Whether this machine's end of the connection failed, not the board's.
    package var isOfThisMachine = false

    public init(
        _ code: Code, message: String, cause: String? = nil, reason: String? = nil, remedies: [Remedy] = []
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.reason = reason
        self.remedies = remedies
    }

    public var description: String { cause.map { "\(code): \(message) [\($0)]" } ?? "\(code): \(message)" }
}

extension ProvisioningError {
    /// The error for a board that fell silent in ``Board/join(_:)``.
    package static func mayBeJoining(_ peer: String, _ error: ProvisioningError) -> ProvisioningError {
        // The board did answer.
        if error.code == .malformed {
            return ProvisioningError(
                .mayBeJoining,
                message:
                    "\(error.message) It was receiving its Wi-Fi settings and may have accepted them. Look for it in your account.",
                cause: error.cause ?? error.message)
        }
        return ProvisioningError(
            .mayBeJoining,
            message:
                "The board at \(peer) stopped answering while it received its Wi-Fi settings. It may have accepted them. Look for it "
                + "in your account, or run this again.", cause: error.cause ?? error.message)
    }

    /// The error of a cancelled wait for a board's result on its network, while the board was silent.
    ///
    /// - Parameter cause: the last failure to reach it; nil if the board has only not answered.
    package func unfinished(silent peer: String, _ cause: ProvisioningError?) -> ProvisioningError {
        guard code == .cancelled else { return self }
        var error = self
        error.unfinished =
            if cause?.reason == "port_gone" {
                "the port \(peer) was removed after the board received its Wi-Fi settings"
            } else if let cause, cause.isOfThisMachine {
                cause.firstClause
            } else {
                "the board at \(peer) has not answered since it received its Wi-Fi settings"
            }
        return error
    }

    /// The first clause of the message: what happened, without the advice.
    private var firstClause: String {
        let words = message.split(separator: " ", omittingEmptySubsequences: false)
        var clause: [Substring] = []
        for word in words {
            clause.append(word)
            if [".", ":"].contains(word.last), clause.count > 3 { break }
        }
        var text = clause.joined(separator: " ")
        while let last = text.last, ".:".contains(last) { text.removeLast() }
        return text.hasPrefix("The ") ? "the" + text.dropFirst(3) : text
    }
}
