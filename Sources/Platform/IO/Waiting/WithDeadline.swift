// SPDX-License-Identifier: Apache-2.0

/// Asks one question against the clock, by the rules of ``race(against:_:)``: nil where the time was over and no answer had come.
///
/// - Parameter sleep: waits for so long on the clock that counts; throws when it is cancelled first.
package func withDeadline<Answer: Sendable, Failure: Error>(
    _ limit: Duration, sleep: @escaping @Sendable (Duration) async throws -> Void,
    _ question: @escaping @Sendable () async throws(Failure) -> Answer
) async -> Result<Answer, Failure>? {
    await race(against: { try await sleep(limit) }, question)
}
