// SPDX-License-Identifier: Apache-2.0
import Glibc

extension WallTime {
    /// By this machine's clock and time zone.
    static func now(_ milliseconds: UInt64) -> WallTime {
        var seconds = time(nil)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return WallTime(
            milliseconds: milliseconds, minutes: Int(parts.tm_hour * 60 + parts.tm_min),
            weekday: Int(parts.tm_wday + 6) % 7, day: Int(parts.tm_mday), month: Int(parts.tm_mon),
            year: Int(parts.tm_year) + 1900)
    }
}
