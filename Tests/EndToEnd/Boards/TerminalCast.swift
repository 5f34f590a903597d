// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// Screens one after the other, as asciinema plays them (asciicast v2: docs.asciinema.org/manual/asciicast/v2).
///
/// Each screen is shown long enough to be read; the recorded times differ from run to run.
struct TerminalCast {
    let columns: Int
    let rows: Int
    let title: String
    private var screens: [String] = []

    init(columns: Int, rows: Int, title: String) { (self.columns, self.rows, self.title) = (columns, rows, title) }

    /// - Parameter screen: lines, with escape sequences for their colours.
    mutating func show(_ screen: String) { screens.append(screen) }

    /// One document a line: a head, and what is drawn at which second.
    var text: String {
        let pause = 2
        let head: JSONValue = .object([
            .init("version", 2), .init("width", .integer(Int64(columns))), .init("height", .integer(Int64(rows))),
            .init("title", .string(title)),
        ])
        let drawn = screens.enumerated().map { index, screen -> JSONValue in
            let lines = screen.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
            return .array([.integer(Int64(index * pause)), "o", .string("\u{1B}[2J\u{1B}[H" + lines)])
        }
        let end: JSONValue = .array([.integer(Int64((screens.count + 2) * pause)), "o", ""])
        return ([head] + drawn + [end]).map { String(decoding: $0.serialized(), as: UTF8.self) + "\n" }.joined()
    }
}
