// SPDX-License-Identifier: Apache-2.0

/// A unit into which a calendar divides time.
package enum CalendarUnit: String, Sendable, CaseIterable {
    case minute, hour, day, week, month, year
}

/// The calendar of a time zone: where its hours, days, weeks, months and years begin. All times are in seconds since 1970.
///
/// A day that begins or ends with a change of the clocks has 23 or 25 hours. The hour that occurs twice is two hours here.
package struct ZonedCalendar: Sendable {
    /// The zone's name, as `/usr/share/zoneinfo` has it.
    package let name: String
    /// Nil for UTC.
    private let zone: TimeZoneFile?
    /// The first day of a week, 0 for Sunday.
    package var firstWeekday = 1

    /// The calendar of UTC.
    package static let utc = ZonedCalendar(name: "UTC", zone: nil)

    private init(name: String, zone: TimeZoneFile?) { (self.name, self.zone) = (name, zone) }

    /// Finds a zone such as `Europe/Berlin` or `EST`, without regard to upper and lower case. Nil for a zone that this machine does not know.
    package init?(named name: String) {
        if name.uppercased() == "UTC" {
            self = .utc
            return
        }
        for spelling in [name, Self.capitalized(name), name.uppercased()] {
            guard let zone = TimeZoneFile(named: spelling) else { continue }
            self.init(name: spelling, zone: zone)
            return
        }
        return nil
    }

    /// Spells `america/port_of_spain` as the names of zones are spelled.
    private static func capitalized(_ name: String) -> String {
        var (text, isStart) = ("", true)
        for character in name.lowercased() {
            text += isStart ? character.uppercased() : String(character)
            isStart = "/_-".contains(character)
        }
        for word in ["Of", "Es", "Au"] { text = text.replacing("_\(word)_", with: "_\(word.lowercased())_") }
        return text
    }

    /// Returns how many seconds the zone's clocks are ahead of UTC.
    package func offset(at time: Int64) -> Int { zone?.offset(at: time) ?? 0 }

    /// Returns the date and time that the zone's clocks show.
    package func local(_ time: Int64) -> CivilTime {
        CivilTime(secondsSince1970: Int(Self.clamped(time)) + offset(at: Self.clamped(time)))
    }

    /// Returns the first moment at which the zone's clocks show this date and time. If they skip it, it is the same time by the clocks before
    /// the change.
    package func time(of local: CivilTime) -> Int64 {
        let seconds = Int64(local.secondsSince1970)
        let before = seconds - Int64(offset(at: seconds - 86_400))
        let after = seconds - Int64(offset(at: seconds + 86_400))
        let valid = [before, after].filter { $0 + Int64(offset(at: $0)) == seconds }
        return valid.min() ?? before
    }

    /// Returns the start of the minute, hour, day, week, month or year that has this moment.
    package func start(of unit: CalendarUnit, at time: Int64) -> Int64 {
        let time = Self.clamped(time)
        switch unit {
        case .minute: return time - Self.rest(time + Int64(offset(at: time)), 60)
        case .hour: return time - Self.rest(time + Int64(offset(at: time)), 3600)
        default: break
        }
        var day = local(time)
        (day.hour, day.minute, day.second) = (0, 0, 0)
        switch unit {
        case .week:
            // 1 January 1970 was a Thursday.
            let number = CivilTime.days(toYear: day.year, month: day.month, day: day.day)
            let weekday = Int(Self.rest(Int64(number + 4), 7))
            day = CivilTime(secondsSince1970: (number - (weekday - firstWeekday + 7) % 7) * 86_400)
        case .month: day.day = 1
        case .year: (day.month, day.day) = (1, 1)
        default: break
        }
        return self.time(of: day)
    }

    /// Returns the start of the unit that follows the one with this moment.
    package func next(_ unit: CalendarUnit, after time: Int64) -> Int64 {
        let start = start(of: unit, at: time)
        switch unit {
        case .minute: return start + 60
        case .hour: return start + 3600
        default: return adding(1, unit, to: start)
        }
    }

    /// Returns the moment that is some days, weeks, months or years later, or earlier, at the same time of day. A day that the month does not
    /// have becomes its last one. Minutes and hours have their length.
    package func adding(_ count: Int, _ unit: CalendarUnit, to time: Int64) -> Int64 {
        var day = local(time)
        switch unit {
        case .minute: return time + Int64(count) * 60
        case .hour: return time + Int64(count) * 3600
        case .day, .week:
            let days = CivilTime.days(toYear: day.year, month: day.month, day: day.day)
            let date = CivilTime(secondsSince1970: (days + count * (unit == .week ? 7 : 1)) * 86_400)
            (day.year, day.month, day.day) = (date.year, date.month, date.day)
        case .month, .year:
            let months = day.year * 12 + day.month - 1 + count * (unit == .year ? 12 : 1)
            (day.year, day.month) = (months / 12, months % 12 + 1)
            let first = CivilTime.days(toYear: day.year, month: day.month, day: 1)
            let next = CivilTime.days(toYear: (months + 1) / 12, month: (months + 1) % 12 + 1, day: 1)
            day.day = min(day.day, next - first)
        }
        return self.time(of: day)
    }

    /// Keeps years within four digits, so that sums do not overflow.
    private static func clamped(_ time: Int64) -> Int64 { min(max(time, 0), 253_402_000_000) }

    private static func rest(_ number: Int64, _ divisor: Int64) -> Int64 { (number % divisor + divisor) % divisor }
}
