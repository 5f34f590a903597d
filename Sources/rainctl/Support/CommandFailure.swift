// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

/// The failure of a command: its exit status, its reason, and one or two sentences that say what to try.
struct CommandFailure: Error {
    var status: ExitStatus
    /// The cause, more exact than the status, in snake case, such as `invalid_credentials`.
    var reason: String
    var message: String
    /// The step of an onboarding, if there was one.
    var step: String?
    /// The part that was done before the failure, for the document beside the error.
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
    /// The same error with the options and commands that help.
    init(_ error: RainKitError) {
        switch error.cause {
        case .board(let board): self.init(board)
        case .account(let account): self.init(account)
        case .unfinishedClaim(let claim): self.init(claim)
        case .cancelled:
            let message = error.message.withAdvice(error.remedies)
            self.init(.cancelled, message: error.step.map(StepText.cancelled) ?? message)
        default: self.init(error.code, reason: error.reason, message: error.message.withAdvice(error.remedies))
        }
        status = error.code
        step = error.step?.rawValue
        if error.isPendingKept, status != .ok {
            message += " The unfinished mapping is kept: run the same command again to finish it."
        }
        if let network = error.mayStillJoin {
            message +=
                error.mayAppearInAccount
                ? " The board may still join \(network) and appear in your account. Check with: \(commandLine("node list"))"
                : " The board may still join \(network)."
        }
    }

    init(_ error: BoardError) {
        let plain = RainKitError(error)
        self.init(plain.code, reason: plain.reason, message: error.message.withAdvice(error.remedies))
    }

    init(_ error: AccountError) { self.init(error, given: .ofThisCommand) }

    /// - Parameter settings: the settings that this command was given, which the message may name.
    init(_ error: AccountError, given settings: GivenSettings) {
        self.init(
            ExitStatus(error), reason: "\(error.code)",
            message: settings.message(of: error).asSentence.withAdvice(error.remedies))
        if let wait = error.retryAfter {
            retryAfter = wait
            // The exact time follows.
            message = message.replacing("; try again in a few minutes", with: "")
            message += " The server asks clients to wait \(wait.wholeSeconds) s."
        }
        if let words = error.serverMessage, !words.isEmpty, !error.message.contains("\"\(words)\"") {
            message += " (The server says: \(words.onOneLine))"
        }
        // At the end and without a full stop, so that it can be copied.
        if let command = Self.nextCommand(after: error.code, of: error.account) {
            message += " Run: \(commandLine(command))"
        }
    }

    /// Returns the command to run next, if there is one. RainMaker's own commands do nothing for users of another provider.
    /// - Parameter account: the account's name, if known.
    static func nextCommand(
        after code: AccountError.Code, of account: String? = nil, at provider: NamedProvider? = .ofThisCommand
    ) -> String? {
        if let provider {
            switch code {
            case .notSignedIn, .expired: return provider.signIn
            case .unverifiedUser, .passwordResetRequired: return provider.pages(after: code)
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
        case let error as RainKitError: self.init(error)
        case let error as BoardError: self.init(error)
        case let error as AccountError: self.init(error)
        default: self.init(RainKitError(wrapping: error))
        }
    }
}

/// The outcome of a command: the exit status, whose name is the `code` of JSON errors (docs/exit-codes.md).
typealias ExitStatus = RainKitError.Code
