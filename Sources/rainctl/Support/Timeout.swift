// SPDX-License-Identifier: Apache-2.0
import RainWaiting

/// Runs `body` within a time limit, which may be the rest of a `total`. When the time is over, `body` is cancelled and waited for. If it
/// succeeds all the same, its value counts; otherwise this throws `deadline`.
func withTimeout<Value: Sendable>(
    _ limit: Duration, of total: Duration? = nil, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    switch await withDeadline(limit, sleep: { try await Task.sleep(for: $0) }, body) {
    case .success(let value)?: return value
    // The command itself was cancelled: its error is only a consequence.
    case .failure? where Task.isCancelled: throw CancellationError()
    case .failure(let error)?: throw error
    case nil:
        let time = DurationArgument(total ?? limit).defaultValueDescription
        throw CommandFailure(
            .deadline,
            message: NotedHTTPClient.givenUp.map { "\($0) did not answer within \(time) (--timeout)." }
                ?? "Not done after \(time) (--timeout).")
    }
}
