// SPDX-License-Identifier: Apache-2.0

/// A date and a time of day in UTC, in the Gregorian calendar.
package struct CivilTime: Sendable, Equatable {
    package var year: Int
    /// 1 for January.
    package var month: Int
    /// From 1.
    package var day: Int
    package var hour: Int
    package var minute: Int
    /// 60 in a leap second.
    package var second: Int

    /// Creates the date and time of a moment.
    package init(secondsSince1970 seconds: Int) {
        let rest = (seconds % 86_400 + 86_400) % 86_400
        // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days. Years begin in March here, so that the leap day
        // comes last. All eras of 400 years are alike.
        let shifted = (seconds - rest) / 86_400 + 719_468
        let dayOfEra = (shifted % 146_097 + 146_097) % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + (shifted - dayOfEra) / 146_097 * 400 + (month <= 2 ? 1 : 0)
        (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
    }

    /// Returns nil unless the year is 1970 or later and the other numbers are in their ranges. Every month may have 31 days.
    private init?(year: Int?, month: Int?, day: Int?, hour: Int?, minute: Int?, second: Int?) {
        guard let year, let month, let day, let hour, let minute, let second, year >= 1970, (1...12).contains(month),
            (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    package var secondsSince1970: Int {
        let days = Self.days(toYear: year, month: month, day: day)
        return ((days * 24 + hour) * 60 + minute) * 60 + second
    }

    /// Returns the days from 1 January 1970 to a date.
    package static func days(toYear year: Int, month: Int, day: Int) -> Int {
        // Years begin in March here too.
        let year = month <= 2 ? year - 1 : year
        let shifted = (month + 9) % 12
        let leapDays = year / 4 - year / 100 + year / 400
        return year * 365 + leapDays + (shifted * 306 + 5) / 10 + day - 1 - 719_468
    }
}

/// The spelling of ISO 8601, and of providers that are close to it.
extension CivilTime {
    /// Reads `yyyy-MM-dd HH:mm:ssZ`, also with `T` between the halves (ISO 8601), and with a fraction of a second. The offset must be zero
    /// in any spelling: `Z`, `+0000`, `+00:00`, or none.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 19, bytes[10] == UInt8(ascii: " ") || bytes[10] == UInt8(ascii: "T"),
            bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"), bytes[13] == UInt8(ascii: ":"),
            bytes[16] == UInt8(ascii: ":")
        else { return nil }
        var rest = bytes[19...]
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst().drop { (0x30...0x39).contains($0) }
        }
        guard ["", "Z", "+0000", "+00:00"].contains(where: { rest.elementsEqual($0.utf8) }) else { return nil }
        self.init(
            year: number(bytes[0..<4]), month: number(bytes[5..<7]), day: number(bytes[8..<10]),
            hour: number(bytes[11..<13]), minute: number(bytes[14..<16]), second: number(bytes[17..<19]))
    }

    /// Returns a text such as `2030-01-01 00:00:00`. Callers add the offset as it is spelled in their format.
    package func text(separator: String = " ") -> String {
        // Not by interpolation, which takes ten times as long: a history has a time in each line.
        var text = String(year)
        for (mark, number) in [("-", month), ("-", day), (separator, hour), (":", minute), (":", second)] {
            text += mark
            text += two(number)
        }
        return text
    }

    /// Reads the basic form, `20130524T000000Z`.
    package init?(basic text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z") else { return nil }
        self.init(
            year: number(bytes[0..<4]), month: number(bytes[4..<6]), day: number(bytes[6..<8]),
            hour: number(bytes[9..<11]), minute: number(bytes[11..<13]), second: number(bytes[13..<15]))
    }

    /// The basic form, `20130524T000000Z`. Its first eight digits are the date.
    package var basicText: String {
        "\(year)\(two(month))\(two(day))T\(two(hour))\(two(minute))\(two(second))Z"
    }
}

/// The dates of HTTP (RFC 9110, 5.6.7).
extension CivilTime {
    private static let days: [String] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that is still sent. The name of the day is not checked.
    package init?(httpDate text: String) {
        let parts = text.split(separator: " ")
        guard text.utf8.count == 29, parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT",
            parts[1].utf8.count == 2, parts[3].utf8.count == 4, let month = Self.months.firstIndex(of: parts[2])
        else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, clock.allSatisfy({ $0.utf8.count == 2 }) else { return nil }
        self.init(
            year: number(parts[3].utf8), month: month + 1, day: number(parts[1].utf8), hour: number(clock[0].utf8),
            minute: number(clock[1].utf8), second: number(clock[2].utf8))
    }

    /// The text `Sun, 06 Nov 1994 08:49:37 GMT`. The year is 1970 or later.
    package var httpDate: String {
        // 1 January 1970 was a Thursday.
        let name = Self.days[(Self.days(toYear: year, month: month, day: day) + 4) % 7]
        return "\(name), \(two(day)) \(Self.months[month - 1]) \(year) \(two(hour)):\(two(minute)):\(two(second)) GMT"
    }
}

private func two(_ number: Int) -> String { number < 10 ? "0" + String(number) : String(number) }

/// Returns nil unless all bytes are digits.
private func number(_ digits: some Sequence<UInt8>) -> Int? {
    var value = 0
    for digit in digits {
        guard (0x30...0x39).contains(digit) else { return nil }
        value = value * 10 + Int(digit - 0x30)
    }
    return value
}
