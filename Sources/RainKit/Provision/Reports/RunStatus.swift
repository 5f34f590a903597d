// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import Synchronization

/// Where a run stands: for its events, and for the error that it ends with, which may be made after it was given up.
final class RunStatus: Sendable {
    struct Position {
        var step = OnboardingStep.account
        /// When the step began, counted from the run's beginning.
        var stepBegan = Duration.zero
        var attempt = 1
        /// The step could not do what it is there for, and is made up for later.
        var isDeferred = false
        /// What the board calls itself.
        var boardName: NodeID?
        /// The mapping that is worked on.
        var mapping: MappingConversation?
        /// Whether an earlier run left what may be about a board that has not answered yet.
        var hasLeftOver = false
        /// What the board's application has answered.
        var answers: [CustomData] = []
        /// What went wrong and may still turn out well: the error to end with where time is over.
        var trouble: StepFailure?

        var nodeID: NodeID? { mapping?.progress.node ?? boardName }
        var isPendingKept: Bool { mapping?.progress.isKept ?? hasLeftOver }
    }

    private let position = Mutex(Position())
    private let time: Timekeeper
    private let began: Duration
    private let report: @Sendable (OnboardingEvent) -> Void

    init(time: Timekeeper, report: @escaping @Sendable (OnboardingEvent) -> Void) {
        self.time = time
        self.report = report
        began = time.elapsed()
    }

    var elapsed: Duration { time.elapsed() - began }

    func update(_ change: (inout Position) -> Void) { position.withLock { change(&$0) } }

    func emit(_ state: OnboardingEvent.State) {
        if case .deferred = state { update { $0.isDeferred = true } }
        let now = now
        report(
            OnboardingEvent(
                step: now.step, state: state, attempt: now.attempt, elapsed: elapsed, nodeID: now.nodeID))
    }

    func begin(_ step: OnboardingStep) {
        let elapsed = elapsed
        update { position in
            position.step = step
            position.stepBegan = elapsed
            position.isDeferred = false
        }
        emit(.started)
    }

    /// A step that was deferred has not finished.
    func finish() {
        if !now.isDeferred { emit(.finished) }
    }

    func error(_ failure: StepFailure) -> OnboardingError {
        let now = now
        return switch failure.cause {
        case .cancelled:
            OnboardingError(
                .cancelled, step: now.step, message: "Cancelled in step \(now.step.rawValue).",
                isPendingKept: now.isPendingKept)
        // It is not certain what the store holds.
        case .cannotKeepPending: OnboardingError(failure.cause, step: now.step, message: failure.message)
        default:
            OnboardingError(
                failure.cause, step: now.step, message: failure.message, isPendingKept: now.isPendingKept)
        }
    }

    /// Why the run is late, told by what it was waiting for.
    func deadlineError(after deadline: Duration) -> OnboardingError {
        let now = now
        if let trouble = now.trouble { return error(trouble) }
        let late = "Not done after \(deadline.formattedSeconds) s, in step \(now.step.rawValue)."
        // A step that had too little time says nothing about the board or its network.
        let cause = elapsed - now.stepBegan < now.step.usualTime ? nil : now.step.whatHoldsItUp
        var error = OnboardingError(
            .deadline, step: now.step, message: cause.map { "\($0) \(late)" } ?? "\(late) More time may do.",
            isPendingKept: now.isPendingKept)
        error.needsOnlyTime = cause == nil
        return error
    }

    /// What the board's application has answered, by endpoint.
    var answers: [CustomData] { now.answers }

    private var now: Position { position.withLock { $0 } }
}

extension Duration {
    /// Whole or tenths of seconds, such as `120` or `0.5`.
    var formattedSeconds: String {
        let tenths = (self / .milliseconds(100)).rounded()
        return tenths.truncatingRemainder(dividingBy: 10) == 0
            ? "\(Int(tenths) / 10)" : "\(Int(tenths) / 10).\(Int(tenths) % 10)"
    }
}

/// Why a step failed. ``RunStatus`` makes the run's error of it, with what it knows beside: in which step, and what is kept.
struct StepFailure: Error {
    var cause: OnboardingError.Cause
    /// Empty for a cancellation, whose message names the step.
    var message: String

    init(_ cause: OnboardingError.Cause, message: String) {
        self.cause = cause
        self.message = message
    }

    init(_ error: ProvisioningError) {
        self = error.code == .cancelled ? .cancelled : StepFailure(.board(error), message: error.message)
    }

    init(_ error: AccountError) {
        self = error.code == .cancelled ? .cancelled : StepFailure(.account(error), message: error.message)
    }

    init(_ error: RecordStoreError) {
        self.init(
            .cannotKeepPending(error),
            message:
                "The pending mapping could not be kept in \(error.path): \(error.message). If the folder is not writable, make "
                + "it so.")
    }

    /// The board takes no settings: where time is over meanwhile.
    static var occupied: StepFailure {
        StepFailure(
            .deadline,
            message: "The time is over, and the board is still trying a network that it was given before; it takes no "
                + "other meanwhile. Restart the board, then run this again.")
    }

    static var cancelled: StepFailure { StepFailure(.cancelled, message: "") }
}
