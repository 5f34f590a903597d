// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A moment of civil time, in seconds since 1970 in UTC.
public struct UnixTime: Sendable, Hashable, Comparable {
    /// Seconds since 1970-01-01 00:00 UTC, without leap seconds, fractions included.
    public var seconds: Double

    public init(seconds: Double) { self.seconds = seconds }

    public static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }
    /// The moment that many seconds later, or earlier for a negative number.
    public static func + (time: Self, seconds: Double) -> Self { Self(seconds: time.seconds + seconds) }
}

/// Tells the time of day. Tokens expire by civil time: it goes on while a laptop sleeps, which monotonic time does not.
public protocol WallClock: Sendable {
    /// The current time. It may jump, also backwards, when somebody sets the clock.
    var now: UnixTime { get }
}

/// The machine's own.
public struct SystemWallClock: WallClock {
    public init() {}

    public var now: UnixTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UnixTime(seconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
    }
}
