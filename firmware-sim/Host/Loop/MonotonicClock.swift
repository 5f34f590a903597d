// SPDX-License-Identifier: Apache-2.0
import RainIO

/// Milliseconds since the process began, by a clock that nobody sets.
enum MonotonicClock {
    private static let start = read()

    static var now: UInt64 {
        // Before the reading: it is made when it is asked for first, and the clock goes on meanwhile.
        let start = start
        return read() - start + 1
    }

    /// The time here that the system's own clock shows as `microseconds`.
    static func milliseconds(atMicroseconds microseconds: UInt64) -> UInt64 {
        let milliseconds = microseconds / 1000 + 1
        return milliseconds <= start ? 0 : milliseconds - start + 1
    }

    private static func read() -> UInt64 { UInt64(monotonicMilliseconds()) }
}
