// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why blocking work could not be begun.
package enum ThreadError: Error, Sendable, Equatable {
    /// The system gives no pipe; its error number.
    case noPipe(Int32)
    /// The system starts no thread; its error number.
    case noThread(Int32)
}

/// Runs blocking work on a thread of its own, and waits for its result.
///
/// - Parameter work: polls the pipe beside what it waits for. The pipe is readable as soon as the calling task is cancelled, and the
///   work has to end then: its result is waited for, so that nothing that it holds is lost.
package func onInterruptibleThread<Result: Sendable>(
    _ work: @escaping @Sendable (_ interrupt: WakePipe) -> Result
) async throws(ThreadError) -> Result {
    guard let interrupt = WakePipe() else { throw .noPipe(errno) }
    let waiter = Waiter<Result>()
    let failure = startThread { waiter.resume(returning: work(interrupt)) }
    guard failure == 0 else { throw .noThread(failure) }
    return await waiter.value { interrupt.ring() }
}
