// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import Testing

@testable import rainctl

@Suite("rainctl node schedule, node scene")
struct NodeScheduleTests {
    private static let now = ClockReading(day: CalendarDay("2026-11-23")!, minutes: 12 * 60)

    @Test(
        "times that a person writes",
        arguments: [
            (TriggerWords(at: "07:30"), ScheduleTrigger.weekly(minutes: 450, days: 0), "at 07:30 once"),
            (TriggerWords(at: "7:30", days: "daily"), .weekly(minutes: 450, days: 127), "at 07:30 daily"),
            (
                TriggerWords(at: "23:59", days: "fri-mon"), .weekly(minutes: 1439, days: 0b111_0001),
                "at 23:59 mon,fri,sat,sun"
            ),
            (TriggerWords(at: "0:00", days: "Monday,wed"), .weekly(minutes: 0, days: 0b101), "at 00:00 mon,wed"),
            (TriggerWords(at: "8:00", days: "weekends"), .weekly(minutes: 480, days: 0b110_0000), "at 08:00 sat,sun"),
            (TriggerWords(at: "8:00", days: "weekdays"), .weekly(minutes: 480, days: 0b001_1111), "at 08:00 mon-fri"),
            (
                TriggerWords(at: "18:00", date: "12-24"),
                .date(minutes: 1080, day: 24, months: 1 << 11, year: nil, isEveryYear: true),
                "at 18:00 on 24 Dec every year"
            ),
            (
                TriggerWords(at: "18:00", date: "2026-11-23"),
                .date(minutes: 1080, day: 23, months: 1 << 10, year: 2026, isEveryYear: false),
                "at 18:00 on 23 Nov 2026"
            ),
            (TriggerWords(at: "8:00", days: "thurs"), .weekly(minutes: 480, days: 0b1000), "at 08:00 thu"),
            (TriggerWords(delay: .seconds(90)), .after(seconds: 90), "90 s after it was set"),
            (TriggerWords(delay: .seconds(31_536_000)), .after(seconds: 31_536_000), "31536000 s after it was set"),
        ])
    func times(given: TriggerWords, trigger: ScheduleTrigger, words: String) throws {
        let made = try given.trigger(at: Self.now)
        #expect(made == trigger)
        #expect(made.words == words)
        #expect(ScheduleTrigger(made.json) == made, "and the board's report is read as what was sent")
    }

    @Test(
        "times that never come, or that nobody can read",
        arguments: [
            TriggerWords(at: "24:00"), TriggerWords(at: "7"), TriggerWords(at: "07:60"), TriggerWords(at: "-1:00"),
            TriggerWords(at: "+7:00"), TriggerWords(at: "07:30", days: "noday"),
            TriggerWords(at: "07:30", days: "mon-"), TriggerWords(at: "07:30", days: "monkey"),
            TriggerWords(at: "07:30", days: ""), TriggerWords(at: "07:30", days: "mon-tue-wed"),
            TriggerWords(at: "07:30", date: "2026-11-22"), TriggerWords(at: "07:30", date: "2026-11-23"),
            TriggerWords(at: "12:00", date: "2026-11-23"), TriggerWords(at: "07:30", days: "monkey"),
            TriggerWords(at: "07:30", days: "fritz"), TriggerWords(at: "07:30", days: "mo"),
            TriggerWords(at: "07:30", date: "02-30"),
            TriggerWords(at: "07:30", date: "2027-02-29"), TriggerWords(at: "07:30", date: "13-01"),
            TriggerWords(at: "07:30", days: "mon", date: "12-24"), TriggerWords(days: "mon"),
            TriggerWords(at: "07:30", delay: .seconds(600)), TriggerWords(delay: .milliseconds(500)),
        ])
    func unreadable(given: TriggerWords) {
        #expect(throws: (any Error).self) { try given.trigger(at: Self.now) }
    }

    private static let yearly = ScheduleTrigger.date(minutes: 1080, day: 24, months: 2048, year: nil, isEveryYear: true)
    private static let christmas = ScheduleTrigger.date(
        minutes: 1080, day: 24, months: 2048, year: 2026, isEveryYear: false)
    private static let past = ScheduleTrigger.date(minutes: 600, day: 1, months: 1, year: 2026, isEveryYear: false)

    @Test(
        "what an edit leaves out stays",
        arguments: [
            (TriggerWords(at: "8:00"), ScheduleTrigger.weekly(minutes: 450, days: 31), "at 08:00 mon-fri"),
            (TriggerWords(days: "sat"), .weekly(minutes: 450, days: 31), "at 07:30 sat"),
            (TriggerWords(date: "12-24"), .weekly(minutes: 450, days: 31), "at 07:30 on 24 Dec every year"),
            (TriggerWords(at: "8:00"), yearly, "at 08:00 on 24 Dec every year"),
            (TriggerWords(date: "2027-01-02"), christmas, "at 18:00 on 2 Jan 2027"),
            (TriggerWords(days: "daily"), christmas, "at 18:00 daily"),
            (TriggerWords(at: "8:00"), .after(seconds: 5), "at 08:00 once"),
            (TriggerWords(delay: .seconds(5)), christmas, "5 s after it was set"),
            (TriggerWords(at: "8:00", days: "once"), .other(["sun": 1]), "at 08:00 once"),
        ])
    func kept(given: TriggerWords, known: ScheduleTrigger, words: String) throws {
        #expect(try given.trigger(after: known, at: Self.now).words == words)
    }

    @Test(
        "an edit that leaves out what is not known, or keeps a day that is over",
        arguments: [
            (TriggerWords(days: "daily"), ScheduleTrigger.after(seconds: 5)), (TriggerWords(at: "8:00"), past),
            (TriggerWords(date: "12-24"), .other(["sun": 1])), (TriggerWords(at: "8:00"), .other(["sun": 1])),
        ])
    func notKept(given: TriggerWords, known: ScheduleTrigger) {
        #expect(throws: (any Error).self) { try given.trigger(after: known, at: Self.now) }
    }

    @Test("spans may be days, and time limits a day at most")
    func spans() {
        #expect(SpanArgument(argument: "30d")?.duration == .seconds(2_592_000))
        #expect(SpanArgument(argument: "365d")?.duration == .seconds(31_536_000))
        #expect(SpanArgument(argument: "12h")?.duration == .seconds(43_200))
        #expect(SpanArgument(argument: "1e300d") == nil && SpanArgument(argument: "5000d") == nil)
        #expect(SpanArgument(argument: "0d") == nil && SpanArgument(argument: "d") == nil)
        #expect(DurationArgument(argument: "24h")?.duration == .seconds(86_400))
        #expect(DurationArgument(argument: "1d") == DurationArgument(argument: "24h"))
        #expect(DurationArgument(argument: "25h") == nil && DurationArgument(argument: "500ms") != nil)
    }
}
