// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO

/// Runs `body` on a new thread, which ends with it. A simulator without one cannot go on, and ends.
func mustStartThread(_ body: @escaping @Sendable () -> Void) {
    let failure = startThread(body)
    precondition(failure == 0, "no thread could be started: \(String(cString: strerror(failure)))")
}

/// Milliseconds since 1970.
@Sendable public func wallClock() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}
