import Glibc

/// Milliseconds since the process began, by a clock that nobody sets.
enum MonotonicClock {
    private static let start = read()

    static var now: UInt64 { read() - start + 1 }

    private static func read() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }
}
