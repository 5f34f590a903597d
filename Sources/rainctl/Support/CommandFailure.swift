import RainKit
import RainCore

/// Why a command stops: its exit status, the fine cause, and one or two sentences that say what to try.
struct CommandFailure: Error {
    var status: ExitStatus
    /// The fine cause in snake case, such as `invalid_credentials`.
    var reason: String
    var message: String
    /// The step of an onboarding, where there was one.
    var step: String?
    /// How long the server asked to be left alone.
    var retryAfter: Duration?

    init(_ status: ExitStatus, reason: String? = nil, message: String, step: String? = nil) {
        self.status = status
        self.reason = reason ?? status.name
        self.message = message
        self.step = step
    }
}

extension CommandFailure {
    init(_ error: OnboardingError) {
        switch error.cause {
        case .board(let board):
            self.init(board)
            // Whatever it was, the board still needs to be claimed.
            if error.step == .claim, status == .other { status = .claimNeeded }
        case .account(let account):
            self.init(account)
            if [.other, .usage].contains(status), error.step == .verify || error.step == .confirm {
                status = .mappingFailed
            }
            if error.step == .claim, [.other, .usage, .config].contains(status) { status = .claimNeeded }
        case .deadline:
            self.init(.deadline, message: error.message.withAdvice(error.remedies))
        case .mappingRefused:
            self.init(.mappingFailed, message: error.message)
        case .claimNeeded:
            self.init(.claimNeeded, message: error.message.withAdvice(error.remedies))
        case .cannotKeepPending:
            self.init(.cannotWrite, message: error.message)
        case .cancelled:
            self.init(.cancelled, message: error.message)
        }
        step = error.step.rawValue
        if error.isPendingKept, status != .ok {
            message += " What the cloud still has to confirm is kept: run the same command again to finish it."
        }
    }

    init(_ error: ProvisioningError) {
        let status: ExitStatus =
            switch error.code {
            case .unavailable, .neverAnswered: .unavailable
            case .busy: .temporary
            case .deviceLost, .mayBeJoining: .deviceLost
            case .wrongProofOfPossession: .wrongPop
            case .securityMismatch: .securityMismatch
            case .wifiAuthenticationFailed: .wifiAuthFailed
            case .wifiNetworkNotFound: .wifiApNotFound
            case .claimFailed, .claimInterrupted: .claimNeeded
            case .invalidArgument: .usage
            case .cancelled: .cancelled
            default: .other
            }
        self.init(
            status, reason: error.reason ?? "\(error.code)".snakeCased,
            message: error.message.withAdvice(error.remedies))
    }

    init(_ error: BluetoothError) {
        let status: ExitStatus =
            switch error.code {
            case .linkLost, .timeout: .deviceLost
            case .cancelled: .cancelled
            case .refused, .tooLong, .pairingFailed: .other
            default: .unavailable
            }
        self.init(status, reason: error.code.name, message: error.message)
    }

    init(_ error: AccountError) {
        let status: ExitStatus =
            switch error.code {
            case .invalidCredentials, .unknownUser, .unverifiedUser, .passwordResetRequired, .secondStepRequired,
                .expired, .notSignedIn, .signInFailed, .wrongCode, .codeExpired, .challengeExpired,
                .accessDenied, .invalidGrant, .untrustedAnswer, .usedCode, .insufficientScope, .abandoned,
                .wrongContext, .webSessionRequired, .pending:
                .auth
            case .weakPassword, .invalidUserName, .invalidPhoneNumber, .invalidName, .invalidTag, .invalidLocale,
                .invalidInput, .missingParameter, .unknownProvider:
                .usage
            case .network, .timeout, .serverFault, .rateLimited, .malformedAnswer: .temporary
            case .tls, .insecureURL, .invalidConfiguration, .unsupported, .notRenewable, .clientRefused, .moved,
                .unreadableDefinition:
                .config
            case .cannotStore, .storeReadOnly: .cannotWrite
            case .storeAbsent, .storeLocked, .storeNotAnswering, .cannotListen: .unavailable
            case .noAnswer: .deadline
            case .storeUnreadable: .badData
            case .cancelled: .cancelled
            default: .other
            }
        self.init(status, reason: "\(error.code)", message: error.message.asSentence.withAdvice(error.remedies))
        if let command = Self.nextCommand(after: error.code) { message += " Run: rainctl \(command)." }
        if let wait = error.retryAfter {
            retryAfter = wait
            message += " It asks to be left alone for \(wait.wholeSeconds) s."
        }
        if let words = error.serverMessage, !words.isEmpty { message += " (The server says: \(words.onOneLine))" }
    }

    /// The command that mends it, where there is one.
    private static func nextCommand(after code: AccountError.Code) -> String? {
        switch code {
        case .notSignedIn, .expired: "login USER"
        case .unverifiedUser: "account confirm USER"
        case .passwordResetRequired: "account password reset USER"
        case .challengeExpired: "login USER --one-time-code"
        case .notForGuests: "account convert USER"
        default: nil
        }
    }

    /// For code that throws one of several typed errors.
    init(_ error: any Error) {
        switch error {
        case let error as CommandFailure: self = error
        case let error as OnboardingError: self.init(error)
        case let error as ProvisioningError: self.init(error)
        case let error as AccountError: self.init(error)
        case let error as BluetoothError: self.init(error)
        case is CancellationError: self.init(.cancelled, message: "Cancelled.")
        default: self.init(.other, message: "\(error)")
        }
    }
}

extension Duration {
    /// Rounded up, so that nobody comes too early.
    var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}

extension String {
    /// `wrongProofOfPossession` as `wrong_proof_of_possession`.
    var snakeCased: String {
        reduce(into: "") { result, character in
            if character.isUppercase { result += "_" }
            result += character.lowercased()
        }
    }

    /// With a capital letter in front and a full stop behind.
    var asSentence: String {
        guard let first, let last else { return self }
        let ended = ".!?".contains(last) ? self : self + "."
        return first.isLowercase ? first.uppercased() + ended.dropFirst() : ended
    }

    /// Text from elsewhere, made safe for one line of a terminal: control characters become spaces, at most 300 characters.
    var onOneLine: String { String(String.UnicodeScalarView(unicodeScalars.prefix(300))).withoutControls }

    /// The whole text with a space for each control character: what a board, a server or a file calls itself may hold sequences that
    /// a terminal obeys.
    var withoutControls: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) ? " " : $0 }))
    }
}
