/// Runs `body` within a time, which may be what is left of a `total`; when that is over, cancels it, waits for it to let go, and throws `deadline`.
func withTimeout<Value: Sendable>(
    _ limit: Duration, of total: Duration? = nil, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw CommandFailure(
                .deadline,
                message: "Not done after \(DurationArgument(total ?? limit).defaultValueDescription) (--timeout).")
        }
        defer { group.cancelAll() }
        return try await group.next()!
    }
}
