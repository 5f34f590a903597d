// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainIO

/// Asks the cloud a question that ends with a deadline, for loops that ask it again and again.
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

    /// The error of a cloud that was silent.
    static let silence = AccountError(.timeout, message: "the cloud did not answer in time")
}
