// SPDX-License-Identifier: Apache-2.0

/// A board that is being set up, as a sequence of what happens; its end is ``node``.
///
/// ```swift
/// let run = kit.provisioning(.serial("/dev/ttyUSB0"), proof: "abcd1234", network: home)
/// for try await event in run { print(event) }
/// let node = try await run.node
/// ```
///
/// The run begins at once. Leaving its loop, or letting go of the value, cancels it; so does cancelling the task that waits for ``node``.
public struct ProvisioningRun: AsyncSequence, Sendable {
    /// What happens to the board: a step begins, tells of its progress, and ends.
    public typealias Element = OnboardingEvent
    private let events: AsyncThrowingStream<OnboardingEvent, any Error>
    private let task: Task<OnboardedNode, any Error>

    init(
        _ run:
            @escaping @Sendable (
                @escaping @Sendable (OnboardingEvent) -> Void
            ) async throws(OnboardingError) -> OnboardedNode
    ) {
        // A run ends with its deadline, and so does what it has to tell.
        let (events, continuation) = AsyncThrowingStream.makeStream(of: OnboardingEvent.self)
        let task = Task {
            do {
                let node = try await run { continuation.yield($0) }
                continuation.finish()
                return node
            } catch {
                continuation.finish(throwing: error)
                throw error
            }
        }
        continuation.onTermination = { reason in if case .cancelled = reason { task.cancel() } }
        self.events = events
        self.task = task
    }

    /// What came of it. Throws `OnboardingError`.
    public var node: OnboardedNode {
        get async throws {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator(), task: task) }

    /// Hands out the events, and cancels the run when it is let go before their end, as when its loop is left.
    public struct Iterator: AsyncIteratorProtocol {
        private var events: AsyncThrowingStream<OnboardingEvent, any Error>.Iterator
        private let leaving: Leaving

        fileprivate init(
            events: AsyncThrowingStream<OnboardingEvent, any Error>.Iterator, task: Task<OnboardedNode, any Error>
        ) {
            self.events = events
            leaving = Leaving(task: task)
        }

        /// The next event; nil once the run has ended well. Throws `OnboardingError` where it has not.
        public mutating func next() async throws -> OnboardingEvent? { try await events.next() }
    }

    /// Cancels the run with the last copy of its iterator; a run that has ended does not notice.
    private final class Leaving: Sendable {
        private let task: Task<OnboardedNode, any Error>

        init(task: Task<OnboardedNode, any Error>) { self.task = task }

        deinit { task.cancel() }
    }
}
