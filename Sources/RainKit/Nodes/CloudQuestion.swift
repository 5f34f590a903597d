// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainIO

/// Asks the cloud a question that ends with a deadline, once or again and again.
struct CloudQuestion: Sendable {
    /// The outcome of a question.
    enum Outcome<Answer> {
        case answer(Answer)
        /// The time was over before the answer came, and the cloud had had less than a second for it. That proves nothing about the cloud.
        case cut
        /// The time was over, and the cloud had had a second or more for the answer.
        case silent
    }

    let time: Timekeeper

    /// - Parameter end: when the time is over, on the clock of ``time``. A question is asked even if it is.
    func ask<Answer: Sendable>(
        until end: Duration, atLeast moment: Duration = .milliseconds(1),
        _ question: @escaping @Sendable () async throws(AccountError) -> Answer
    ) async throws(AccountError) -> Outcome<Answer> {
        let began = time.elapsed()
        switch await withDeadline(max(end - began, moment), sleep: time.sleep, question) {
        case .success(let answer)?: return .answer(answer)
        case .failure(let error)?: throw error
        case nil where Task.isCancelled: throw AccountError(.cancelled, message: "Cancelled.")
        case nil: return time.elapsed() - began >= .seconds(1) ? .silent : .cut
        }
    }

    /// The reaction to an answer.
    enum Reaction {
        /// Nothing more is wanted.
        case done
        /// Something has happened, so the next question comes soon.
        case news
        /// The pauses between the questions grow.
        case quiet
    }

    /// How asking again and again ended.
    enum Ending {
        /// An answer was the last one wanted.
        case done
        /// The time is over. The error says why the last question had no answer; nil if it had one, or was cut off by the end.
        case late(AccountError?)
        /// The cloud refused to answer. Asking again would not change that.
        case refused(AccountError)
    }

    /// Asks again and again until an answer is the last one wanted, the time is over, or the cloud refuses.
    ///
    /// A call that fails for the moment is made again.
    ///
    /// - Parameters:
    ///   - end: when the time is over, on the clock of ``time``.
    ///   - schedule: the pauses between questions. They start again with each news.
    ///   - moment: the time for the last question if less is left.
    ///   - take: receives each answer.
    /// - Throws: `cancelled` only.
    func askAgain<Answer: Sendable>(
        until end: Duration, _ schedule: PollSchedule, atLeast moment: Duration = .milliseconds(1),
        _ question: @escaping @Sendable () async throws(AccountError) -> Answer, take: (Answer) -> Reaction
    ) async throws(AccountError) -> Ending {
        // The first question needs no pause.
        var start = schedule
        _ = start.next()
        var pauses = start
        var fault: AccountError?
        while true {
            do throws(AccountError) {
                switch try await ask(until: end, atLeast: moment, question) {
                case .cut: return .late(fault)
                case .silent: return .late(Self.silence)
                case .answer(let answer):
                    fault = nil
                    switch take(answer) {
                    case .done: return .done
                    case .news: pauses = start
                    case .quiet: break
                    }
                }
            } catch {
                guard error.code != .cancelled else { throw error }
                guard error.isTransient else { return .refused(error) }
                fault = error
            }
            let left = end - time.elapsed()
            guard left > .zero else { return .late(fault) }
            do { try await time.sleep(min(pauses.next(), left)) } catch {
                throw AccountError(.cancelled, message: "Cancelled.")
            }
        }
    }

    /// The error of a cloud that was silent.
    static let silence = AccountError(.timeout, message: "the cloud did not answer in time")
}
