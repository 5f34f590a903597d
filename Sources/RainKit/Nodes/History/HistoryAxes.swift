// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore

/// The round values beside a picture.
struct ValueAxis: Sendable, Equatable {
    /// The least and the greatest value of the picture.
    private(set) var range: ClosedRange<Double>
    /// From the least on.
    private(set) var ticks: [Double]
    private(set) var labels: [String]

    /// - Parameter count: the maximum number of values.
    init(_ minimum: Double, _ maximum: Double, atMost count: Int) {
        var (low, high) = (min(minimum, maximum), max(minimum, maximum))
        if low == high {
            let room = low == 0 ? 1 : abs(low) * 0.05
            (low, high) = (low - room, high + room)
        }
        // Halves, so that the sum does not overflow.
        let span = min(high / 2 - low / 2, .greatestFiniteMagnitude / 8) * 2
        var step = pow(10, (log10(span)).rounded(.down))
        let count = max(2, count)
        step = [0.1, 0.2, 0.5, 1, 2, 5].map { $0 * step }.first { span / $0 + 1 <= Double(count) } ?? step * 10
        range = low...high
        let first = (low / step).rounded(.up)
        let last = (high / step).rounded(.down)
        ticks = last - first < 100 && last >= first ? (0...Int(last - first)).map { (first + Double($0)) * step } : []
        let decimals = min(9, max(0, Int(-(log10(step) + 1e-9).rounded(.down))))
        labels = ticks.map { DecimalText.short($0, decimals: decimals) }
    }

    /// Returns where a value is, from 0 at the bottom to 1 at the top.
    func place(of value: Double) -> Double {
        (value / 2 - range.lowerBound / 2) / (range.upperBound / 2 - range.lowerBound / 2)
    }
}

/// Numbers for people.
enum DecimalText {
    /// Returns a number with that many decimals, in at most eight characters.
    static func short(_ value: Double, decimals: Int) -> String {
        let text = fixed(value, decimals)
        guard text.utf8.count > 8 else { return text }
        for (limit, factor, unit) in [(1e12, 1e12, "T"), (1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e3, 1e3, "k")]
            as [(Double, Double, String)]
        where abs(value) >= limit && abs(value) < limit * 1000 {
            return trimmed(fixed(value / factor, 3)) + unit
        }
        let exponent = value == 0 ? 0 : Int(log10(abs(value)).rounded(.down))
        return "\(trimmed(fixed(value / pow(10, Double(exponent)), 1)))e\(exponent)"
    }

    /// Returns a result such as a mean, with about five digits.
    static func digits(_ value: Double) -> String {
        guard value != 0, value.isFinite else { return "0" }
        let exponent = Int(log10(abs(value)).rounded(.down))
        guard (-5...12).contains(exponent) else { return short(value, decimals: 3) }
        return trimmed(fixed(value, max(0, 4 - exponent)))
    }

    private static func trimmed(_ text: String) -> String {
        guard text.contains(".") else { return text }
        var text = text
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    /// Returns a number with exactly that many decimals.
    static func fixed(_ value: Double, _ decimals: Int) -> String {
        let scaled = (abs(value) * pow(10, Double(decimals))).rounded()
        guard scaled < 9e18 else { return "\(value)" }
        var digits = String(Int64(scaled))
        if decimals > 0 {
            digits = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
            digits.insert(".", at: digits.index(digits.endIndex, offsetBy: -decimals))
        }
        return value < 0 && scaled > 0 ? "-" + digits : digits
    }
}

/// The times below a picture, at round times of the day, days, months or years.
struct TimeAxis: Sendable, Equatable {
    struct Tick: Sendable, Equatable {
        /// Seconds since 1970.
        var time: Int64
        var label: String
    }

    private(set) var ticks: [Tick] = []

    private enum Step: Sendable {
        case seconds(Int64)
        case days(Int)
        case months(Int)
    }

    private static let steps: [Step] =
        [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200].map { .seconds($0) }
        + [1, 2, 7, 14].map { .days($0) } + [1, 2, 3, 6, 12, 24, 60, 120, 240, 600].map { .months($0) }
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// - Parameters:
    ///   - width: the width of the picture, in any unit.
    ///   - character: the width of a character of a label.
    init(_ range: Range<Int64>, _ calendar: ZonedCalendar, width: Double, character: Double) {
        let length = Double(range.upperBound - range.lowerBound)
        guard length > 0 else { return }
        for step in Self.steps {
            let narrowest = Self.length(step) / length * width
            guard narrowest >= character * 5 else { continue }
            let ticks = Self.ticks(step, range, calendar)
            var last = -Double.infinity
            let fit = ticks.allSatisfy { tick in
                let place = Double(tick.time - range.lowerBound) / length * width
                let half = Double(tick.label.count) * character / 2
                defer { last = place + half }
                return place - half >= last + character * 2
            }
            if fit, !ticks.isEmpty {
                self.ticks = ticks
                return
            }
        }
    }

    private static func length(_ step: Step) -> Double {
        switch step {
        case .seconds(let count): Double(count)
        case .days(let count): Double(count) * 86_400
        case .months(let count): Double(count) * 28 * 86_400
        }
    }

    private static func ticks(_ step: Step, _ range: Range<Int64>, _ calendar: ZonedCalendar) -> [Tick] {
        var ticks: [Tick] = []
        func add(_ time: Int64, _ label: String) {
            if range.contains(time), ticks.last.map({ $0.time < time }) ?? true {
                ticks.append(Tick(time: time, label: label))
            }
        }
        // From the start of the unit before the range on.
        switch step {
        case .seconds(let count):
            var day = calendar.start(of: .day, at: range.lowerBound)
            while day < range.upperBound, ticks.count < 1000 {
                let next = calendar.next(.day, after: day)
                let date = calendar.local(day)
                var second = max(0, (range.lowerBound - day) / count - 3600 / count - 1) * count
                // By the clock, which shows 3, 6 and 9 also on a day when it changes.
                while second < 86_400, ticks.count < 1000 {
                    var local = date
                    (local.hour, local.minute, local.second) = (
                        Int(second / 3600), Int(second / 60 % 60), Int(second % 60)
                    )
                    let time = calendar.time(of: local)
                    if time >= range.upperBound { break }
                    add(time, second == 0 ? Self.day(date) : clock(local, withSeconds: count < 60))
                    second += count
                }
                day = next
            }
        case .days(let count):
            var day = calendar.start(of: .day, at: range.lowerBound)
            while day < range.upperBound, ticks.count < 1000 {
                let date = calendar.local(day)
                // 5 January 1970 was a Monday.
                let number = CivilTime.days(toYear: date.year, month: date.month, day: date.day) - 4
                if number % count == 0 { add(day, Self.day(date)) }
                day = calendar.next(.day, after: day)
            }
        case .months(let count):
            var month = calendar.start(of: .month, at: range.lowerBound)
            while month < range.upperBound, ticks.count < 1000 {
                let date = calendar.local(month)
                if (date.year * 12 + date.month - 1) % count == 0 {
                    add(month, date.month == 1 ? "\(date.year)" : months[date.month - 1])
                }
                month = calendar.next(.month, after: month)
            }
        }
        return ticks
    }

    private static func day(_ date: CivilTime) -> String { "\(date.day) \(months[date.month - 1])" }

    private static func clock(_ time: CivilTime, withSeconds: Bool) -> String {
        let text = time.text(separator: "T").dropFirst(11)
        return String(withSeconds ? text : text.prefix(5))
    }

    /// Returns the line under a picture: its first and last moment, and the zone.
    /// - Parameter width: the maximum number of characters. A line that is longer has no zone, and then no years.
    static func caption(_ range: Range<Int64>, _ calendar: ZonedCalendar, width: Int = .max) -> String {
        func text(_ time: Int64, withYear: Bool) -> String {
            let local = calendar.local(time)
            return "\(day(local))\(withYear ? " \(local.year)" : "") \(clock(local, withSeconds: false))"
        }
        func line(withYear: Bool) -> String {
            "\(text(range.lowerBound, withYear: withYear)) to \(text(range.upperBound, withYear: withYear))"
        }
        let whole = line(withYear: true)
        let candidates = ["\(whole), \(calendar.name)", whole, line(withYear: false)]
        return candidates.first { $0.count <= width } ?? ""
    }
}
