// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO

/// Runs blocking work on a thread of its own. When the calling task is cancelled, `interrupt` becomes readable: the work polls it
/// beside what it waits for, and must end then.
func onListeningThread<Result: Sendable>(
    _ work: @escaping @Sendable (_ interrupt: Int32) -> Result
) async throws(AccountError) -> Result {
    do throws(ThreadError) {
        return try await onInterruptibleThread { work($0.reader) }
    } catch {
        switch error {
        case .noPipe(let code):
            throw AccountError(
                .cannotListen, message: "the system gives no pipe: \(String(cString: strerror(code)))")
        case .noThread: throw AccountError(.cannotListen, message: "the system starts no thread")
        }
    }
}

/// The last system call's error in words.
func systemWords() -> String { String(cString: strerror(errno)) }
