import CRainDescriptors
import Glibc
import Synchronization
import RainWaiting

/// Waits for input without being deaf to the signal that ends the command: a read that blocks would be.
enum Interruption {
    enum Arrival { case ready, interrupted, late }

    /// The two ends of a pipe, made when first needed. Nobody writes: once the writing end is closed, all who wait are woken for ever.
    private static let pipe = Mutex<(wait: Int32, end: Int32)?>(nil)

    private static func ends(_ pipe: inout (wait: Int32, end: Int32)?) -> (wait: Int32, end: Int32) {
        if let pipe { return pipe }
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else { return (-1, -1) }
        pipe = (ends[0], ends[1])
        return (ends[0], ends[1])
    }

    /// Wakes all who wait, now and later.
    static func begin() {
        pipe.withLock { pipe in
            let end = ends(&pipe).end
            if end >= 0 { close(end) }
            pipe?.end = -1
        }
    }

    /// Until there is something to read, the command is to end, somebody rings `bell`, or the time is over.
    static func wait(
        for descriptor: Int32, or bell: WakePipe? = nil, until end: ContinuousClock.Instant? = nil
    ) -> Arrival {
        let wakeUp = pipe.withLock { ends(&$0).wait }
        var watched: [PollEntry] = [.readable(descriptor), .readable(wakeUp), .readable(bell?.reader)]
        let outcome = pollDescriptors(&watched, until: end.map { .after(ContinuousClock.now.duration(to: $0)) })
        if watched[1].isReady || watched[2].isReady { return .interrupted }
        // An end of file or an error is for the reader to find.
        return outcome == .timedOut ? .late : .ready
    }
}
