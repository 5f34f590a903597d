// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

/// A picture of one or more series for a terminal: a plot, round values at its left, round times below it, and a line about each series.
///
/// It is a value without input and output. The records are in ``HistoryColumns``.
public struct HistoryPlot: Sendable {
    /// The number of columns beside the plot, for its values.
    private static let margin = 10
    /// The narrowest plot.
    private static let minimum = 20
    /// The rows of the plot. A row has four dots of braille above each other.
    static let rows = 12

    /// The characters for the picture.
    public struct Style: Sendable, Equatable {
        /// Whether the terminal shows UTF-8. Otherwise the picture has ASCII characters only.
        public var isUTF8: Bool
        /// Whether the lines have colours (ECMA-48). Each line also has a mark of its own in plain text.
        public var hasColour: Bool

        public init(isUTF8: Bool, hasColour: Bool) {
            self.isUTF8 = isUTF8
            self.hasColour = hasColour
        }
    }

    /// A series, and the line about it.
    public struct Line: Sendable {
        /// The name, such as `Kitchen Sensor.Temperature`.
        public var name: String
        /// The records.
        public var columns: HistoryColumns

        public init(name: String, columns: HistoryColumns) {
            self.name = name
            self.columns = columns
        }
    }

    private let lines: [Line]
    private let calendar: ZonedCalendar
    private let width: Int

    /// Returns the number of columns that the records of a picture need.
    /// - Parameter width: the width of the terminal in columns.
    public static func columns(forWidth width: Int) -> Int { 2 * plotWidth(width) }

    private static func plotWidth(_ width: Int) -> Int { max(minimum, min(width, 1000) - margin) }

    /// - Parameters:
    ///   - lines: the series. Their columns are as ``columns(forWidth:)`` says.
    ///   - timeZone: the zone of the times, such as `Europe/Berlin`; UTC if this machine does not know it.
    ///   - width: the width of the terminal in columns.
    public init(_ lines: [Line], timeZone: String, width: Int) {
        self.lines = lines
        calendar = ZonedCalendar(named: timeZone) ?? .utc
        self.width = Self.plotWidth(width)
    }

    private static let colours = [36, 33, 35, 32, 34, 31]
    private static let marks: [Character] = ["*", "+", "o", "x", "#", "@"]

    /// Returns the picture. No line is wider than the terminal, and none has blanks at its end.
    public func text(_ style: Style) -> String {
        let columns = lines.map(\.columns)
        guard let first = columns.first, let minimum = columns.compactMap(\.minimum).min(),
            let maximum = columns.compactMap(\.maximum).max()
        else { return (["No records."] + legend(style)).joined(separator: "\n") }
        let axis = ValueAxis(minimum, maximum, atMost: 5)
        let range = Int64(first.start.seconds)..<Int64(first.end.seconds)
        var canvas = Canvas(columns: width, rows: Self.rows)
        for (index, line) in lines.enumerated() { draw(line.columns, axis, index, on: &canvas) }
        var labels = [Int: String](minimumCapacity: 8)
        for (tick, label) in zip(axis.ticks, axis.labels) {
            let dot = Self.dot(of: tick, axis, height: Self.rows * 4)
            labels[dot / 4] = label
        }
        var text: [String] = []
        for row in 0..<Self.rows {
            let label = labels[row] ?? ""
            let edge = style.isUTF8 ? (label.isEmpty ? "│" : "┤") : "|"
            let cells = canvas.row(row, style)
            text.append(label.padded(toLeft: Self.margin - 2) + " " + edge + cells)
        }
        text += timeLines(range, style) + legend(style)
        return text.map(\.withoutEnd).joined(separator: "\n")
    }

    private func draw(_ columns: HistoryColumns, _ axis: ValueAxis, _ series: Int, on canvas: inout Canvas) {
        let height = Self.rows * 4
        for run in columns.runs {
            var last: (x: Int, y: Int)?
            for (x, column) in run {
                func dot(_ value: Double) -> Int { Self.dot(of: value, axis, height: height) }
                if let last { canvas.line(from: last, to: (x, dot(column.first)), series) }
                canvas.line(from: (x, dot(column.minimum)), to: (x, dot(column.maximum)), series)
                last = (x, dot(column.last))
            }
        }
    }

    /// Returns the row of dots, from the top.
    private static func dot(of value: Double, _ axis: ValueAxis, height: Int) -> Int {
        let place = min(max(axis.place(of: value), 0), 1)
        return min(height - 1, Int(((1 - place) * Double(height - 1)).rounded()))
    }

    private func timeLines(_ range: Range<Int64>, _ style: Style) -> [String] {
        let axis = TimeAxis(range, calendar, width: Double(width), character: 1)
        var edge = [Character](repeating: style.isUTF8 ? "─" : "-", count: width)
        var labels = [Character](repeating: " ", count: width + Self.margin)
        var free = 0
        for tick in axis.ticks {
            let place = Int(
                Double(tick.time - range.lowerBound) / Double(range.upperBound - range.lowerBound) * Double(width))
            let label = Array(tick.label)
            let start = min(max(0, place + Self.margin - label.count / 2), labels.count - label.count)
            guard start >= free, edge.indices.contains(place) else { continue }
            edge[place] = style.isUTF8 ? "┬" : "+"
            labels.replaceSubrange(start..<start + label.count, with: label)
            free = start + label.count + 1
        }
        let corner = String(repeating: " ", count: Self.margin - 1) + (style.isUTF8 ? "└" : "+")
        let caption = TimeAxis.caption(range, calendar, width: width + Self.margin)
        return [corner + String(edge), String(labels), caption]
    }

    private func legend(_ style: Style) -> [String] {
        lines.enumerated().flatMap { index, line -> [String] in
            let mark = style.isUTF8 ? "●" : String(Self.marks[index % Self.marks.count])
            let painted =
                style.hasColour ? "\u{1B}[\(Self.colours[index % Self.colours.count])m\(mark)\u{1B}[0m" : mark
            let columns = line.columns
            var numbers = ["no records"]
            if let minimum = columns.minimum, let mean = columns.mean, let maximum = columns.maximum {
                numbers = [
                    "min \(DecimalText.digits(minimum))", "avg \(DecimalText.digits(mean))",
                    "max \(DecimalText.digits(maximum))", columns.count == 1 ? "1 record" : "\(columns.count) records",
                ]
            }
            // Lines that do not fit are divided between the numbers.
            let room = width + Self.margin - 2
            var result = [String(line.name.onOneLine.prefix(room))]
            for number in numbers {
                let longer = "\(result[result.count - 1])  \(number)"
                if longer.count <= room { result[result.count - 1] = longer } else { result.append(number) }
            }
            return result.enumerated().map { $0 == 0 ? "\(painted) \($1)" : "  \($1)" }
        }
    }

    /// The dots of a plot: two beside and four above each other in each character.
    private struct Canvas {
        let columns: Int
        let rows: Int
        private var dots: [UInt8]
        /// The series that has drawn in a character last.
        private var owner: [Int]

        init(columns: Int, rows: Int) {
            (self.columns, self.rows) = (columns, rows)
            dots = [UInt8](repeating: 0, count: columns * rows)
            owner = [Int](repeating: 0, count: columns * rows)
        }

        private mutating func set(_ x: Int, _ y: Int, _ series: Int) {
            guard (0..<columns * 2).contains(x), (0..<rows * 4).contains(y) else { return }
            let cell = y / 4 * columns + x / 2
            // Unicode counts the dots of the first three rows down the left side, then down the right side; the fourth row came later.
            let bits: [[UInt8]] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]]
            dots[cell] |= bits[x % 2][y % 4]
            owner[cell] = series
        }

        mutating func line(from start: (x: Int, y: Int), to end: (x: Int, y: Int), _ series: Int) {
            let count = max(abs(end.x - start.x), abs(end.y - start.y))
            guard count > 0 else { return set(start.x, start.y, series) }
            for step in 0...count {
                // Rounded to the nearest dot.
                let x = start.x + ((end.x - start.x) * step * 2 + count) / (count * 2)
                let y = start.y + Int((Double((end.y - start.y) * step) / Double(count)).rounded())
                set(x, y, series)
            }
        }

        func row(_ row: Int, _ style: Style) -> String {
            var text = ""
            var colour = 0
            for column in 0..<columns {
                let (dots, series) = (dots[row * columns + column], owner[row * columns + column])
                let wanted = dots == 0 || !style.hasColour ? 0 : HistoryPlot.colours[series % HistoryPlot.colours.count]
                if wanted != colour {
                    text += wanted == 0 ? "\u{1B}[0m" : "\u{1B}[\(wanted)m"
                    colour = wanted
                }
                if dots == 0 {
                    text += " "
                } else if style.isUTF8 {
                    text.unicodeScalars.append(Unicode.Scalar(0x2800 + UInt32(dots)) ?? " ")
                } else {
                    text.append(HistoryPlot.marks[series % HistoryPlot.marks.count])
                }
            }
            return colour == 0 ? text : text + "\u{1B}[0m"
        }
    }
}

extension String {
    fileprivate func padded(toLeft width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }

    fileprivate var withoutEnd: String {
        var text = self
        while text.hasSuffix(" ") { text.removeLast() }
        return text
    }
}
