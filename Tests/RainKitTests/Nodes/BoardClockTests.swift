// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainAccount
import RainCore
import RainJSON
import Testing

@testable import RainKit
@testable import RainMaker

/// The time zones are those of this machine.
@Suite("A board's clock")
struct BoardClockTests {
    private struct FixedClock: WallClock {
        let now: UnixTime
    }

    /// 25 October 2026, 01:30 UTC: half an hour after the end of summer time in Berlin.
    private let clock = BoardClock(FixedClock(now: UnixTime(seconds: 1_792_891_800)))

    @Test(
        "clocks in other time zones", .enabled(if: access("/usr/share/zoneinfo/Europe/Berlin", R_OK) == 0),
        arguments: [
            ("Etc/GMT-14", 25, 15 * 60 + 30), ("Etc/GMT+12", 24, 13 * 60 + 30), ("UTC", 25, 90),
            ("Europe/Berlin", 25, 150), ("Europe/London", 25, 90), ("Asia/Kathmandu", 25, 7 * 60 + 15),
            ("America/New_York", 24, 21 * 60 + 30),
        ])
    func zones(zone: String, day: Int, minutes: Int) {
        let reading = ClockReading(day: CalendarDay(year: 2026, month: 10, day: day), minutes: minutes)
        #expect(clock.reading(in: zone) == reading)
    }

    @Test(
        "an unknown zone is not treated as UTC",
        arguments: ["Mars/Olympus", "../zoneinfo/UTC", "/etc/localtime", "a b", "Europe", "tzdata.zi", "zone.tab"])
    func unknown(zone: String) {
        #expect(clock.reading(in: zone) == nil)
    }

    @Test(
        "a board without a zone shows UTC, unless it has one in POSIX's form; one without the parameter shows nothing")
    func noZone() throws {
        func node(_ values: JSONValue, _ parameters: JSONValue) throws -> Node {
            try #require(
                Node([
                    "id": "n1", "params": ["Time": values],
                    "config": ["services": [["name": "Time", "type": "esp.service.time", "params": parameters]]],
                ]))
        }
        let both: JSONValue = [["name": "TZ", "type": "esp.param.tz"], ["name": "P", "type": "esp.param.tz_posix"]]
        #expect(clock.reading(of: try node(["TZ": "", "P": ""], both)) == clock.reading(hoursEast: 0))
        #expect(clock.reading(of: try node(["TZ": "", "P": "CET-1CEST"], both)) == nil)
        #expect(clock.reading(of: try node(["TZ": "UTC"], both)) == clock.reading(hoursEast: 0))
        #expect(clock.reading(of: try node([:], [])) == nil)
    }

    @Test(
        "rules for all years",
        arguments: [
            ("<+14>-14", 14 * 3600, 14 * 3600), ("CET-1CEST,M3.5.0,M10.5.0/3", 3600, 7200),
            ("EST5EDT,M3.2.0,M11.1.0", -18_000, -14_400), ("IST-1GMT0,M10.5.0,M3.5.0/1", 0, 3600),
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", 39_600, 36_000), ("X-5:30", 19_800, 19_800),
            ("AAA0BBB,J60/0,300/2:30", 0, 3600), ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -7200, -3600),
        ])
    func rules(text: String, january: Int, july: Int) throws {
        let rule = try #require(TimeZoneRule(text == "X-5:30" ? "XXX-5:30" : text))
        #expect(rule.offset(at: 1_767_225_600) == january && rule.offset(at: 1_782_864_000) == july)
    }

    @Test("bytes that are not a time zone, however short, are refused")
    func damaged() throws {
        for text in [
            "", "CET", "CET-1CEST", "CET-1CEST,M13.1.0,M10.5.0", "CET-1CEST,M3.5.0", "CET-1,M3.5.0,M10.5.0", "-1",
        ] {
            #expect(TimeZoneRule(text) == nil, "\(text)")
        }
        let header: [UInt8] = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 39)
        var second = header
        second[39] = 1
        let whole = header + second + [0, 0, 14, 16, 0, 0] + Array("\n<+01>-1\n".utf8)
        #expect(TimeZoneFile(whole)?.offset(at: 0) == 3600)
        for count in 0..<(whole.count - 9) { #expect(TimeZoneFile(Array(whole.prefix(count))) == nil, "\(count)") }
        var many = whole
        many[44 + 32] = 0xFF
        #expect(TimeZoneFile(many) == nil)
    }
}
