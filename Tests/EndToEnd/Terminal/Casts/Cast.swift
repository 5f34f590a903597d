// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport

/// A recording of a terminal, as asciinema plays it (asciicast v2: docs.asciinema.org/manual/asciicast/v2).
struct Cast {
    var columns: Int
    var rows: Int
    var title: String
    /// What the terminal received, with the milliseconds since the start.
    var output: [(milliseconds: Int, text: String)] = []

    /// One document a line: a head, and what is drawn at which second.
    var text: String {
        let head: JSONValue = .object([
            .init("version", 2), .init("width", .integer(Int64(columns))), .init("height", .integer(Int64(rows))),
            .init("title", .string(title)),
        ])
        let drawn = output.map { "[\(Self.seconds($0.milliseconds)),\"o\",\(Self.line(.string($0.text)))]" }
        return ([Self.line(head)] + drawn).map { $0 + "\n" }.joined()
    }

    /// The text of a cast's file.
    static func output(of text: String) throws -> String {
        try text.split(separator: "\n").dropFirst()
            .map { try JSONValue(parsing: Array($0.utf8)).array?.last?.string ?? "" }.joined()
    }

    /// The lines that stay on the terminal, without colours and without what is different in each run.
    static func lines(_ output: String) -> [String] {
        output.replacing("\r\n", with: "\n").split(separator: "\n")
            // What was drawn before a line was erased.
            .map { String($0.split(separator: "\r\u{1B}[2K", omittingEmptySubsequences: false).last ?? "") }
            .map {
                $0.replacing(#/\x1B\[[0-9;]*[A-Za-z]/#, with: "").replacing(#/\d+\.\d\d? s\b/#, with: "0.4 s")
                    .replacing(#/127\.0\.0\.1:\d{4,5}/#, with: "127.0.0.1:443")
                    .replacing(#/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/#, with: "UUID")
                    // The ids of schedules.
                    .replacing(#/^[0-9A-F]{4} /#, with: "0000 ")
            }
            // How often the board is seen trying, and what Ctrl-C interrupts, depends on the moment.
            .filter { !$0.isEmpty && !$0.hasPrefix("· ") && !$0.hasPrefix("^C") }
    }

    private static func line(_ value: JSONValue) -> String { String(decoding: value.serialized(), as: UTF8.self) }

    private static func seconds(_ milliseconds: Int) -> String {
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}
