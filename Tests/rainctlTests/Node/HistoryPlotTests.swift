// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import RainAccount
import RainCore
import RainJSON
import TestSupport
import Testing

@testable import RainKit
@testable import RainMaker

/// The plots of `rainctl node history`. With `RAINKIT_RECORD=1` the tests write them into their files.
@Suite("RecordedOutput of plots")
struct HistoryPlotTests {
    private static let hasZones = access("/usr/share/zoneinfo/Europe/Berlin", R_OK) == 0
    private static let folder = "Tests/rainctlTests/Recorded/Plots"
    /// 29 March 2026 in Berlin, when the clocks go forward.
    private static let start: Int64 = 1_774_738_800

    private static func columns(_ count: Int, days: Int64 = 1, _ value: (Int64) -> Double?) -> HistoryColumns {
        let end = start + days * 86_400
        var columns = HistoryColumns(
            from: UnixTime(seconds: Double(start)), to: UnixTime(seconds: Double(end)), columns: count)
        for time in stride(from: start, to: end, by: 600) {
            guard let value = value(time) else { continue }
            columns.add(SeriesRecord(time: UnixTime(seconds: Double(time)), value: .number(value)))
        }
        return columns
    }

    private static func lines(_ count: Int, days: Int64 = 1) -> [HistoryPlot.Line] {
        let warm = columns(count, days: days) { time in
            // Without records from 12:00 to 15:00 on the first day.
            let hour = Double(time - start) / 3600
            return (11..<14).contains(hour) ? nil : 20 + 5 * sin(hour / 24 * 2 * .pi)
        }
        let cold = columns(count, days: days) { 12 + Double(($0 - start) / 3600 % 6) }
        return [
            HistoryPlot.Line(name: "Kitchen Sensor.Temperature", columns: warm),
            HistoryPlot.Line(name: "Cellar Sensor.Temperature", columns: cold),
        ]
    }

    @Test("fit the width of the terminal", .enabled(if: hasZones), arguments: [44, 80, 200])
    func widths(width: Int) throws {
        var text = ""
        for days in [1, 31] as [Int64] {
            let lines = Self.lines(HistoryPlot.columns(forWidth: width), days: days)
            for lines in [[lines[0]], lines] {
                for style in [
                    HistoryPlot.Style(isUTF8: true, hasColour: false), .init(isUTF8: false, hasColour: false),
                ] {
                    let plot = HistoryPlot(lines, timeZone: "Europe/Berlin", width: width).text(style)
                    for line in plot.split(separator: "\n") {
                        #expect(line.count <= width && line.last != " ", "\(line)")
                        #expect(style.isUTF8 || line.utf8.allSatisfy { $0 < 0x7F })
                    }
                    text += plot + "\n\n"
                }
            }
        }
        try RecordedOutput.expect(text, in: "\(Self.folder)/\(width).txt")
    }

    @Test("colours change nothing else")
    func colours() {
        let lines = Self.lines(HistoryPlot.columns(forWidth: 80))
        let plot = HistoryPlot(lines, timeZone: "UTC", width: 80)
        let plain = plot.text(.init(isUTF8: true, hasColour: false))
        let painted = plot.text(.init(isUTF8: true, hasColour: true))
        #expect(painted.contains("\u{1B}[36m") && painted.contains("\u{1B}[33m") && !plain.contains("\u{1B}"))
        #expect(painted.replacing(#/\u{1B}\[[0-9]*m/#, with: "").utf8.elementsEqual(plain.utf8))
    }

    @Test("no record, one record, the same value again and again, and numbers of every size")
    func extremes() {
        func plot(_ values: [Double]) -> String {
            var columns = HistoryColumns(
                from: UnixTime(seconds: 0), to: UnixTime(seconds: 100), columns: HistoryPlot.columns(forWidth: 60))
            for (index, value) in values.enumerated() {
                columns.add(SeriesRecord(time: UnixTime(seconds: Double(index)), value: .number(value)))
            }
            return HistoryPlot([.init(name: "a\u{1B}[31m\nb", columns: columns)], timeZone: "UTC", width: 60)
                .text(.init(isUTF8: true, hasColour: false))
        }
        #expect(plot([]).hasPrefix("No records.") && plot([]).contains("no records"))
        #expect(plot([5]).contains("1 record") && plot([5, 5, 5]).contains("min 5  avg 5  max 5  3 records"))
        let huge = Double.greatestFiniteMagnitude
        for values in [
            [0], [-1e-9, 1e-9], [-huge, huge], [huge], [1e6, 2.5e6], [1e15, 1e15 + 1], [-273.15, 1e7], [.nan, 1],
        ] {
            let text = plot(values)
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= 60 }, "\(text)")
            #expect(!text.contains("\u{1B}"))
        }
    }

    @Test("100,000 points become columns while they are read")
    func manyPoints() {
        var columns = HistoryColumns(
            from: UnixTime(seconds: 0), to: UnixTime(seconds: 100_000), columns: HistoryPlot.columns(forWidth: 200))
        for second in 0..<100_000 {
            columns.add(SeriesRecord(time: UnixTime(seconds: Double(second)), value: .integer(Int64(second % 1000))))
        }
        #expect(columns.count == 100_000 && columns.columns.count == 380)
        #expect(columns.minimum == 0 && columns.maximum == 999 && columns.mean == 499.5)
    }

    @Test("the picture as SVG: axes, labels that do not overlap, names as text only", .enabled(if: hasZones))
    func svg() throws {
        for days in [1, 2, 7, 31, 400] as [Int64] {
            var lines = Self.lines(HistorySVG.columns, days: days)
            lines[0].name = "<script>alert(\"1\")</script> & more\u{0}"
            let text = HistorySVG(lines, timeZone: "Europe/Berlin").text
            if days == 1 { try RecordedOutput.expect(text, in: "\(Self.folder)/day.svg") }
            #expect(!text.contains("<script") && !text.contains("href") && !text.contains("url("))
            #expect(text.contains("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; more"))
            let labels = text.matches(of: #/<text class="time" x="([0-9.]+)"[^>]*>([^<]+)</#)
            #expect(labels.count >= 3, "\(days)")
            var end = 0.0
            for label in labels {
                let (middle, half) = (Double(label.1) ?? 0, Double(label.2.count) * 7.5 / 2)
                #expect(middle - half > end)
                end = middle + half
            }
            let values = text.matches(of: #/<text class="value" x="[0-9.]+" y="([0-9.]+)"/#).map { Double($0.1) ?? 0 }
            #expect(values.count >= 3 && zip(values, values.dropFirst()).allSatisfy { $0 - $1 >= 14 })
        }
        #expect(HistorySVG([], timeZone: "UTC").text.hasSuffix("</svg>\n"))
    }
}
