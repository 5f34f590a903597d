// SPDX-License-Identifier: Apache-2.0
import RainCore

/// A picture of one or more series as SVG, which needs no other file: axes with labels, and a line for each series. Where several records
/// share a column, a band shows the least and the greatest of them.
public struct HistorySVG: Sendable {
    /// The number of columns that the records of a picture need.
    public static let columns = 800
    private static let (left, right, top, bottom) = (72.0, 24.0, 24.0, 56.0)
    private static let height = 320.0
    private static let lineHeight = 20.0
    /// The width of a character of the labels. That of `sans-serif` is less, so that labels never overlap.
    private static let character = 7.5
    private static let colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]

    private let lines: [HistoryPlot.Line]
    private let calendar: ZonedCalendar

    /// - Parameters:
    ///   - lines: the series, with ``columns`` columns.
    ///   - timeZone: the zone of the times, such as `Europe/Berlin`; UTC if this machine does not know it.
    public init(_ lines: [HistoryPlot.Line], timeZone: String) {
        self.lines = lines
        calendar = ZonedCalendar(named: timeZone) ?? .utc
    }

    /// The document.
    public var text: String {
        let width = Self.left + Double(Self.columns) + Self.right
        let legend = Self.lineHeight * Double(lines.count)
        let height = Self.top + Self.height + Self.bottom + legend
        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.number(width))" height="\(Self.number(height))" \
            viewBox="0 0 \(Self.number(width)) \(Self.number(height))" role="img" font-family="sans-serif" font-size="12">
            """,
            "<title>\(Self.escaped(lines.map(\.name).joined(separator: ", ")))</title>",
            "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>",
        ]
        let bottom = Self.top + Self.height
        if let first = lines.first?.columns {
            let range = Int64(first.start.seconds)..<Int64(first.end.seconds)
            parts += timeAxis(range, bottom)
            let columns = lines.map(\.columns)
            if let minimum = columns.compactMap(\.minimum).min(), let maximum = columns.compactMap(\.maximum).max() {
                let axis = ValueAxis(minimum, maximum, atMost: 7)
                parts += valueAxis(axis)
                for (index, line) in lines.enumerated() { parts += Self.drawn(line.columns, axis, index) }
            } else {
                parts.append(Self.label("No records.", Self.left + Double(Self.columns) / 2, Self.top + 20, "middle"))
            }
        }
        parts.append(
            """
            <path class="axes" d="M\(Self.number(Self.left)) \(Self.number(Self.top))V\(Self.number(bottom))H\
            \(Self.number(Self.left + Double(Self.columns)))" fill="none" stroke="#333333"/>
            """)
        for (index, line) in lines.enumerated() {
            let y = bottom + Self.bottom + Self.lineHeight * Double(index) + 4
            parts.append(
                """
                <rect class="mark" x="\(Self.number(Self.left))" y="\(Self.number(y - 9))" width="12" height="8" fill="\
                \(Self.colours[index % Self.colours.count])"/>
                """)
            parts.append(Self.label(Self.legend(line), Self.left + 20, y, "start", "legend"))
        }
        return parts.joined(separator: "\n") + "\n</svg>\n"
    }

    private static func legend(_ line: HistoryPlot.Line) -> String {
        let columns = line.columns
        let name = String(line.name.onOneLine.prefix(80))
        guard let minimum = columns.minimum, let mean = columns.mean, let maximum = columns.maximum else {
            return "\(name): no records"
        }
        return "\(name): min \(DecimalText.digits(minimum)), avg \(DecimalText.digits(mean)), max "
            + "\(DecimalText.digits(maximum)), \(columns.count) records"
    }

    private func timeAxis(_ range: Range<Int64>, _ bottom: Double) -> [String] {
        let width = Double(Self.columns)
        let axis = TimeAxis(range, calendar, width: width, character: Self.character)
        var parts: [String] = []
        for tick in axis.ticks {
            let x =
                Self.left + Double(tick.time - range.lowerBound) / Double(range.upperBound - range.lowerBound) * width
            parts.append(
                """
                <path class="tick" d="M\(Self.number(x)) \(Self.number(Self.top))V\(Self.number(bottom + 5))" stroke="#e0e0e0"/>
                """)
            parts.append(Self.label(tick.label, x, bottom + 19, "middle", "time"))
        }
        let caption = TimeAxis.caption(range, calendar)
        return parts + [Self.label(caption, Self.left + width / 2, bottom + 37, "middle", "caption")]
    }

    private func valueAxis(_ axis: ValueAxis) -> [String] {
        zip(axis.ticks, axis.labels).flatMap { tick, label in
            let y = Self.y(tick, axis)
            return [
                """
                <path class="tick" d="M\(Self.number(Self.left - 5)) \(Self.number(y))H\
                \(Self.number(Self.left + Double(Self.columns)))" stroke="#e0e0e0"/>
                """, Self.label(label, Self.left - 9, y + 4, "end", "value"),
            ]
        }
    }

    private static func drawn(_ columns: HistoryColumns, _ axis: ValueAxis, _ index: Int) -> [String] {
        let colour = colours[index % colours.count]
        func x(_ column: Int) -> String { number(left + Double(column) + 0.5) }
        return columns.runs.flatMap { run -> [String] in
            var parts: [String] = []
            if run.contains(where: { $0.column.minimum < $0.column.maximum }) {
                let upper = run.map { "\(x($0.index)) \(number(y($0.column.maximum, axis)))" }
                let lower = run.reversed().map { "\(x($0.index)) \(number(y($0.column.minimum, axis)))" }
                parts.append(
                    "<path class=\"band\" d=\"M\((upper + lower).joined(separator: "L"))Z\" fill=\"\(colour)\" fill-opacity=\"0.25\"/>"
                )
            }
            let points = run.map { "\(x($0.index)) \(number(y($0.column.mean, axis)))" }
            // A point alone is a dot, by its round ends.
            let path = points.count == 1 ? "M\(points[0])h0" : "M" + points.joined(separator: "L")
            parts.append(
                """
                <path class="series" d="\(path)" fill="none" stroke="\(colour)" stroke-width="1.5" stroke-linejoin="round" \
                stroke-linecap="round"/>
                """)
            return parts
        }
    }

    private static func y(_ value: Double, _ axis: ValueAxis) -> Double {
        top + (1 - min(max(axis.place(of: value), 0), 1)) * height
    }

    private static func label(
        _ text: String, _ x: Double, _ y: Double, _ anchor: String, _ kind: String = "note"
    ) -> String {
        """
        <text class="\(kind)" x="\(number(x))" y="\(number(y))" text-anchor="\(anchor)" fill="#333333">\(escaped(text))</text>
        """
    }

    private static func number(_ value: Double) -> String {
        let text = DecimalText.fixed(value, 1)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// Returns text for XML, which has no control characters.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.onOneLine.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\u{FFFE}", "\u{FFFF}": break
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
