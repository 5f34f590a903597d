// SPDX-License-Identifier: Apache-2.0
import Synchronization

extension ManualClock {
    /// Runs `body` in this clock's time: as soon as nothing is left to do but wait, the clock goes on to the next deadline.
    ///
    /// What `body` does runs step by step on the caller's thread, and so do its child tasks and the actors that it asks: how busy the
    /// machine is decides nothing. Unstructured tasks (`Task { }`) are outside of this.
    public func run<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let steps = Steps()
        let outcome = Mutex<Swift.Result<Result, any Error>?>(nil)
        let task = Task(executorPreference: steps) {
            do {
                let value = try await body()
                outcome.withLock { $0 = .success(value) }
            } catch {
                outcome.withLock { $0 = .failure(error) }
            }
        }
        while outcome.withLock({ $0 == nil }) {
            if steps.runNext() { continue }
            // Nothing to do and nothing to wait for: whatever goes on does so elsewhere.
            guard let next = nextDeadline else {
                await Task.yield()
                continue
            }
            advance(by: now.duration(to: next))
        }
        // The task's own end is a step, too.
        while steps.runNext() {}
        await task.value
        return try outcome.withLock { $0! }.get()
    }

    /// Work in the order of its arrival, done when somebody asks for it.
    private final class Steps: TaskExecutor {
        private let waiting = Mutex<[UnownedJob]>([])

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            waiting.withLock { $0.append(job) }
        }

        /// Does the first piece of work; false when there is none.
        func runNext() -> Bool {
            guard let job = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
            job.runSynchronously(on: asUnownedTaskExecutor())
            return true
        }
    }
}
