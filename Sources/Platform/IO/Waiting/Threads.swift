// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Runs `body` on a new thread, which ends with it. For code that blocks and so must not run in the pool of tasks.
///
/// - Returns: 0, or the system's error if it could not start a thread (`pthread_create(3)`). Then `body` is not run.
package func startThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
    let work = Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let failure = pthread_create(
        &thread, nil,
        { context in
            if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
            return nil
        }, work.toOpaque())
    guard failure == 0 else {
        work.release()
        return failure
    }
    pthread_detach(thread)
    return 0
}

private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Why blocking work could not begin.
package enum ThreadError: Error, Sendable, Equatable {
    /// The system could not create a pipe; its error number.
    case noPipe(Int32)
    /// The system could not start a thread; its error number.
    case noThread(Int32)
}

/// Runs blocking work on its own thread, and waits for its result.
///
/// - Parameter work: polls the pipe together with its own descriptors. The pipe becomes readable when the calling task is cancelled, and
///   the work has to end then. Its result is still awaited, so that nothing that it holds is lost.
package func onInterruptibleThread<Result: Sendable>(
    _ work: @escaping @Sendable (_ interrupt: WakePipe) -> Result
) async throws(ThreadError) -> Result {
    guard let interrupt = WakePipe() else { throw .noPipe(errno) }
    let waiter = Waiter<Result>()
    let failure = startThread { waiter.resume(returning: work(interrupt)) }
    guard failure == 0 else { throw .noThread(failure) }
    return await waiter.value { interrupt.ring() }
}

/// Runs blocking calls one after the other, in the order of their arrival, on a thread outside the pool of tasks.
///
/// The thread exists while there is work. A call runs even if its task has been cancelled, because cleaning up after a cancellation is work
/// as well.
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

    /// - Parameter noThread: makes the error if the system could not start a thread, from the result of `pthread_create(3)`.
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
        // Other calls may have arrived meanwhile, which rely on the same thread.
        while let call = next() { call.fail(failure) }
    }

    /// Returns the first waiting call. If there is none, the thread ends.
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
