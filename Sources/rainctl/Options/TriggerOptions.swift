// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainKit

/// When a schedule acts, as a person writes it.
struct TriggerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The time of day, by the board's own clock and time zone.", valueName: "hh:mm"))
    var at: String?

    @Option(
        help: ArgumentHelp(
            "The days of the week: mon-fri, sat,sun, daily or once, which is the next time that it is so late. (default: once)",
            valueName: "days"))
    var days: String?

    @Option(help: ArgumentHelp("A date instead of days: 2026-12-24, or 12-24 for every year.", valueName: "date"))
    var date: String?

    @Option(name: .customLong("in"), help: ArgumentHelp("Once, after this time: 30m, 90s.", valueName: "time"))
    var delay: DurationArgument?

    var isGiven: Bool { at != nil || days != nil || date != nil || delay != nil }

    private var words: TriggerWords { TriggerWords(at: at, days: days, date: date, delay: delay?.duration) }

    /// What a command that changes a schedule leaves out stays as it was; a new one has to say it all.
    func validate() throws {
        if isGiven { _ = try trigger(on: CalendarDay.today, changing: .weekly(minutes: 0, days: 0)) }
    }

    /// - Parameter known: what is changed; nil for a new schedule.
    func trigger(on today: CalendarDay, changing known: ScheduleTrigger? = nil) throws -> ScheduleTrigger {
        try words.trigger(on: today, changing: known)
    }
}

/// What those options hold.
struct TriggerWords {
    var at: String?
    var days: String?
    var date: String?
    var delay: Duration?

    /// Throws a `ValidationError` for what cannot be read, and for what would never come.
    func trigger(on today: CalendarDay, changing known: ScheduleTrigger? = nil) throws -> ScheduleTrigger {
        if let delay {
            guard at == nil, days == nil, date == nil else {
                throw ValidationError("--in says it all: leave --at, --days and --date out.")
            }
            let seconds = delay.components.seconds
            guard (1...31_536_000).contains(seconds) else { throw ValidationError("--in is a second to a year.") }
            return .after(seconds: Int(seconds))
        }
        let minutes: Int
        if let at {
            guard let given = Self.minutes(at) else {
                throw ValidationError("\(at.onOneLine) is not a time of day for --at, such as 07:30.")
            }
            minutes = given
        } else {
            guard let before = known?.minutes else {
                throw ValidationError("Say when: --at HH:MM, or --in TIME.")
            }
            minutes = before
        }
        guard let date else {
            if days == nil, let known, let moved = known.moved(to: minutes) { return moved }
            guard let mask = Self.mask(days ?? "once") else {
                throw ValidationError(
                    "\((days ?? "").onOneLine) is no list of days such as mon-fri, sat,sun, daily or weekdays.")
            }
            return .weekly(minutes: minutes, days: mask)
        }
        guard days == nil else { throw ValidationError("A schedule has --days or a --date, not both.") }
        guard let day = CalendarDay(date) else {
            throw ValidationError("\(date.onOneLine) is not a date for --date, such as 2026-12-24 or 12-24.")
        }
        if let year = day.year, (year, day.month, day.day) < (today.year ?? 0, today.month, today.day) {
            throw ValidationError("The \(date.onOneLine) is over: this schedule would never act.")
        }
        return .date(
            minutes: minutes, day: day.day, months: 1 << (day.month - 1), year: day.year, isEveryYear: day.year == nil)
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
                // monday as well as mon.
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

    /// By this machine's clock.
    static var today: CalendarDay {
        var seconds = time(nil)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return CalendarDay(year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday))
    }

    private init(year: Int?, month: Int, day: Int) { (self.year, self.month, self.day) = (year, month, day) }

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

extension ScheduleTrigger {
    /// After midnight; nil where it is not about a time of day.
    fileprivate var minutes: Int? {
        switch self {
        case .weekly(let minutes, _), .date(let minutes, _, _, _, _): minutes
        case .after, .other: nil
        }
    }

    /// The same days at another time; nil where it has none.
    fileprivate func moved(to minutes: Int) -> ScheduleTrigger? {
        switch self {
        case .weekly(_, let days): .weekly(minutes: minutes, days: days)
        case .date(_, let day, let months, let year, let isEveryYear):
            .date(minutes: minutes, day: day, months: months, year: year, isEveryYear: isEveryYear)
        case .after, .other: nil
        }
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
