// SPDX-License-Identifier: Apache-2.0

/// A moment of `CLOCK_MONOTONIC`, at which a wait of a thread is over.
package struct MonotonicDeadline: Sendable, Hashable, Comparable {
    /// As ``monotonicMicroseconds()`` counts them.
    package var microseconds: UInt64

    package init(microseconds: UInt64) { self.microseconds = microseconds }

    /// So long from now on; at once where the duration is negative, and centuries from now where it is endless.
    package static func after(_ duration: Duration) -> MonotonicDeadline {
        let (seconds, attoseconds) = duration.components
        let left = max(0, min(seconds, 1 << 40)) * 1_000_000 + max(0, attoseconds) / 1_000_000_000_000
        return MonotonicDeadline(microseconds: monotonicMicroseconds() + UInt64(left))
    }

    package static func after(milliseconds: Int64) -> MonotonicDeadline { after(.milliseconds(milliseconds)) }

    package var isOver: Bool { microseconds <= monotonicMicroseconds() }

    /// What is left of it; zero once it is over.
    package var left: Duration {
        let now = monotonicMicroseconds()
        return now >= microseconds ? .zero : .microseconds(Int64(clamping: microseconds - now))
    }

    package static func < (left: MonotonicDeadline, right: MonotonicDeadline) -> Bool {
        left.microseconds < right.microseconds
    }

    /// For `poll(2)`: rounded up, so that nobody wakes up just before the time.
    var pollMilliseconds: Int32 {
        let now = monotonicMicroseconds()
        return now >= microseconds ? 0 : Int32(clamping: (microseconds - now + 999) / 1000)
    }
}
