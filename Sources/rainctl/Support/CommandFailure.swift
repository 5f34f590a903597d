// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

/// Why a command fails: its exit status, its reason, and one or two sentences that say what to try.
struct CommandFailure: Error {
    var status: ExitStatus
    /// What happened, more exactly than the status says it, in snake case, such as `invalid_credentials`.
    var reason: String
    var message: String
    /// The step of an onboarding, where there was one.
    var step: String?
    /// What was done all the same, for the document beside the error.
    var result: (any Encodable & Sendable)?
    /// How long the server asked clients to wait before the next request.
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
            // An unknown cause has no status of its own, but the board still needs to be claimed.
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
        case .notReported:
            self.init(.mappingFailed, reason: "not_reported", message: error.message)
        case .claimNeeded:
            self.init(.claimNeeded, message: error.message.withAdvice(error.remedies))
        case .cannotKeepPending:
            self.init(.cannotWrite, message: error.message)
        case .cancelled:
            self.init(.cancelled, message: StepText.cancelled(error.step))
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
            case .busy, .joining: .temporary
            case .deviceLost, .mayBeJoining: .deviceLost
            case .wrongProofOfPossession: .wrongPop
            case .securityMismatch: .securityMismatch
            case .wifiAuthenticationFailed: .wifiAuthFailed
            case .wifiNetworkNotFound: .wifiApNotFound
            case .claimFailed, .claimInterrupted: .claimNeeded
            case .invalidArgument: .usage
            case .cancelled: .cancelled
            // More data for an endpoint than the transport carries.
            case .unsupported where error.reason == "too_long": .badData
            case .malformed where error.reason == "qr_code_as_proof": .badData
            default: .other
            }
        self.init(
            status, reason: error.reason ?? "\(error.code)".snakeCased,
            message: error.message.withAdvice(error.remedies))
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
            case .network, .proxy, .portal, .timeout, .serverFault, .rateLimited, .malformedAnswer: .temporary
            case .tls, .insecureURL, .invalidConfiguration, .unsupported, .notRenewable, .clientRefused, .moved,
                .unreadableDefinition, .proxyRefused:
                .config
            case .cannotStore, .storeReadOnly: .cannotWrite
            case .storeAbsent, .storeLocked, .storeNotAnswering, .cannotListen: .unavailable
            case .noAnswer: .deadline
            case .storeUnreadable: .badData
            case .cancelled: .cancelled
            default: .other
            }
        self.init(status, reason: "\(error.code)", message: error.message.asSentence.withAdvice(error.remedies))
        if let command = Self.nextCommand(after: error.code, of: error.account) {
            message += " Run: rainctl \(command)."
        }
        if let wait = error.retryAfter {
            retryAfter = wait
            message += " It asks to be left alone for \(wait.wholeSeconds) s."
        }
        if let words = error.serverMessage, !words.isEmpty, !error.message.contains("\"\(words)\"") {
            message += " (The server says: \(words.onOneLine))"
        }
    }

    /// The command to run next, where there is one. RainMaker's own commands do nothing for the users of another provider.
    /// - Parameter account: whose it is, where that is known.
    static func nextCommand(
        after code: AccountError.Code, of account: String? = nil, at provider: NamedProvider? = .ofThisCommand
    ) -> String? {
        if let provider {
            switch code {
            case .notSignedIn, .expired: return provider.signIn
            case .unverifiedUser, .passwordResetRequired: return provider.pages
            default: return nil
            }
        }
        // An account may have another name than its user.
        let user = account.flatMap { $0.isUserName ? $0.onOneLine.asShellWord : nil }
        let named = user == nil ? account.map { " --account \($0.onOneLine.asShellWord)" } ?? "" : ""
        return switch code {
        case .notSignedIn, .expired: "login \(user ?? "USER")\(named)"
        case .unverifiedUser: "account confirm \(user ?? "USER")"
        case .passwordResetRequired: "account password reset \(user ?? "USER")"
        case .challengeExpired: "login \(user ?? "USER") --one-time-code"
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
        case is CancellationError: self.init(.cancelled, message: "Cancelled.")
        default: self.init(.other, message: "\(error)")
        }
    }
}

extension Duration {
    /// Rounded up: a request must not come before the time is over.
    var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}

/// How a command ended. The names are the `code` of JSON errors; docs/exit-codes.md explains each.
enum ExitStatus: Int32, CaseIterable {
    case ok = 0
    case other = 1
    case wrongPop = 10
    case wifiAuthFailed = 11
    case wifiApNotFound = 12
    case mappingFailed = 13
    case deviceLost = 14
    case securityMismatch = 15
    case deadline = 16
    case claimNeeded = 17
    case batchPartial = 20
    case usage = 64
    case badData = 65
    case unavailable = 69
    case cannotWrite = 73
    case temporary = 75
    case auth = 77
    case config = 78
    case cancelled = 130

    var name: String {
        switch self {
        case .ok: "ok"
        case .other: "other"
        case .wrongPop: "wrong_pop"
        case .wifiAuthFailed: "wifi_auth_failed"
        case .wifiApNotFound: "wifi_ap_not_found"
        case .mappingFailed: "mapping_failed"
        case .deviceLost: "device_lost"
        case .securityMismatch: "security_mismatch"
        case .deadline: "deadline"
        case .claimNeeded: "claim_needed"
        case .batchPartial: "batch_partial"
        case .usage: "usage"
        case .badData: "bad_data"
        case .unavailable: "unavailable"
        case .cannotWrite: "cannot_write"
        case .temporary: "temporary"
        case .auth: "auth"
        case .config: "config"
        case .cancelled: "cancelled"
        }
    }
}
