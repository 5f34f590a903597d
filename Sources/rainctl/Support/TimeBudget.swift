// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The time that all steps of a command may take together. The clock stops while a person is asked.
final class TimeBudget: Sendable {
    private let limit: Duration
    private let end: Mutex<ContinuousClock.Instant>

    init(_ limit: DurationArgument) {
        self.limit = limit.duration
        end = Mutex(ContinuousClock.now + limit.duration)
    }

    var left: Duration { max(.zero, ContinuousClock.now.duration(to: end.withLock { $0 })) }

    /// Runs one step within what is left; throws `deadline` when that is over.
    /// - Parameter unfinished: what had not happened by then, for the message.
    func run<Value: Sendable>(
        unfinished: String? = nil, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withTimeout(left, of: limit, unfinished: unfinished, body)
    }

    func asking<Answer, Failure: Error>(_ question: () throws(Failure) -> Answer) throws(Failure) -> Answer {
        let start = ContinuousClock.now
        defer { end.withLock { $0 += start.duration(to: ContinuousClock.now) } }
        return try question()
    }

    /// The same for a question whose wait suspends.
    func askingOnScreen<Answer: Sendable>(_ question: () async -> Answer) async -> Answer {
        let start = ContinuousClock.now
        defer { end.withLock { $0 += start.duration(to: ContinuousClock.now) } }
        return await question()
    }
}
