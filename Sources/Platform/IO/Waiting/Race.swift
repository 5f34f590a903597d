// SPDX-License-Identifier: Apache-2.0

/// Asks one question until something ends it: nil where the end came first.
///
/// The loser is cancelled, and awaited, so that nothing of it goes on afterwards. Then
/// - an answer that comes while the question is given up counts: what was done elsewhere has been done. A failure that comes then
///   does not, as it is most likely our own giving up;
/// - where the calling task is cancelled, the question sees that and decides: its own result is returned, and never nil.
///
/// - Parameter end: returns when it is over; throws when it is cancelled first.
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

/// Asks one question against the clock, by the rules of ``race(against:_:)``: nil where the time was over and no answer had come.
///
/// - Parameter sleep: waits for so long on the clock that counts; throws when it is cancelled first.
package func withDeadline<Answer: Sendable, Failure: Error>(
    _ limit: Duration, sleep: @escaping @Sendable (Duration) async throws -> Void,
    _ question: @escaping @Sendable () async throws(Failure) -> Answer
) async -> Result<Answer, Failure>? {
    await race(against: { try await sleep(limit) }, question)
}
