// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainMaker
import Testing

@testable import RainKit

@Suite("Schedules: when they act")
struct ScheduleTimeTests {
    private static let now = ClockReading(day: CalendarDay("2026-11-23")!, minutes: 12 * 60)

    /// The time that a test gives.
    struct Given: Sendable {
        var at: String?
        var days: String?
        var date: String?
        var seconds: Int?

        func trigger(after known: ScheduleTrigger? = nil, at now: ClockReading) throws -> ScheduleTrigger {
            let time =
                try seconds.map { ScheduleTime.after(seconds: $0) } ?? ScheduleTime(at: at, days: days, date: date)
            return try time.trigger(after: known, at: now)
        }
    }

    @Test(
        "times as people write them",
        arguments: [
            (Given(at: "07:30"), ScheduleTrigger.weekly(minutes: 450, days: 0), "at 07:30 once"),
            (Given(at: "7:30", days: "daily"), .weekly(minutes: 450, days: 127), "at 07:30 daily"),
            (
                Given(at: "23:59", days: "fri-mon"), .weekly(minutes: 1439, days: 0b111_0001),
                "at 23:59 mon,fri,sat,sun"
            ),
            (Given(at: "0:00", days: "Monday,wed"), .weekly(minutes: 0, days: 0b101), "at 00:00 mon,wed"),
            (Given(at: "8:00", days: "weekends"), .weekly(minutes: 480, days: 0b110_0000), "at 08:00 sat,sun"),
            (Given(at: "8:00", days: "weekdays"), .weekly(minutes: 480, days: 0b001_1111), "at 08:00 mon-fri"),
            (
                Given(at: "18:00", date: "12-24"),
                .date(minutes: 1080, day: 24, months: 1 << 11, year: nil, isEveryYear: true),
                "at 18:00 on 24 Dec every year"
            ),
            (
                Given(at: "18:00", date: "2026-11-23"),
                .date(minutes: 1080, day: 23, months: 1 << 10, year: 2026, isEveryYear: false),
                "at 18:00 on 23 Nov 2026"
            ),
            (Given(at: "8:00", days: "thurs"), .weekly(minutes: 480, days: 0b1000), "at 08:00 thu"),
            (Given(seconds: 90), .after(seconds: 90), "90 s after it was set"),
            (Given(seconds: 31_536_000), .after(seconds: 31_536_000), "365 days after it was set"),
        ])
    func times(given: Given, trigger: ScheduleTrigger, words: String) throws {
        let made = try given.trigger(at: Self.now)
        #expect(made == trigger)
        #expect(made.description == words)
        #expect(ScheduleTrigger(made.json) == made, "and the board's report is read as what was sent")
    }

    @Test(
        "times that never come, or that cannot be read",
        arguments: [
            Given(at: "24:00"), Given(at: "7"), Given(at: "07:60"), Given(at: "-1:00"),
            Given(at: "+7:00"), Given(at: "07:30", days: "noday"),
            Given(at: "07:30", days: "mon-"), Given(at: "07:30", days: "monkey"),
            Given(at: "07:30", days: ""), Given(at: "07:30", days: "mon-tue-wed"),
            Given(at: "07:30", date: "2026-11-22"), Given(at: "07:30", date: "2026-11-23"),
            Given(at: "12:00", date: "2026-11-23"), Given(at: "07:30", days: "monkey"),
            Given(at: "07:30", days: "fritz"), Given(at: "07:30", days: "mo"),
            Given(at: "07:30", date: "02-30"),
            Given(at: "07:30", date: "2027-02-29"), Given(at: "07:30", date: "13-01"),
            Given(at: "07:30", days: "mon", date: "12-24"), Given(days: "mon"),
            Given(seconds: 0), Given(seconds: 31_536_001), Given(at: "07:30", date: "2019-01-01"),
        ])
    func unreadable(given: Given) {
        #expect(throws: (any Error).self) { try given.trigger(at: Self.now) }
    }

    private static let yearly = ScheduleTrigger.date(minutes: 1080, day: 24, months: 2048, year: nil, isEveryYear: true)
    private static let christmas = ScheduleTrigger.date(
        minutes: 1080, day: 24, months: 2048, year: 2026, isEveryYear: false)
    private static let past = ScheduleTrigger.date(minutes: 600, day: 1, months: 1, year: 2026, isEveryYear: false)

    @Test(
        "parts that an edit leaves out stay",
        arguments: [
            (Given(at: "8:00"), ScheduleTrigger.weekly(minutes: 450, days: 31), "at 08:00 mon-fri"),
            (Given(days: "sat"), .weekly(minutes: 450, days: 31), "at 07:30 sat"),
            (Given(date: "12-24"), .weekly(minutes: 450, days: 31), "at 07:30 on 24 Dec every year"),
            (Given(at: "8:00"), yearly, "at 08:00 on 24 Dec every year"),
            (Given(date: "2027-01-02"), christmas, "at 18:00 on 2 Jan 2027"),
            (Given(days: "daily"), christmas, "at 18:00 daily"),
            (Given(at: "8:00"), .after(seconds: 5), "at 08:00 once"),
            (Given(seconds: 5), christmas, "5 s after it was set"),
            (Given(at: "8:00", days: "once"), .other(["sun": 1]), "at 08:00 once"),
        ])
    func kept(given: Given, known: ScheduleTrigger, words: String) throws {
        #expect(try given.trigger(after: known, at: Self.now).description == words)
    }

    @Test(
        "an edit that leaves out an unknown part, or keeps a date that is over",
        arguments: [
            (Given(days: "daily"), ScheduleTrigger.after(seconds: 5)), (Given(at: "8:00"), past),
            (Given(date: "12-24"), .other(["sun": 1])), (Given(at: "8:00"), .other(["sun": 1])),
        ])
    func notKept(given: Given, known: ScheduleTrigger) {
        #expect(throws: (any Error).self) { try given.trigger(after: known, at: Self.now) }
    }
}
