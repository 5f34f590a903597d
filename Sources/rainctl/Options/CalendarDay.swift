// SPDX-License-Identifier: Apache-2.0
import Glibc

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
