import RainWaiting

/// Runs `body` within a time, which may be what is left of a `total`. When that is over, cancels it and waits for it to let go; where it
/// got done meanwhile that counts, else this throws `deadline`.
func withTimeout<Value: Sendable>(
    _ limit: Duration, of total: Duration? = nil, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    switch await withDeadline(limit, sleep: { try await Task.sleep(for: $0) }, body) {
    case .success(let value)?: return value
    // Whatever broke with it: somebody wanted it to end.
    case .failure? where Task.isCancelled: throw CancellationError()
    case .failure(let error)?: throw error
    case nil:
        throw CommandFailure(
            .deadline,
            message: "Not done after \(DurationArgument(total ?? limit).defaultValueDescription) (--timeout).")
    }
}
