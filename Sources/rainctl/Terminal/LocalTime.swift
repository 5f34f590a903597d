// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The time of day for people, in the time zone of this machine. Documents and pipes have the exact time in UTC.
enum LocalTime {
    /// The time now, such as `19:30:05`.
    static var now: String { text(time(nil)) }

    /// - Parameter seconds: since 1970 in UTC.
    static func text(_ seconds: Int) -> String {
        var (seconds, parts) = (seconds, tm())
        localtime_r(&seconds, &parts)
        return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }
            .joined(separator: ":")
    }
}
