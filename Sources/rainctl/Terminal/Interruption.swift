// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc
import RainIO
import Synchronization

/// Waits for input, and for the signal that ends the command. A blocking read would not notice the signal.
enum Interruption {
    enum Arrival { case ready, interrupted, late }

    /// The two ends of a pipe, made when first needed. Nothing is written: closing the writing end wakes every wait, now and later.
    private static let pipe = Mutex<(wait: Int32, end: Int32)?>(nil)

    private static func ends(_ pipe: inout (wait: Int32, end: Int32)?) -> (wait: Int32, end: Int32) {
        if let pipe { return pipe }
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else { return (-1, -1) }
        pipe = (ends[0], ends[1])
        return (ends[0], ends[1])
    }

    private static let hasBegunFlag = Atomic(false)

    /// Cancels the command, then ends every wait, now and later. In this order, a question that ends without an answer finds its task
    /// cancelled: a missing answer is not mistaken for a refusal to give one.
    static func begin(_ cancel: () -> Void) {
        hasBegunFlag.store(true, ordering: .sequentiallyConsistent)
        cancel()
        pipe.withLock { pipe in
            let end = ends(&pipe).end
            if end >= 0 { close(end) }
            pipe?.end = -1
        }
    }

    /// Whether the command is to end.
    static var hasBegun: Bool { hasBegunFlag.load(ordering: .sequentiallyConsistent) }

    /// Returns when there is something to read, the command is to end, `bell` rings, or the time is over.
    static func wait(
        for descriptor: Int32, or bell: WakePipe? = nil, until end: ContinuousClock.Instant? = nil
    ) -> Arrival {
        let wakeUp = pipe.withLock { ends(&$0).wait }
        var watched: [PollEntry] = [.readable(descriptor), .readable(wakeUp), .readable(bell?.reader)]
        let outcome = pollDescriptors(&watched, until: end.map { .after(ContinuousClock.now.duration(to: $0)) })
        if watched[1].isReady || watched[2].isReady { return .interrupted }
        // The read that follows finds an end of file or an error.
        return outcome == .timedOut ? .late : .ready
    }
}
