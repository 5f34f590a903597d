// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainMaker

/// Why a call of ``RainKitClient`` failed: what happened, in which step of a run, and what to try.
///
/// ```swift
/// do {
///     try await kit.provision(.serial("/dev/ttyUSB0"), network: home)
/// } catch let error as RainKitError {
///     print(error.code.name, error.reason, error.message, error.advice)
/// }
/// ```
///
/// The functions of the client throw this error and no other. They declare no typed throw: both natural forms of `catch` behind one crash
/// the compiler (Swift 6.3.1).
public struct RainKitError: Error, Sendable, CustomStringConvertible {
    /// What ended the call, or the run.
    public enum Cause: Sendable {
        /// The board, the connection to it, or its verdict about the Wi-Fi credentials.
        case board(BoardError)
        /// The cloud, or the session with it: nobody is signed in, there is no network, or the cloud refused.
        case account(AccountError)
        /// The time for the run is over.
        case deadline
        /// The cloud ended the mapping without confirming it.
        case mappingRefused(MappingStatus)
        /// The board is on its network and does not report to this cloud. Its firmware or its claim belongs to another deployment, or its
        /// network has no internet access.
        case notReported
        /// The board has no cloud certificate yet, and this client cannot get it one.
        case claimNeeded
        /// The records for later runs could not be kept, or those of earlier runs could not be read.
        case cannotKeepPending(RecordStoreError)
        /// The task was cancelled, or a person was asked and gave up.
        case cancelled
        /// The request does not match what exists: an unknown name of a node, a value that a parameter does not take, or a file that cannot
        /// be used. `reason` is a word in snake case.
        case request(Code, reason: String)
        /// A claim over the cable failed after the cloud had certified the board's key. It has the error and the files that are kept.
        indirect case unfinishedClaim(UnfinishedClaim)
    }

    /// The cause, for programs that decide by it. ``message`` is for people.
    public var cause: Cause
    /// The step that the run was in; nil for a call that is not a run.
    public var step: OnboardingStep?
    /// One or two sentences: what happened, and what to try. Never holds a secret.
    public var message: String
    /// Whether the next run can finish the mapping without starting over.
    public var isPendingKept: Bool
    /// The network that the board may still join although the run was cancelled, because the board has its settings; nil if it has not.
    public var mayStillJoin: SSID?
    /// Whether the board then also appears in the account, because it was associated with the user.
    public var mayAppearInAccount = false
    /// Whether the time was too short for the step to show what holds it up.
    var needsOnlyTime = false
    /// The remedies of a request.
    private let ownRemedies: [Remedy]
    /// The reason why a cancelled wait had not ended, such as "not a byte has come from …": for callers with their own deadline.
    package var unfinished: String?
    /// The server that had not answered a request which was cancelled.
    var silentHost: String?

    public init(
        _ cause: Cause, step: OnboardingStep? = nil, message: String, remedies: [Remedy] = [],
        isPendingKept: Bool = false
    ) {
        self.cause = cause
        self.step = step
        self.message = message
        ownRemedies = remedies
        self.isPendingKept = isPendingKept
    }

    /// - Parameter step: the step that the run was in.
    public init(_ error: BoardError, step: OnboardingStep? = nil) {
        let error = error.forSetup
        self.init(error.code == .cancelled ? .cancelled : .board(error), step: step, message: error.message)
        unfinished = error.unfinished
    }

    /// - Parameter step: the step that the run was in.
    public init(_ error: AccountError, step: OnboardingStep? = nil) {
        self.init(error.code == .cancelled ? .cancelled : .account(error), step: step, message: error.message)
        unfinished = error.unfinished
        silentHost = error.silentHost
    }

    /// - Parameter node: the node's name in messages.
    public init(_ error: ParameterError, at node: String) {
        self.init(
            .request(.badData, reason: "\(error.code)".snakeCased), message: "\(node.onOneLine): \(error.message)")
    }

    /// Returns the error that a function of RainKit has thrown, whatever its type. Any other error gets the code `other`.
    public init(wrapping error: any Error) {
        switch error {
        case let error as RainKitError: self = error
        case let error as BoardError: self.init(error)
        case let error as AccountError: self.init(error)
        case let error as LedgerError: self.init(error)
        case let error as BatchFileError: self.init(error)
        case is CancellationError: self = .cancelled
        default: self.init(.request(.other, reason: "other"), message: "\(error)")
        }
    }

    /// The error between the program and a cloud, if that was the cause.
    public var account: AccountError? { if case .account(let error) = cause { error } else { nil } }

    /// The error between the program and a board, if that was the cause.
    public var board: BoardError? { if case .board(let error) = cause { error } else { nil } }

    /// Runs a part of the client whose errors are of one side, and throws them as the client's.
    static func rethrowing<Answer, Failure: Error>(_ body: () throws(Failure) -> Answer) throws -> Answer {
        do { return try body() } catch { throw RainKitError(wrapping: error) }
    }

    static func rethrowing<Answer, Failure: Error>(
        _ body: () async throws(Failure) -> Answer
    ) async throws -> Answer {
        do { return try await body() } catch { throw RainKitError(wrapping: error) }
    }

    /// The error of a cancelled task.
    package static var cancelled: RainKitError { RainKitError(.cancelled, message: "Cancelled.") }

    /// A call that is itself wrong.
    static func usage(_ message: String, remedies: [Remedy] = []) -> RainKitError {
        RainKitError(.request(.usage, reason: "usage"), message: message, remedies: remedies)
    }

    /// The kind of failure: the exit status of `rainctl`, and the `code` of JSON errors.
    public var code: Code {
        switch cause {
        case .board(let error):
            let code = Code(error)
            // An unknown cause has no status of its own, but the board still needs to be claimed.
            return step == .claim && code == .other ? .claimNeeded : code
        case .account(let error):
            let code = Code(error)
            return switch step {
            case .verify, .confirm: [.other, .usage].contains(code) ? .mappingFailed : code
            case .claim: [.other, .usage, .config].contains(code) ? .claimNeeded : code
            default: code
            }
        case .deadline: return .deadline
        case .mappingRefused, .notReported: return .mappingFailed
        case .claimNeeded: return .claimNeeded
        case .cannotKeepPending: return .cannotWrite
        case .cancelled: return .cancelled
        case .request(let code, _): return code
        case .unfinishedClaim(let claim): return claim.error.code
        }
    }

    /// What happened, more exactly than ``code`` says it, in snake case, such as `invalid_credentials` (`docs/reasons.md`).
    public var reason: String {
        switch cause {
        case .board(let error): error.reason ?? "\(error.code)".snakeCased
        case .account(let error): "\(error.code)"
        case .notReported: "not_reported"
        case .request(_, let reason): reason
        case .unfinishedClaim(let claim): claim.error.reason
        case .deadline, .mappingRefused, .claimNeeded, .cannotKeepPending, .cancelled: code.name
        }
    }

    /// What the caller can change, where that is known: any one of them helps.
    public var remedies: [Remedy] {
        switch cause {
        case .board(let error): error.remedies
        case .account(let error): error.remedies
        case .claimNeeded: [.claimService, .withoutMapping]
        case .deadline: needsOnlyTime || step?.whatHoldsItUp == nil ? [.moreTime] : []
        case .mappingRefused, .notReported, .cannotKeepPending, .cancelled, .request: ownRemedies
        case .unfinishedClaim(let claim): claim.error.remedies
        }
    }

    /// The remedies as one sentence, without the names of any program's options; empty if none is known.
    public var advice: String { remedies.map(\.instruction).joined(separator: ", or ").asSentence }

    /// ``message`` as a sentence. Only errors of accounts begin with a small letter; other messages may begin with a name that a user
    /// chose, which keeps its spelling.
    package var sentence: String { if case .account = cause { message.asSentence } else { message } }

    /// How long the server asked its clients to wait before the next request.
    public var retryAfter: Duration? {
        switch cause {
        case .account(let error): error.retryAfter
        case .unfinishedClaim(let claim): claim.error.retryAfter
        default: nil
        }
    }

    /// Whether the same call may succeed later, with nothing changed.
    public var isTransient: Bool { code == .temporary || code == .deadline }

    /// Whether the user has to sign in before any such call can succeed: nobody is signed in, or the session has ended.
    public var needsSignIn: Bool { account.map { [.notSignedIn, .expired, .notRenewable].contains($0.code) } ?? false }

    public var description: String { step.map { "\($0.rawValue): \(message)" } ?? message }
}

extension OnboardingStep {
    /// How long the step may take while all is well. Only then does ``whatHoldsItUp`` apply.
    var usualTime: Duration {
        switch self {
        case .identify: .seconds(2)
        case .connect, .confirm: .seconds(5)
        default: .zero
        }
    }

    /// The step as the end of a sentence: "… while looking for the board".
    var activity: String {
        switch self {
        case .account: "fetching the user id from the cloud"
        case .resume: "finishing the mappings of earlier runs"
        case .challenge: "fetching a challenge from the cloud"
        case .identify: "looking for the board"
        case .secure: "opening the secure session with the board"
        case .claim: "getting the board's certificate"
        case .reset: "making the board forget its old Wi-Fi network"
        case .scan: "asking the board for the networks in range"
        case .associate: "associating the board with its user"
        case .verify: "sending the board's answer to the cloud"
        case .customData: "sending data to the board's application"
        case .join: "sending the Wi-Fi settings to the board"
        case .connect: "waiting for the board to join the network"
        case .confirm: "waiting for the cloud to confirm the board"
        case .name: "giving the board its name"
        }
    }

    /// What to look at when the time is over in this step; nil where only time was missing.
    var whatHoldsItUp: String? {
        switch self {
        case .identify: "No board answered; check that the board is powered and in provisioning mode."
        case .connect:
            "The board is still trying to join: it may be too far away, or the network may give it no address (DHCP). Move it nearer to "
                + "the access point, check the network's name, and check that the router admits the board."
        case .confirm:
            "The board is on Wi-Fi but has not reported to the cloud. Its network may have no internet access, or its firmware or its "
                + "claim may belong to another deployment. If the network has no internet access now, try again later to finish."
        default: nil
        }
    }
}
