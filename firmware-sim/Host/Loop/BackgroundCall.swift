// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc
import RainIO

/// Makes a call that may block for long, on a thread of its own; a descriptor becomes readable when it ends.
///
/// The process does not wait for a call that is still under way when it ends.
final class BackgroundCall {
    /// Readable once the call is over; nil unless one is under way. A process has many boards, and few descriptors.
    private(set) var descriptor: Int32?

    /// What the thread works with: the call, and its end of the pipe, which is closed when the call is over.
    private final class Work: Sendable {
        let body: @Sendable () -> Int32
        let writing: Int32

        init(writing: Int32, body: @escaping @Sendable () -> Int32) {
            self.writing = writing
            self.body = body
        }

        deinit { close(writing) }
    }

    deinit { if let descriptor { close(descriptor) } }

    /// Begins the call; false where the system has no descriptor or no thread for it, and says why in `errno`.
    func start(_ body: @escaping @Sendable () -> Int32) -> Bool {
        precondition(descriptor == nil, "a call is under way")
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else { return false }
        let work = Work(writing: ends[1], body: body)
        let code = startThread {
            var outcome = Outcome(result: work.body(), error: errno)
            _ = write(work.writing, &outcome, MemoryLayout<Outcome>.size)
        }
        guard code == 0 else {
            close(ends[0])
            errno = code
            return false
        }
        descriptor = ends[0]
        return true
    }

    /// What the call that is over returned, and `errno` as it left it. To be asked once, when the descriptor is readable.
    func result() -> Int32 {
        guard let descriptor else { preconditionFailure("no call is under way") }
        var outcome = Outcome(result: 0, error: 0)
        while read(descriptor, &outcome, MemoryLayout<Outcome>.size) < 0, errno == EINTR {}
        close(descriptor)
        self.descriptor = nil
        errno = outcome.error
        return outcome.result
    }

    private struct Outcome {
        var result: Int32
        var error: Int32
    }
}
