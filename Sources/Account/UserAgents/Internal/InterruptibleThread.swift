import CDescriptors
import Glibc
import Synchronization

/// Runs blocking work on a thread of its own. When the calling task is cancelled, `interrupt` becomes readable: the work polls it
/// beside what it waits for, and must end then.
func onInterruptibleThread<Result: Sendable>(
    _ work: @escaping @Sendable (_ interrupt: Int32) -> Result
) async throws(AccountError) -> Result {
    guard let interrupt = InterruptPipe() else {
        throw AccountError(.cannotListen, message: "the system gives no pipe: \(systemWords())")
    }
    let result: Result? = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            let isStarted = startThread {
                continuation.resume(returning: work(interrupt.reader))
            }
            if !isStarted { continuation.resume(returning: nil) }
        }
    } onCancel: {
        interrupt.fire()
    }
    guard let result else { throw AccountError(.cannotListen, message: "the system starts no thread") }
    return result
}

/// The last system call's error in words.
func systemWords() -> String { String(cString: strerror(errno)) }

func monotonicMilliseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}

private final class InterruptPipe: Sendable {
    let reader: Int32
    private let writer: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else { return nil }
        (reader, writer) = (ends[0], ends[1])
    }

    func fire() {
        var byte: UInt8 = 1
        _ = write(writer, &byte, 1)
    }

    // Both the thread and the cancellation handler hold the pipe, so it is not closed under either.
    deinit {
        close(reader)
        close(writer)
    }
}

private func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let box = Unmanaged.passRetained(Box(body))
    var thread = pthread_t()
    let failure = pthread_create(
        &thread, nil,
        { context in
            Unmanaged<Box>.fromOpaque(context!).takeRetainedValue().body()
            return nil
        }, box.toOpaque())
    guard failure == 0 else {
        box.release()
        return false
    }
    pthread_detach(thread)
    return true
}
