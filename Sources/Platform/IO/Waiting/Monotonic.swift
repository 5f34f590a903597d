// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Microseconds of `CLOCK_MONOTONIC`, which nobody sets.
package func monotonicMicroseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
}

/// The same in milliseconds.
package func monotonicMilliseconds() -> Int64 { Int64(monotonicMicroseconds() / 1000) }
