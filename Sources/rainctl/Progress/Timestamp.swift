// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit

/// RFC 3339 in UTC with milliseconds.
enum Timestamp {
    static func now() -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time
    }

    static func text(_ time: timespec) -> String {
        var seconds = time.tv_sec
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func padded(_ value: some BinaryInteger, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date = "\(parts.tm_year + 1900)-\(padded(parts.tm_mon + 1, 2))-\(padded(parts.tm_mday, 2))"
        let clock = "\(padded(parts.tm_hour, 2)):\(padded(parts.tm_min, 2)):\(padded(parts.tm_sec, 2))"
        return "\(date)T\(clock).\(padded(time.tv_nsec / 1_000_000, 3))Z"
    }
}

extension Timestamp {
    static func text(_ time: UnixTime) -> String {
        // Years have four digits; a stored number may be anything.
        let seconds = min(max(time.seconds, 0), 253_402_300_799)
        return text(timespec(tv_sec: Int(seconds), tv_nsec: 0))
    }
}
