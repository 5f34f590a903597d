// SPDX-License-Identifier: Apache-2.0

/// Runs a question until it has an answer or `end` returns. Returns nil if `end` came first.
///
/// The loser is cancelled, and awaited, so that nothing of it runs afterwards.
/// - An answer that comes during the cancellation counts, because its effect elsewhere has happened. A failure that comes then does not
///   count, as it is most likely the result of the cancellation.
/// - If the calling task is cancelled, the question decides: its own result is returned, never nil.
///
/// - Parameter end: returns when the time is over; throws if it is cancelled first.
package func race<Answer: Sendable, Failure: Error>(
    against end: @escaping @Sendable () async throws -> Void,
    _ question: @escaping @Sendable () async throws(Failure) -> Answer
) async -> Result<Answer, Failure>? {
    await withTaskGroup(of: Finish<Answer, Failure>.self) { group in
        group.addTask {
            do throws(Failure) {
                return .question(.success(try await question()))
            } catch {
                return .question(.failure(error))
            }
        }
        group.addTask { .end(isOver: (try? await end()) != nil) }
        var result: Result<Answer, Failure>?
        var isLate = false
        for await finish in group {
            switch finish {
            case .question(let answer):
                result = answer
                group.cancelAll()
            case .end(isOver: true) where result == nil:
                isLate = true
                group.cancelAll()
            case .end: continue
            }
        }
        if isLate, !Task.isCancelled, case .failure? = result { return nil }
        return result
    }
}

private enum Finish<Answer: Sendable, Failure: Error>: Sendable {
    case question(Result<Answer, Failure>)
    case end(isOver: Bool)
}

/// Runs a question with a time limit, by the rules of ``race(against:_:)``. Returns nil if the time was over and no answer had come.
///
/// - Parameter sleep: waits for a duration on the clock in use; throws if it is cancelled first.
package func withDeadline<Answer: Sendable, Failure: Error>(
    _ limit: Duration, sleep: @escaping @Sendable (Duration) async throws -> Void,
    _ question: @escaping @Sendable () async throws(Failure) -> Answer
) async -> Result<Answer, Failure>? {
    await race(against: { try await sleep(limit) }, question)
}

/// Sleeps for a duration, to which the time of questions is added. A question that is open at the end is waited for.
///
/// - Parameters:
///   - timeAsked: how long somebody has been asked so far, including an open question; nil if nobody is asked.
///   - sleep: waits for a duration on the clock in use; throws if it is cancelled first.
package func sleepWithoutQuestions(
    _ limit: Duration, timeAsked: (@Sendable () -> Duration)?, sleep: (Duration) async throws -> Void
) async throws {
    guard let timeAsked else { return try await sleep(limit) }
    let before = timeAsked()
    var (slept, left) = (Duration.zero, limit)
    while left > .zero {
        try await sleep(left)
        slept += left
        let rest = limit + timeAsked() - before - slept
        // An open question adds to the rest all the time.
        left = rest > .zero ? max(rest, .milliseconds(100)) : .zero
    }
}
