import Glibc

/// Calls something that may wait for long, on a thread of its own; the loop hears of its end by a descriptor.
///
/// The process does not wait for a call that is still under way when it ends.
final class BackgroundCall {
    /// Readable once a call is over.
    let descriptor: Int32
    private let writing: Int32

    private final class Work: Sendable {
        let body: @Sendable () -> Int32
        let writing: Int32

        init(writing: Int32, body: @escaping @Sendable () -> Int32) {
            self.writing = writing
            self.body = body
        }
    }

    init() {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0, "no pipe")
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (descriptor, writing) = (ends[0], ends[1])
    }

    func start(_ body: @escaping @Sendable () -> Int32) {
        let work = Unmanaged.passRetained(Work(writing: writing, body: body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                let work = Unmanaged<Work>.fromOpaque(context!).takeRetainedValue()
                var outcome = Outcome(result: work.body(), error: errno)
                _ = write(work.writing, &outcome, MemoryLayout<Outcome>.size)
                return nil
            }, work.toOpaque())
        precondition(code == 0, "no thread")
        pthread_detach(thread)
    }

    /// What the call that is over returned, and `errno` as it left it. To be asked once the descriptor is readable.
    func result() -> Int32 {
        var outcome = Outcome(result: 0, error: 0)
        while read(descriptor, &outcome, MemoryLayout<Outcome>.size) < 0, errno == EINTR {}
        errno = outcome.error
        return outcome.result
    }

    private struct Outcome {
        var result: Int32
        var error: Int32
    }
}
