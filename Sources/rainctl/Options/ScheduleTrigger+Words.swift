// SPDX-License-Identifier: Apache-2.0
import RainKit

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
