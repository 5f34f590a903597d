// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainMaker

/// When a schedule is to act, by the clock and the time zone of its node.
///
/// ```swift
/// ScheduleTime.at(minutes: 18 * 60 + 30, on: ScheduleDays(week: "mon-fri"))
/// try ScheduleTime(at: "18:30", date: "12-24")
/// ```
public enum ScheduleTime: Sendable, Equatable {
    /// Once, that many seconds after the node has the schedule: 1 to 31,536,000 (365 days).
    case after(seconds: Int)
    /// At a time of day, in minutes after midnight. An edit keeps a part that is nil. A new schedule needs the time of day, and acts once
    /// unless it has days.
    case at(minutes: Int?, on: ScheduleDays?)

    /// Reads a time as people write it.
    ///
    /// - Parameters:
    ///   - time: the time of day, such as `07:30`.
    ///   - days: days of the week, as ``ScheduleDays/init(week:)`` reads them.
    ///   - date: a date instead of days: `2026-12-24`, or `12-24` for every year.
    /// - Throws: `RainKitError`: `usage` for a text that cannot be read, and for days beside a date.
    public init(at time: String? = nil, days: String? = nil, date: String? = nil) throws {
        self = try Self.read(time, days, date)
    }

    private static func read(_ time: String?, _ days: String?, _ date: String?) throws(RainKitError) -> ScheduleTime {
        var minutes: Int?
        if let time {
            minutes = Self.minutes(time)
            if minutes == nil { throw .usage("\"\(time.onOneLine)\" is not a time of day, such as 07:30.") }
        }
        var on: ScheduleDays?
        if let days {
            on = ScheduleDays(week: days)
            if on == nil {
                throw .usage(
                    "\"\(days.onOneLine)\" is not a list of days. Examples are daily, weekdays, mon-fri and \"sat,sun\"."
                )
            }
        }
        if let date {
            guard days == nil else { throw .usage("A schedule has days or a date, but not both.") }
            guard let day = CalendarDay(date) else {
                throw .usage(
                    "\"\(date.onOneLine)\" is not a day in the calendar. Write dates like 2026-12-24 or 12-24.")
            }
            on = .date(day)
        }
        return .at(minutes: minutes, on: on)
    }

    /// Reads `7:30` or `07:30`; nil for any other text.
    private static func minutes(_ text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }), let hour = Int(parts[0]),
            let minute = Int(parts[1]), hour < 24, minute < 60
        else { return nil }
        return hour * 60 + minute
    }

    /// Checks, without a node, that the time is enough for a new schedule and is not over everywhere on earth.
    ///
    /// - Throws: `usage` otherwise.
    package func checkForNewSchedule() throws(RainKitError) { _ = try trigger(at: BoardClock().earliest) }

    /// Makes the trigger that nodes take.
    ///
    /// - Parameters:
    ///   - known: when the schedule has acted until now. The parts that are nil are taken from it.
    ///   - now: what the node's clock shows.
    /// - Throws: `usage` if a part is missing or out of its bounds, or if the schedule would never act.
    package func trigger(
        after known: ScheduleTrigger? = nil, at now: ClockReading
    ) throws(RainKitError) -> ScheduleTrigger {
        let trigger = try trigger(after: known)
        guard !trigger.isOver(at: now) else {
            throw .usage("A schedule \(trigger) would never act: that time has passed.")
        }
        return trigger
    }

    private func trigger(after known: ScheduleTrigger?) throws(RainKitError) -> ScheduleTrigger {
        switch self {
        case .after(let seconds):
            guard (1...31_536_000).contains(seconds) else { throw .usage("A delay must be 1 second to 365 days.") }
            return .after(seconds: seconds)
        case .at(let given, let days):
            guard let minutes = given ?? known?.minutes else {
                throw .usage("A schedule needs a time.", remedies: [.scheduleTime])
            }
            guard (0..<1440).contains(minutes) else {
                throw .usage("A time of day must be 0 to 1439 minutes after midnight.")
            }
            switch days {
            case .week(let mask)?:
                guard (0...ScheduleTrigger.everyDay).contains(mask) else {
                    throw .usage("The days of the week must be a number from 0 to 127.")
                }
                return .weekly(minutes: minutes, days: mask)
            case .date(let day)?:
                guard day.exists else { throw .usage("The date of the schedule does not exist in the calendar.") }
                return .date(
                    minutes: minutes, day: day.day, months: 1 << (day.month - 1), year: day.year,
                    isEveryYear: day.year == nil)
            case nil:
                guard let known else { return .weekly(minutes: minutes, days: 0) }
                guard let kept = known.at(minutes) else {
                    throw .usage(
                        "The schedule acts \(known), so a new time of day needs days or a date.",
                        remedies: [.scheduleDays])
                }
                return kept
            }
        }
    }
}

/// The days on which a schedule acts.
public enum ScheduleDays: Sendable, Equatable {
    /// Days of the week: bit 0 is Monday. 0 is once, at the next such time.
    case week(Int)
    /// A date, in one year or in every year.
    case date(CalendarDay)

    /// Reads days of the week: `mon-fri`, `sat,sun`, `Monday`, `daily`, `weekdays`, `weekends`, or `once`, which is the next time that it is so
    /// late. Nil for any other text.
    public init?(week text: String) {
        switch text.lowercased() {
        case "daily": self = .week(ScheduleTrigger.everyDay)
        case "weekdays": self = .week(0b001_1111)
        case "weekends": self = .week(0b110_0000)
        case "once": self = .week(0)
        default:
            guard let mask = Self.mask(text) else { return nil }
            self = .week(mask)
        }
    }

    private static let names = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    private static func mask(_ text: String) -> Int? {
        var mask = 0
        for part in text.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { name in
                // "mon" and "monday", but not "monkey".
                name.count >= 3 ? names.firstIndex { $0.hasPrefix(name) } : nil
            }
            guard let first = ends[0], ends.count <= 2, let last = ends.last ?? nil else { return nil }
            // sat-mon goes over the end of the week.
            var day = first
            while true {
                mask |= 1 << day
                if day == last { break }
                day = (day + 1) % 7
            }
        }
        return mask
    }
}

extension ScheduleTrigger {
    /// Checks a trigger that a client of the cloud's API wrote.
    ///
    /// - Throws: `usage` for a trigger of an unknown kind, and for a number out of its bounds.
    func check() throws(RainKitError) {
        let isValid =
            switch self {
            case .weekly(let minutes, let days): (0..<1440).contains(minutes) && (0...Self.everyDay).contains(days)
            case .date(let minutes, let day, let months, let year, _):
                (0..<1440).contains(minutes) && (1...31).contains(day) && (0...0xFFF).contains(months)
                    && year.map { (2000...9999).contains($0) } ?? true
            case .after(let seconds): (1...31_536_000).contains(seconds)
            case .other: false
            }
        guard isValid else {
            throw .usage(
                "The trigger cannot be used. It must have m (0 to 1439) with d (0 to 127) or with dd (1 to 31) and mm (0 to 4095), or only rsec (1 to 31536000)."
            )
        }
    }

    /// The time of day, in minutes after midnight; nil for a trigger that has none.
    var minutes: Int? {
        switch self {
        case .weekly(let minutes, _), .date(let minutes, _, _, _, _): minutes
        case .after, .other: nil
        }
    }

    /// The same days or date at another time of day; nil for a trigger of an unknown kind.
    func at(_ minutes: Int) -> ScheduleTrigger? {
        switch self {
        case .weekly(_, let days): .weekly(minutes: minutes, days: days)
        case .date(_, let day, let months, let year, let isEveryYear):
            .date(minutes: minutes, day: day, months: months, year: year, isEveryYear: isEveryYear)
        // It acts once, before and after.
        case .after: .weekly(minutes: minutes, days: 0)
        case .other: nil
        }
    }

    /// Whether the trigger never comes again, by a clock that shows `now`.
    func isOver(at now: ClockReading) -> Bool {
        guard case .date(let minutes, let day, let months, let year?, _) = self,
            let month = (1...12).last(where: { months >> ($0 - 1) & 1 == 1 })
        else { return false }
        return (year, month, day, minutes)
            <= (now.day.year ?? 0, now.day.month, now.day.day, now.minutes)
    }
}

extension ScheduleTrigger: CustomStringConvertible {
    /// Such as `at 07:30 mon-fri`, to be read behind the name of a schedule.
    public var description: String {
        func clock(_ minutes: Int) -> String {
            func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
            return "at \(two(minutes / 60)):\(two(minutes % 60))"
        }
        switch self {
        case .weekly(let minutes, let days):
            let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
            let named = names.indices.filter { days >> $0 & 1 == 1 }.map { names[$0] }.joined(separator: ",")
            let which =
                switch days {
                case 0: "once"
                case Self.everyDay: "daily"
                case 0b001_1111: "mon-fri"
                case 0b110_0000: "sat,sun"
                default: named
                }
            return "\(clock(minutes)) \(which)"
        case .date(let minutes, let day, let months, let year, let isEveryYear):
            let names = [
                "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
            ]
            let named = names.indices.filter { months >> $0 & 1 == 1 }.map { names[$0] }.joined(separator: ",")
            let end = year.map { " \($0)" } ?? (isEveryYear ? " every year" : "")
            return "\(clock(minutes)) on \(day) \(named.isEmpty ? "next" : named)\(end)"
        case .after(let seconds): return "\(Self.span(seconds)) after it was set"
        case .other: return "at times of an unknown kind"
        }
    }

    /// The exact time in the largest unit that has no rest: `90 s`, `4 min`, `2 h`, `3 days`.
    private static func span(_ seconds: some BinaryInteger) -> String {
        let units: [(name: String, seconds: Int)] = [("days", 86_400), ("h", 3600), ("min", 60)]
        for unit in units where seconds > 0 && Int(seconds) % unit.seconds == 0 {
            let count = Int(seconds) / unit.seconds
            return "\(count) \(count == 1 && unit.name == "days" ? "day" : unit.name)"
        }
        return "\(seconds) s"
    }
}
