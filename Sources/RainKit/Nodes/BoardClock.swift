// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainAccount
import RainJSON
import RainMaker
import RainPrivateFiles

/// A day of the calendar, in one year or in every year.
public struct CalendarDay: Sendable, Equatable {
    /// Nil for every year.
    public var year: Int?
    /// 1 for January.
    public var month: Int
    /// The day of the month, from 1.
    public var day: Int

    public init(year: Int?, month: Int, day: Int) { (self.year, self.month, self.day) = (year, month, day) }

    /// Reads `2026-12-24` or `12-24`; nil for any other text and for a day that does not exist. Years are 2020 to 2099.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int($0) }
        guard numbers.count == parts.count, (2...3).contains(parts.count), !text.contains("+") else { return nil }
        self.init(
            year: numbers.count == 3 ? numbers[0] : nil, month: numbers[numbers.count - 2],
            day: numbers[numbers.count - 1])
        guard exists else { return nil }
    }

    var exists: Bool {
        if let year { guard (2020...2099).contains(year) else { return false } }
        guard (1...12).contains(month) else { return false }
        let isLeap = year.map { $0 % 4 == 0 } ?? true
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...lengths[month - 1]).contains(day)
    }

    init(secondsSince1970 seconds: Int64) {
        let time = CivilTime(secondsSince1970: Int(seconds))
        self.init(year: time.year, month: time.month, day: time.day)
    }
}

/// What a clock shows: a day, and the minutes since its midnight.
package struct ClockReading: Sendable, Equatable {
    package var day: CalendarDay
    package var minutes: Int

    package init(day: CalendarDay, minutes: Int) { (self.day, self.minutes) = (day, minutes) }

    init(secondsSince1970 seconds: Int64) {
        day = CalendarDay(secondsSince1970: seconds)
        minutes = Int((seconds % 86_400 + 86_400) % 86_400 / 60)
    }
}

/// Returns what the clock of a board shows now, by the time zone that is set at the board.
package struct BoardClock: Sendable {
    /// In seconds since 1970.
    private let now: Int64

    package init(_ clock: any WallClock = SystemWallClock()) { now = Int64(clock.now.seconds) }

    /// Nil if the node has no parameter for a zone, or has a zone that this machine does not know.
    func reading(of node: Node) -> ClockReading? {
        guard let zone = node.timeZone else { return nil }
        if zone.name.isEmpty {
            // Firmware then takes the time for UTC, unless it has the zone in POSIX's form.
            return zone.isElsewhere ? nil : reading(hoursEast: 0)
        }
        return reading(in: zone.name)
    }

    /// What clocks show that many hours east of UTC.
    package func reading(hoursEast hours: Int) -> ClockReading {
        ClockReading(secondsSince1970: now + Int64(hours) * 3600)
    }

    /// Nil for a zone that this machine does not know.
    func reading(in zone: String) -> ClockReading? {
        guard let file = TimeZoneFile(named: zone) else { return nil }
        return ClockReading(secondsSince1970: now + Int64(file.offset(at: now)))
    }

    /// The clock in the last time zone on earth: a time that is over there is over everywhere.
    var earliest: ClockReading { reading(hoursEast: -12) }
    /// The clock in the first time zone: a time that is still to come there is to come everywhere.
    var latest: ClockReading { reading(hoursEast: 14) }
}

extension Node {
    /// The zone that is set at the node's time service: its name, the path of the parameter, and whether another parameter has a zone. Nil if
    /// the node has no such parameter.
    var timeZone: (name: String, path: ParameterPath, isElsewhere: Bool)? {
        let services = NodeConfiguration(configuration)?.components.filter { $0.type == "esp.service.time" } ?? []
        guard let service = services.first,
            let zone = service.parameters.first(where: { $0.type == "esp.param.tz" })
        else { return nil }
        let values = parameters?[service.name]
        let posix = service.parameters.first { $0.type == "esp.param.tz_posix" }
        return (
            values?[zone.name]?.string ?? "", ParameterPath(component: service.name, parameter: zone.name),
            posix.flatMap { values?[$0.name]?.string }?.isEmpty == false
        )
    }
}
