// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import Synchronization

/// The state of a run, for its events and for its final error. The error may be made after the run has been given up.
final class RunStatus: Sendable {
    struct Position {
        var step = OnboardingStep.account
        /// When the step began, counted from the run's beginning.
        var stepBegan = Duration.zero
        var attempt = 1
        /// The step could not be completed, and is completed later.
        var isDeferred = false
        /// The board's own name.
        var boardName: NodeID?
        /// What the board has reported about itself.
        var identity: BoardIdentity?
        /// The mapping that the run is working on.
        var mapping: MappingConversation?
        /// Whether an earlier run left a mapping that may be about a board that has not answered yet.
        var hasLeftOver = false
        /// The answers of the board's application.
        var answers: [CustomData] = []
        /// A problem that may still be solved: the error to end with when the time is over.
        var trouble: RainKitError?
        /// The network that the board may be joining, because the board has its settings.
        var joining: SSID?
        /// What delays the step, if more is known than for any board.
        var holdUp: String?
        /// What the step was waiting for when it was cancelled.
        var unfinished: String?

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
            (position.unfinished, position.holdUp) = (nil, nil)
        }
        emit(.started)
    }

    /// Whether the step of the moment could not be completed.
    var isDeferred: Bool { now.isDeferred }

    func checkpoint(_ state: OnboardingCheckpoint.State, of step: OnboardingStep) -> OnboardingCheckpoint {
        let now = now
        return OnboardingCheckpoint(step: step, state: state, nodeID: now.nodeID, identity: now.identity)
    }

    /// Reports the end of the step, unless it was deferred.
    func finish() {
        if !now.isDeferred { emit(.finished) }
    }

    /// Returns the error with what else is known: its step, and whether something is kept for a later run.
    func error(_ failure: RainKitError) -> RainKitError {
        let now = now
        return switch failure.cause {
        case .cancelled: cancelled(now)
        // It is not known what the store holds.
        case .cannotKeepPending: RainKitError(failure.cause, step: now.step, message: failure.message)
        default:
            RainKitError(
                failure.cause, step: now.step, message: failure.message, isPendingKept: now.isPendingKept)
        }
    }

    private func cancelled(_ now: Position) -> RainKitError {
        var error = RainKitError(
            .cancelled, step: now.step, message: "Cancelled while \(now.step.activity).",
            isPendingKept: now.isPendingKept)
        error.mayStillJoin = now.joining
        error.mayAppearInAccount = now.mapping != nil
        return error
    }

    /// Returns the error of a run whose time is over, with what it was waiting for.
    func deadlineError(after deadline: Duration) -> RainKitError {
        let now = now
        if let trouble = now.trouble { return error(trouble) }
        let late = "The run did not finish within \(deadline.formattedSeconds) s, and ended while \(now.step.activity)."
        if let unfinished = now.unfinished {
            var error = RainKitError(
                .deadline, step: now.step, message: "\(unfinished.asSentence) \(late)", isPendingKept: now.isPendingKept
            )
            // Then the step itself has a longer explanation.
            error.needsOnlyTime = now.step == .identify
            return error
        }
        // A step that had too little time shows nothing about the board or its network.
        let cause = elapsed - now.stepBegan < now.step.usualTime ? nil : now.holdUp ?? now.step.whatHoldsItUp
        var error = RainKitError(
            .deadline, step: now.step,
            message: cause.map { "\($0) \(late)" } ?? "\(late) A longer time limit may help.",
            isPendingKept: now.isPendingKept)
        error.needsOnlyTime = cause == nil
        return error
    }

    /// The answers of the board's application, by endpoint.
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

extension RainKitError {
    init(_ error: RecordStoreError) {
        self.init(
            .cannotKeepPending(error),
            message:
                "The unfinished mapping could not be saved in \(error.path): \(error.message). If the folder is not writable, make it writable."
        )
    }

    /// The board accepts no settings: the error if the time ends meanwhile.
    ///
    /// - Parameter hasStatus: whether the board answers with protocomm's status, as opposed to a line on a console.
    static func occupied(hasStatus: Bool) -> RainKitError {
        let status = hasStatus ? " (status 5, internal error)" : ""
        return RainKitError(
            .deadline,
            message:
                "The board refuses to apply the Wi-Fi settings\(status). It may still be trying a network that it received earlier, "
                + "and accepts no other network meanwhile. Restart the board, then try again.")
    }
}
