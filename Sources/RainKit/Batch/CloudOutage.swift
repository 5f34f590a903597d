// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainIO
import Synchronization

/// Whether the cloud of a batch can be reached. While it cannot, no board begins, and the boards that met the outage wait for its end.
///
/// One task asks the cloud, however many boards wait.
final class CloudOutage: Sendable {
    /// What is known after a board's run has failed.
    enum Verdict: Sendable {
        /// The cloud answers, so the failure is the board's own.
        case none
        /// The cloud did not answer, and does so again now.
        case over
        /// The cloud has not answered for longer than the patience, or the work ends.
        case lasting
    }

    private struct State {
        var question: Task<Verdict, Never>?
        var isDown = false
    }

    private let ask: @Sendable () async throws(AccountError) -> Void
    private let time: Timekeeper
    private let patience: Duration
    private let report: @Sendable (BatchEvent) -> Void
    private let isOver: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - ask: asks the cloud something small.
    ///   - patience: how long the cloud is asked again.
    ///   - isOver: called at the end of an outage.
    init(
        time: Timekeeper, patience: Duration, report: @escaping @Sendable (BatchEvent) -> Void,
        isOver: @escaping @Sendable () -> Void, ask: @escaping @Sendable () async throws(AccountError) -> Void
    ) {
        self.ask = ask
        self.time = time
        self.patience = patience
        self.report = report
        self.isOver = isOver
    }

    var isDown: Bool { state.withLock { $0.isDown } }

    /// Finds out whether the cloud can be reached. If it cannot, returns when it answers again, or when waiting is useless.
    func verdict(after error: RainKitError) async -> Verdict {
        let question = state.withLock { state in
            if let question = state.question { return question }
            // Every caller awaits it, and the end of the batch cancels it.
            let question = Task { await self.find(error) }
            state.question = question
            return question
        }
        return await withTaskCancellationHandler {
            await question.value
        } onCancel: {
            question.cancel()
        }
    }

    /// Ends the wait: the station stops.
    func giveUp() { state.withLock { $0.question }?.cancel() }

    private func find(_ error: RainKitError) async -> Verdict {
        defer {
            state.withLock { state in
                state.question = nil
                state.isDown = false
            }
        }
        if await answers() { return .none }
        state.withLock { $0.isDown = true }
        report(.cloudUnreachable(error))
        let began = time.elapsed()
        var schedule = PollSchedule(from: .seconds(1), to: .seconds(30))
        _ = schedule.next()
        while time.elapsed() - began < patience {
            guard (try? await time.sleep(schedule.next())) != nil else { return .lasting }
            guard await answers() else { continue }
            state.withLock { $0.isDown = false }
            report(.cloudAnswers)
            isOver()
            return .over
        }
        return .lasting
    }

    /// A refusal is an answer, too: the board's run reports it.
    private func answers() async -> Bool {
        do throws(AccountError) {
            try await ask()
            return true
        } catch {
            return !error.isTransient && error.code != .cancelled
        }
    }
}

extension RainKitError {
    /// Whether the cloud did not answer, or did not answer in time.
    var mayBeOutage: Bool {
        switch cause {
        case .account(let error): error.isTransient
        case .deadline: [.account, .resume, .challenge, .claim, .verify, .confirm].contains(step)
        default: false
        }
    }
}
