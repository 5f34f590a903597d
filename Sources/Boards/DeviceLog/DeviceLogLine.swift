// SPDX-License-Identifier: Apache-2.0
import RainIO

/// One line of what a board prints: a log line of ESP-IDF's, or any other text.
///
/// ESP-IDF writes `I (1234) tag: text`, where its configuration may leave out the time, the tag or both (`esp_log_format.h`,
/// `log_format_text.c`); what an application prints itself has no level.
public struct DeviceLogLine: Sendable, Equatable {
    /// How much a line matters, by ESP-IDF's letter for it.
    public enum Level: String, Sendable {
        /// By the letter that stands at the line's beginning.
        case error = "E", warning = "W", info = "I", debug = "D", verbose = "V"
    }

    /// Nil where the line is none of ESP-IDF's log.
    public var level: Level?
    /// The part of the firmware that speaks, such as `app_wifi`; empty where the line names none.
    public var tag: String
    /// What it says, without the spaces at its end.
    public var text: String

    /// - Parameter line: without its end. Terminal escapes are taken off, and bytes that are no UTF-8 are replaced.
    public init(_ line: [UInt8]) {
        var rest = removingTerminalEscapes(line)[...]
        level = Self.level(&rest)
        if level != nil { Self.skipTime(&rest) }
        tag = Self.tag(&rest)
        while rest.last == UInt8(ascii: " ") { rest.removeLast() }
        text = String(decoding: rest, as: UTF8.self)
    }

    private static func level(_ rest: inout ArraySlice<UInt8>) -> Level? {
        guard let first = rest.first, rest.dropFirst().first == UInt8(ascii: " "),
            let level = Level(rawValue: String(UnicodeScalar(first)))
        else { return nil }
        rest = rest.dropFirst(2)
        return level
    }

    /// `(1234) `, `(12:34:56.789) `, or nothing.
    private static func skipTime(_ rest: inout ArraySlice<UInt8>) {
        guard rest.first == UInt8(ascii: "("), let end = rest.prefix(40).firstIndex(of: UInt8(ascii: ")")) else {
            return
        }
        rest = rest[(end + 1)...].drop { $0 == UInt8(ascii: " ") }
    }

    private static func tag(_ rest: inout ArraySlice<UInt8>) -> String {
        guard let colon = rest.prefix(64).firstIndex(of: UInt8(ascii: ":")),
            rest[colon...].dropFirst().first == UInt8(ascii: " "), rest.first != UInt8(ascii: "\t"),
            colon > rest.startIndex
        else { return "" }
        defer { rest = rest[(colon + 2)...] }
        return String(decoding: rest[..<colon], as: UTF8.self)
    }
}
