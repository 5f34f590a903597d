// SPDX-License-Identifier: Apache-2.0
import RainIO
import RainKit
import Synchronization

/// Runs `body` within a time limit, which may be the rest of a `total`. When the time is over, `body` is cancelled and waited for. If it
/// succeeds all the same, its value counts; otherwise this throws `deadline`.
///
/// - Parameter unfinished: what had not happened by then, for the message, where the error of `body` does not name it.
func withTimeout<Value: Sendable>(
    _ limit: Duration, of total: Duration? = nil, unfinished awaited: String? = nil,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let unfinished = Mutex<String?>(nil)
    let noting: @Sendable () async throws -> Value = {
        do {
            return try await body()
        } catch {
            unfinished.withLock {
                $0 = (error as? AccountError)?.unfinished ?? (error as? ProvisioningError)?.unfinished
            }
            throw error
        }
    }
    switch await withDeadline(limit, sleep: { try await Task.sleep(for: $0) }, noting) {
    case .success(let value)?: return value
    // The command itself was cancelled: its error is only a consequence.
    case .failure? where Task.isCancelled: throw CancellationError()
    case .failure(let error)?: throw error
    case nil:
        let time = DurationArgument(total ?? limit).defaultValueDescription
        throw CommandFailure(
            .deadline,
            message: unfinished.withLock { $0 }.map { "After \(time) (--timeout), \($0)." }
                ?? NotedHTTPClient.givenUp.map { "\($0) did not answer within \(time) (--timeout)".asSentence }
                ?? awaited.map { "After \(time) (--timeout), \($0)." }
                ?? "Not done after \(time) (--timeout).")
    }
}
