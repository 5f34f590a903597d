// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainAccount
import RainCore

/// A line of a stream of events that are not of a run: the time (`ts`), then the members of the event.
package struct TimedDocument<Event: Encodable>: Encodable {
    private let time: String
    private let event: Event

    package init(_ event: Event, at time: String = Timestamp.now) { (self.event, self.time) = (event, time) }

    private enum CodingKeys: String, CodingKey { case time = "ts" }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time, forKey: .time)
        try event.encode(to: encoder)
    }
}

/// RFC 3339 in UTC with milliseconds.
package enum Timestamp {
    /// The time of this machine's clock.
    package static var now: String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return text(time)
    }

    package static func text(_ time: UnixTime) -> String {
        // Years have four digits, but a stored number may have any size.
        let seconds = min(max(time.seconds, 0), 253_402_300_799)
        return text(timespec(tv_sec: Int(seconds), tv_nsec: 0))
    }

    private static func text(_ time: timespec) -> String {
        let milliseconds = String(1000 + time.tv_nsec / 1_000_000).dropFirst()
        return "\(CivilTime(secondsSince1970: time.tv_sec).text(separator: "T")).\(milliseconds)Z"
    }
}
