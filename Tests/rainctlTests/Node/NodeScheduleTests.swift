// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit
import Testing

@testable import rainctl

@Suite("rainctl node schedule, node scene")
struct NodeScheduleTests {
    @Test(
        "times that cannot be given together are refused, in the words of the options",
        arguments: [
            (["--at", "7:30", "--in", "5m"], "--in cannot be combined with --at"),
            (["--in", "500ms"], "--in takes a time from 1 second"),
            (["--at", "7:30", "--days", "mon", "--date", "12-24"], "--days or --date"),
            (["--at", "25:00"], "\"25:00\" is not a time of day"), (["--at", "7:30", "--days", "someday"], "someday"),
            (["--at", "7:30", "--date", "02-30"], "\"02-30\" is not a day in the calendar"),
        ])
    func refused(options: [String], words: String) {
        let error = #expect(throws: (any Error).self) { try TriggerOptions.parse(options) }
        #expect(error.map { TriggerOptions.message(for: $0).contains(words) } == true)
    }

    @Test(
        "times are read",
        arguments: [
            ([], nil), (["--in", "90s"], ScheduleTime.after(seconds: 90)),
            (["--at", "7:30", "--days", "mon-fri"], .at(minutes: 450, on: .week(31))),
            (["--date", "12-24"], .at(minutes: nil, on: .date(CalendarDay(year: nil, month: 12, day: 24)))),
        ])
    func read(options: [String], time: ScheduleTime?) throws {
        #expect(try TriggerOptions.parse(options).time() == time)
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
