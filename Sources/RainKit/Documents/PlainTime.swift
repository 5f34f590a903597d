// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// Spans of time as people say them: `12 s`, `3 min`, `2 h 5 min`, `4 days`. Documents have the exact time in UTC.
package enum PlainTime {
    /// Nil if the end is before the beginning, as with two clocks that disagree.
    package static func span(from beginning: UnixTime, to end: UnixTime) -> String? {
        let seconds = (end.seconds - beginning.seconds).rounded(.down)
        return seconds < 0 || seconds > 1e11 ? nil : span(seconds: Int64(seconds))
    }

    package static func span(seconds: Int64) -> String {
        let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400)
        if days >= 2 { return "\(days) days" }
        if hours >= 10 { return "\(hours) h" }
        if hours >= 1 { return minutes % 60 == 0 ? "\(hours) h" : "\(hours) h \(minutes % 60) min" }
        return minutes >= 1 ? "\(minutes) min" : "\(seconds) s"
    }
}
