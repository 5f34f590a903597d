// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Why a board could not be set up, in which step, and what to try.
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

        /// The port or host is not there.
        public static let unavailable = Code(value: .unavailable)
        /// Another program holds the port, or another client the board's one session.
        public static let busy = Code(value: .busy)
        /// The board is trying to join a network and does nothing else meanwhile.
        public static let joining = Code(value: .joining)
        /// Nothing that was sent was ever answered.
        public static let neverAnswered = Code(value: .neverAnswered)
        /// The board answered before, and no longer does.
        public static let deviceLost = Code(value: .deviceLost)
        /// It fell silent while it was handed its Wi-Fi settings, and may have taken them or not.
        public static let mayBeJoining = Code(value: .mayBeJoining)
        /// Board and client do not have the same proof of possession. RainMaker boards stop provisioning after five wrong ones.
        public static let wrongProofOfPossession = Code(value: .wrongProofOfPossession)
        /// The scheme asked for is not the board's, or does not fit through this transport.
        public static let securityMismatch = Code(value: .securityMismatch)
        /// The access point refused the board, in most cases because the Wi-Fi password is wrong.
        public static let wifiAuthenticationFailed = Code(value: .wifiAuthenticationFailed)
        /// The board hears no network of that name: it is misspelt, out of reach, or not on a band that the board receives.
        public static let wifiNetworkNotFound = Code(value: .wifiNetworkNotFound)
        /// The board gave up on the network without saying why.
        public static let wifiFailed = Code(value: .wifiFailed)
        /// The board answered with a status other than success.
        public static let rejected = Code(value: .rejected)
        /// The board, or this way of talking to it, has no such function.
        public static let unsupported = Code(value: .unsupported)
        /// The firmware has no RainMaker in it: it can join Wi-Fi, but not an account.
        public static let notRainMaker = Code(value: .notRainMaker)
        /// The board could not be given its certificate, and the message says whether it has to be restarted before the next try.
        public static let claimFailed = Code(value: .claimFailed)
        /// The connection broke in a claim and was made again: the claim may be begun anew at once.
        public static let claimInterrupted = Code(value: .claimInterrupted)
        /// The answer is not what the protocol says.
        public static let malformed = Code(value: .malformed)
        /// What was asked for can never work; nothing was sent.
        public static let invalidArgument = Code(value: .invalidArgument)
        /// The calling task was cancelled, or this side closed the connection to the board.
        public static let cancelled = Code(value: .cancelled)
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// One or two sentences: what happened, where, and what to try. Never holds a secret.
    public var message: String
    /// The error underneath, already safe to show.
    public var cause: String?
    /// Why the board cannot be reached, in the transport's own word where it has one, such as `not_found` or `powered_off`.
    public var reason: String?
    /// What the caller can change, where that is known: any one of them helps.
    public var remedies: [Remedy]
    /// How many proofs the board has refused and counted so far (`wrongProofOfPossession`), with ``BoardCredentials/refusedBefore``.
    package var refusedProofs = 0
    /// The reason why a cancelled wait had not ended (`cancelled`), such as "not a byte has come from …". Callers with a deadline of their
    /// own report it.
    package var unfinished: String?
    /// The board is ending its provisioning service (`deviceLost`, `mayBeJoining`), so that asking it again is no use.
    package var isLeaving = false

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
    /// For boards that fell silent in ``Board/join(_:)``.
    package static func mayBeJoining(_ peer: String, _ error: ProvisioningError) -> ProvisioningError {
        ProvisioningError(
            .mayBeJoining,
            message:
                "The board at \(peer) stopped answering while it was handed its Wi-Fi settings. It may have taken them: look for it "
                + "in your account, or run this again.", cause: error.cause ?? error.message)
    }
}
