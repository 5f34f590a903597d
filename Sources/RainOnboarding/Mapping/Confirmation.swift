// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount

/// The last step: waits until the cloud knows that the board is the user's, and says so.
struct Confirmation: Sendable {
    let context: RunContext
    let mapping: MappingConversation

    /// Hands the board's signature to the cloud. When the cloud cannot be reached now, ``confirm(_:)`` makes up for it.
    func verify() async throws(StepFailure) {
        do throws(AccountError) {
            try await mapping.tell()
        } catch {
            guard error.isTransient else { throw try await mapping.failure(error) }
            context.status.emit(.deferred(error.message))
        }
    }

    func confirm(_ lostBoard: LostBoard?) async throws(StepFailure) {
        var wait = ConfirmationWait(lostBoard: lostBoard)
        while !mapping.progress.isConfirmed {
            let answer: MappingConversation.Answer
            do throws(AccountError) {
                answer = try await mapping.ask()
            } catch {
                try await retry(after: error, &wait)
                continue
            }
            wait.reached(at: context.time.elapsed())
            note(wait)
            switch answer {
            case .confirmed: return
            case .notYet:
                let lastNews = mapping.progress.lastNews
                try await context.pause(try wait.notYet(at: context.time.elapsed(), lastNews: lastNews))
            case .ended(let status):
                try await mapping.settle(confirmed: false)
                throw StepFailure(.mappingRefused(status), message: status.endedMessage)
            }
        }
    }

    private func retry(after error: AccountError, _ wait: inout ConfirmationWait) async throws(StepFailure) {
        guard error.isTransient else { throw try await mapping.failure(error) }
        let isFirst = !wait.isOut
        let pause = try wait.failed(error, at: context.time.elapsed(), quietUntil: context.quiet.until)
        note(wait)
        if isFirst { context.tell(.waitingForCloud) }
        try await context.pause(pause)
    }

    /// Where time is over meanwhile, the run's status says why.
    private func note(_ wait: ConfirmationWait) {
        let trouble = wait.trouble
        context.status.update { $0.trouble = trouble }
    }
}
