import RainAccount
import Glibc
import RainWaiting

/// Runs blocking work on a thread of its own. When the calling task is cancelled, `interrupt` becomes readable: the work polls it
/// beside what it waits for, and must end then.
func onInterruptibleThread<Result: Sendable>(
    _ work: @escaping @Sendable (_ interrupt: Int32) -> Result
) async throws(AccountError) -> Result {
    guard let interrupt = WakePipe() else {
        throw AccountError(.cannotListen, message: "the system gives no pipe: \(systemWords())")
    }
    let result: Result? = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            let failure = startThread {
                continuation.resume(returning: work(interrupt.reader))
            }
            if failure != 0 { continuation.resume(returning: nil) }
        }
    } onCancel: {
        interrupt.ring()
    }
    guard let result else { throw AccountError(.cannotListen, message: "the system starts no thread") }
    return result
}

/// The last system call's error in words.
func systemWords() -> String { String(cString: strerror(errno)) }
