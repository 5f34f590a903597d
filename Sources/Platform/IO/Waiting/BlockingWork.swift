// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Runs calls that block, one after the other in the order of their coming, on a thread outside the pool that tasks run on.
///
/// The thread exists while there is work. A call runs even if the task that makes it has been cancelled, because cleaning up after a
/// cancellation is work as well.
package final class BlockingWork: Sendable {
    private struct Call: Sendable {
        var run: @Sendable () -> Void
        var fail: @Sendable (Int32) -> Void
    }

    private struct State {
        var waiting: [Call] = []
        var hasThread = false
    }

    private let state = Mutex(State())

    package init() {}

    /// - Parameter noThread: makes the error where the system starts no thread, of what `pthread_create(3)` returned.
    package func run<Answer: Sendable, Failure: Error>(
        noThread: @escaping @Sendable (Int32) -> Failure,
        _ body: @escaping @Sendable () throws(Failure) -> Answer
    ) async throws(Failure) -> Answer {
        let result: Result<Answer, Failure> = await withCheckedContinuation { continuation in
            add(
                Call(
                    run: { continuation.resume(returning: Result { () throws(Failure) in try body() }) },
                    fail: { continuation.resume(returning: .failure(noThread($0))) }))
        }
        return try result.get()
    }

    private func add(_ call: Call) {
        let needsThread = state.withLock { state in
            state.waiting.append(call)
            defer { state.hasThread = true }
            return !state.hasThread
        }
        guard needsThread else { return }
        let failure = startThread { while let call = self.next() { call.run() } }
        guard failure != 0 else { return }
        // Others may have come meanwhile and rely on the same thread.
        while let call = next() { call.fail(failure) }
    }

    /// The first call that waits. Where there is none the thread ends.
    private func next() -> Call? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.hasThread = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
