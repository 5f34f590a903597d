// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainKit

/// When a schedule acts, as a person writes it.
struct TriggerOptions: ParsableArguments {
    // Lists, because ArgumentParser drops all but the last of an option that is not one.
    @Option(help: ArgumentHelp("The time of day, by the board's own clock and time zone.", valueName: "hh:mm"))
    var at: [String] = []

    @Option(
        help: ArgumentHelp(
            "The days of the week: mon-fri, sat,sun, daily or once, which is the next time that it is so late. (default of a new one: once)",
            valueName: "days"))
    var days: [String] = []

    @Option(help: ArgumentHelp("A date instead of days: 2026-12-24, or 12-24 for every year.", valueName: "date"))
    var date: [String] = []

    @Option(
        name: .customLong("in"),
        help: ArgumentHelp("Once, after this time: 30m, 12h, 2d, at most 365d.", valueName: "time"))
    var delay: [SpanArgument] = []

    var isGiven: Bool { !at.isEmpty || !days.isEmpty || !date.isEmpty || !delay.isEmpty }

    /// Nil where nothing is given.
    var words: TriggerWords? {
        isGiven
            ? TriggerWords(at: at.last, days: days.last, date: date.last, delay: delay.last?.duration) : nil
    }

    /// What is missing may be known of the schedule that is edited.
    func validate() throws {
        for (option, count) in [("at", at.count), ("days", days.count), ("date", date.count), ("in", delay.count)] {
            guard count <= 1 else {
                throw ValidationError(
                    "--\(option) is given \(count) times: a schedule has one time, so add one for each.")
            }
        }
        try words?.check()
    }
}

/// What those options hold.
struct TriggerWords: Sendable {
    var at: String?
    var days: String?
    var date: String?
    var delay: Duration?

    /// The same, read.
    private struct Parts {
        var minutes: Int?
        var days: Int?
        var day: CalendarDay?
        var seconds: Int?
    }

    /// Throws a `ValidationError` for what cannot be read, or cannot stand together.
    func check() throws { _ = try parts() }

    /// Throws a `ValidationError` as ``check()`` does, and for what would never come.
    /// - Parameters:
    ///   - known: when the schedule has acted until now. The days or the date that are not given stay, and so does the time of day.
    ///   - now: what the board's clock shows.
    func trigger(after known: ScheduleTrigger? = nil, at now: ClockReading) throws -> ScheduleTrigger {
        let given = try parts()
        if let seconds = given.seconds { return .after(seconds: seconds) }
        guard let minutes = given.minutes ?? known?.minutes else {
            throw ValidationError("Say when: --at HH:MM, or --in TIME.")
        }
        let trigger: ScheduleTrigger
        if let day = given.day {
            trigger = .date(
                minutes: minutes, day: day.day, months: 1 << (day.month - 1), year: day.year,
                isEveryYear: day.year == nil)
        } else if let days = given.days {
            trigger = .weekly(minutes: minutes, days: days)
        } else if let known {
            guard let kept = known.at(minutes) else {
                throw ValidationError("This schedule acts \(known.words): give --days or --date with --at.")
            }
            trigger = kept
        } else {
            trigger = .weekly(minutes: minutes, days: 0)
        }
        guard !trigger.isOver(at: now) else {
            throw ValidationError("A schedule \(trigger.words) would never act: that is over.")
        }
        return trigger
    }

    private func parts() throws -> Parts {
        var parts = Parts()
        if let delay {
            guard at == nil, days == nil, date == nil else {
                throw ValidationError("--in says it all: leave --at, --days and --date out.")
            }
            let seconds = delay.components.seconds
            guard (1...31_536_000).contains(seconds) else { throw ValidationError("--in is a second to 365 days.") }
            parts.seconds = Int(seconds)
        }
        if let at {
            guard let minutes = Self.minutes(at) else {
                throw ValidationError("\(at.onOneLine) is not a time of day for --at, such as 07:30.")
            }
            parts.minutes = minutes
        }
        if let days {
            guard let mask = Self.mask(days) else {
                throw ValidationError(
                    "\(days.onOneLine) is no list of days such as mon-fri, sat,sun, daily or weekdays.")
            }
            parts.days = mask
        }
        if let date {
            guard days == nil else { throw ValidationError("A schedule has --days or a --date, not both.") }
            guard let day = CalendarDay(date) else {
                throw ValidationError("\(date.onOneLine) is not a date for --date, such as 2026-12-24 or 12-24.")
            }
            parts.day = day
        }
        return parts
    }

    /// `7:30`, `07:30`.
    static func minutes(_ text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }), let hour = Int(parts[0]),
            let minute = Int(parts[1]), hour < 24, minute < 60
        else { return nil }
        return hour * 60 + minute
    }

    private static let names = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    /// Monday is bit 0.
    static func mask(_ text: String) -> Int? {
        switch text.lowercased() {
        case "daily": return ScheduleTrigger.everyDay
        case "weekdays": return 0b001_1111
        case "weekends": return 0b110_0000
        case "once": return 0
        default: break
        }
        var mask = 0
        for part in text.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { name in
                // monday as well as mon, and nothing that only begins so.
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

/// A day of the calendar, with its year or of each.
struct CalendarDay: Equatable {
    var year: Int?
    var month: Int
    var day: Int

    init(year: Int?, month: Int, day: Int) { (self.year, self.month, self.day) = (year, month, day) }

    /// `2026-12-24` or `12-24`; nil for a day that there is not.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int($0) }
        guard numbers.count == parts.count, (2...3).contains(parts.count), !text.contains("+") else { return nil }
        let year = numbers.count == 3 ? numbers[0] : nil
        let (month, day) = (numbers[numbers.count - 2], numbers[numbers.count - 1])
        if let year { guard (2020...2099).contains(year) else { return nil } }
        let isLeap = year.map { $0 % 4 == 0 } ?? true
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...12).contains(month), (1...lengths[month - 1]).contains(day) else { return nil }
        self.init(year: year, month: month, day: day)
    }
}

/// What a clock shows: a day, and the minutes since its midnight.
struct ClockReading: Equatable {
    var day: CalendarDay
    var minutes: Int

    init(day: CalendarDay, minutes: Int) { (self.day, self.minutes) = (day, minutes) }

    /// By this machine's clock, so many hours east of UTC.
    init(hoursEast: Int) {
        var seconds = time(nil) + hoursEast * 3600
        var parts = tm()
        gmtime_r(&seconds, &parts)
        day = CalendarDay(year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday))
        minutes = Int(parts.tm_hour) * 60 + Int(parts.tm_min)
    }

    /// `2026-12-24 18:30`, as date(1) is asked to write it; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let day = CalendarDay(String(parts[0])), day.year != nil,
            let minutes = TriggerWords.minutes(String(parts[1]))
        else { return nil }
        self.init(day: day, minutes: minutes)
    }

    /// Of the last clocks on earth: what is over by these is over everywhere.
    static var earliest: ClockReading { ClockReading(hoursEast: -12) }
    /// Of the first: what is to come by these is to come everywhere.
    static var latest: ClockReading { ClockReading(hoursEast: 14) }
}

extension ScheduleTrigger {
    /// The time of day, in minutes after midnight; nil where it does not go by one.
    var minutes: Int? {
        switch self {
        case .weekly(let minutes, _), .date(let minutes, _, _, _, _): minutes
        case .after, .other: nil
        }
    }

    /// The same days or date at another time of day; nil where there are none that are known here.
    func at(_ minutes: Int) -> ScheduleTrigger? {
        switch self {
        case .weekly(_, let days): .weekly(minutes: minutes, days: days)
        case .date(_, let day, let months, let year, let isEveryYear):
            .date(minutes: minutes, day: day, months: months, year: year, isEveryYear: isEveryYear)
        // Once, and so it stays.
        case .after: .weekly(minutes: minutes, days: 0)
        case .other: nil
        }
    }

    /// Whether it never comes any more where a clock shows this.
    func isOver(at now: ClockReading) -> Bool {
        guard case .date(let minutes, let day, let months, let year?, _) = self,
            let month = (1...12).last(where: { months >> ($0 - 1) & 1 == 1 })
        else { return false }
        return (year, month, day, minutes)
            <= (now.day.year ?? 0, now.day.month, now.day.day, now.minutes)
    }

    /// As a person reads it: `at 07:30 mon-fri`.
    var words: String {
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
        case .after(let seconds): return "\(seconds) s after it was set"
        case .other: return "at times of another kind"
        }
    }
}
