// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainAccount
import RainCore
import RainJSON
import Testing

@testable import RainKit
@testable import RainMaker

@Suite("Records as text")
struct HistoryTextTests {
    private static let hasZones = access("/usr/share/zoneinfo/Europe/Berlin", R_OK) == 0
    private static let path = ParameterPath(component: "Weather, out", parameter: "Temp=a b")

    private static func line(
        _ value: JSONValue, _ path: ParameterPath = path, name: String = "Kitchen lamp", isFloat: Bool = true,
        _ aggregate: SeriesAggregate = .raw
    ) -> String {
        HistoryText.influx(
            SeriesRecord(time: UnixTime(seconds: 1_700_000_000), value: value), node: NodeID("n1"), name: name,
            path: path, aggregate: aggregate, isFloat: isFloat)
    }

    @Test("InfluxDB's line protocol: names and texts with every special character, one type for each field")
    func influx() {
        let head = #"Weather\,\ out,node=n1,node_name=Kitchen\ lamp Temp\=a\ b="#
        #expect(Self.line(21.5) == head + "21.5 1700000000000000000")
        #expect(Self.line(21) == head + "21 1700000000000000000")
        #expect(Self.line(21, isFloat: false) == head + "21i 1700000000000000000")
        #expect(Self.line(true) == head + "true 1700000000000000000")
        #expect(Self.line(#"a "b" \c"#) == head + #""a \"b\" \\c" 1700000000000000000"#)
        #expect(Self.line(["x": 1]) == head + #""{\"x\":1}" 1700000000000000000"#)
        let plain = ParameterPath(component: "S", parameter: "T")
        #expect(Self.line(3, plain, name: "", .count) == "S,aggregate=count,node=n1 T=3i 1700000000000000000")
        // A line end would begin another record, and a backslash would escape the comma behind it.
        #expect(
            Self.line(1, plain, name: "a\nS T=2 1\\")
                == #"S,node=n1,node_name=a\ S\ T\=2\ 1 T=1 1700000000000000000"#)
    }

    @Test("a table of comma-separated values quotes what needs it", .enabled(if: hasZones))
    func csv() {
        let text = HistoryText(timeZone: "Europe/Berlin")
        func line(_ value: JSONValue) -> String {
            text.csv(
                SeriesRecord(time: UnixTime(seconds: 1_774_742_400), value: value), node: NodeID("n1"),
                path: ParameterPath(component: "S", parameter: "T"))
        }
        #expect(line(1.5) == "2026-03-29T01:00:00+01:00,n1,S.T,1.5")
        #expect(line("a,\"b\"\n") == "2026-03-29T01:00:00+01:00,n1,S.T,\"a,\"\"b\"\"\n\"")
        #expect(line(["a": [1, 2]]) == #"2026-03-29T01:00:00+01:00,n1,S.T,"{""a"":[1,2]}""#)
        #expect(HistoryText.csvHeader == "time,node_id,parameter,value")
    }

    @Test("moments, by the zone's clocks or with an offset, also when the clocks change", .enabled(if: hasZones))
    func moments() {
        let text = HistoryText(timeZone: "Europe/Berlin")
        func seconds(_ moment: String) -> Double? { text.moment(moment)?.seconds }
        #expect(seconds("2026-03-29") == 1_774_738_800)
        #expect(seconds("2026-03-29T01:59") == 1_774_745_940)
        // The clocks skip this hour, and show the other one twice: the first one counts.
        #expect(seconds("2026-03-29T02:30") == 1_774_747_800)
        #expect(seconds("2026-10-25 02:30:00") == 1_792_888_200)
        #expect(seconds("2026-10-25T02:30+01:00") == 1_792_891_800)
        #expect(seconds("2026-10-25T01:30:00Z") == 1_792_891_800)
        #expect(seconds("2026-10-24T20:30:00-0500") == 1_792_891_800)
        #expect(seconds("@5") == 5)
        for wrong in [
            "", "yesterday", "2026-02-30", "2026-13-01", "2026-03-29T25:00", "2026-03-29Z", "@-1", "@x", "2026-03-29T",
            "2026-03-29T01:00+1", "1969-12-31", "2026-03-29T01:00+25:00",
        ] {
            #expect(text.moment(wrong) == nil, "\(wrong)")
        }
        #expect(text.time(UnixTime(seconds: 1_792_891_800)) == "2026-10-25T02:30:00+01:00")
        #expect(HistoryText(timeZone: "UTC").time(UnixTime(seconds: 0)) == "1970-01-01T00:00:00Z")
        #expect(
            HistoryText(timeZone: "America/St_Johns").time(UnixTime(seconds: 1_700_000_000))
                == "2023-11-14T18:43:20-03:30")
    }
}

@Suite("The calendar of a time zone")
struct ZonedCalendarTests {
    private static let hasZones = access("/usr/share/zoneinfo/Europe/Berlin", R_OK) == 0

    @Test("units begin by the zone's clocks", .enabled(if: hasZones))
    func starts() throws {
        let berlin = try #require(ZonedCalendar(named: "europe/berlin"))
        #expect(berlin.name == "Europe/Berlin")
        // 29 March 2026, 03:30 in Berlin.
        let time: Int64 = 1_774_747_800
        func text(_ time: Int64) -> String { berlin.local(time).text() }
        #expect(text(berlin.start(of: .hour, at: time)) == "2026-03-29 03:00:00")
        #expect(text(berlin.start(of: .day, at: time)) == "2026-03-29 00:00:00")
        #expect(berlin.next(.day, after: time) - berlin.start(of: .day, at: time) == 23 * 3600)
        #expect(text(berlin.start(of: .week, at: time)) == "2026-03-23 00:00:00")
        #expect(text(berlin.start(of: .month, at: time)) == "2026-03-01 00:00:00")
        #expect(text(berlin.start(of: .year, at: time)) == "2026-01-01 00:00:00")
        #expect(text(berlin.adding(1, .month, to: 1_769_857_200)) == "2026-02-28 12:00:00")
        var sundays = berlin
        sundays.firstWeekday = 0
        #expect(text(sundays.start(of: .week, at: time)) == "2026-03-29 00:00:00")
        // 25 October 2026: each 02:00 is an hour of its own.
        let twice: [Int64] = [1_792_886_400 + 1800, 1_792_890_000 + 1800]
        #expect(twice.map { berlin.start(of: .hour, at: $0) } == [1_792_886_400, 1_792_890_000])
        #expect(twice.map { berlin.local($0).hour } == [2, 2])
        // In Beirut, days in spring begin at 01:00.
        let beirut = try #require(ZonedCalendar(named: "Asia/Beirut"))
        let day = beirut.start(of: .day, at: 1_774_771_200)
        #expect(beirut.local(day).text() == "2026-03-29 01:00:00" && beirut.start(of: .day, at: day) == day)
        for name in ["EST", "utc", "america/new_york", "America/Port_of_Spain"] {
            #expect(ZonedCalendar(named: name) != nil, "\(name)")
        }
        for name in ["", "Mars", "../etc/passwd", "/etc/passwd", "Europe"] {
            #expect(ZonedCalendar(named: name) == nil, "\(name)")
        }
    }
}
