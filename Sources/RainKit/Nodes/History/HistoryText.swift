// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import RainMaker

/// The records of a series as lines of text, for other programs and for people.
public struct HistoryText: Sendable {
    private let calendar: ZonedCalendar

    /// - Parameter timeZone: the zone of the times, such as `Europe/Berlin`; UTC if this machine does not know it.
    public init(timeZone: String) { calendar = ZonedCalendar(named: timeZone) ?? .utc }

    /// Returns a moment by the zone's clocks and their distance from UTC, such as `2026-03-29T03:00:00+02:00` (RFC 3339).
    public func time(_ time: UnixTime) -> String {
        let seconds = Int64(min(max(time.seconds, 0), 253_402_300_799))
        let offset = calendar.offset(at: seconds)
        guard offset != 0 || calendar.name != "UTC" else { return calendar.local(seconds).text(separator: "T") + "Z" }
        let minutes = abs(offset) / 60
        let distance = [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
        return calendar.local(seconds).text(separator: "T") + (offset < 0 ? "-" : "+") + distance
    }

    /// Reads a moment: `2026-03-29`, `2026-03-29T14:00`, also with seconds, with a blank instead of the `T`, and with `Z` or a distance from
    /// UTC behind it. Without these it is by the zone's clocks. Seconds since 1970 begin with `@`.
    ///
    /// Returns nil for any other text, and for a day that does not exist.
    public func moment(_ text: String) -> UnixTime? {
        if text.hasPrefix("@") {
            return Int64(text.dropFirst()).flatMap {
                (0...253_402_300_799).contains($0) ? UnixTime(seconds: Double($0)) : nil
            }
        }
        var rest = Array(text.utf8)
        var offset: Int64?
        if let last = rest.last, last == UInt8(ascii: "Z") || last == UInt8(ascii: "z") {
            rest.removeLast()
            offset = 0
        } else if rest.count > 16,
            let sign = rest[13...].lastIndex(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") })
        {
            var digits = Array(rest[(sign + 1)...])
            if digits.count == 5, digits[2] == UInt8(ascii: ":") { digits.remove(at: 2) }
            guard digits.count == 4, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            let numbers = digits.map { Int64($0 - 0x30) }
            let (hours, minutes) = (numbers[0] * 10 + numbers[1], numbers[2] * 10 + numbers[3])
            guard hours < 24, minutes < 60 else { return nil }
            offset = (hours * 60 + minutes) * (rest[sign] == UInt8(ascii: "-") ? -60 : 60)
            rest = Array(rest[..<sign])
        }
        let padding = [10: "T00:00:00", 16: ":00", 19: ""][rest.count]
        guard let padding, offset == nil || rest.count > 10,
            let local = CivilTime(String(decoding: rest, as: UTF8.self) + padding), local.year <= 9999,
            case let seconds = local.secondsSince1970, CivilTime(secondsSince1970: seconds) == local
        else { return nil }
        return UnixTime(seconds: Double(offset.map { Int64(seconds) - $0 } ?? calendar.time(of: local)))
    }

    /// The first line of a table of comma-separated values (RFC 4180).
    public static let csvHeader = "time,node_id,parameter,value"

    /// Returns a line of comma-separated values, without its end.
    public func csv(_ record: SeriesRecord, of series: HistorySeries) -> String {
        csv(record, node: series.node, path: series.path)
    }

    func csv(_ record: SeriesRecord, node: NodeID, path: ParameterPath) -> String {
        let value = record.value.string ?? Self.json(record.value)
        var line = time(record.time)
        for text in [node.rawValue, path.description, value] {
            line += ","
            line += Self.field(text)
        }
        return line
    }

    private static func field(_ text: String) -> String {
        let isSpecial = { (byte: UInt8) in byte == 0x22 || byte == 0x2C || byte == 0x0A || byte == 0x0D }
        guard text.utf8.contains(where: isSpecial) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }

    private static func json(_ value: JSONValue) -> String { String(decoding: value.serialized(), as: UTF8.self) }

    /// Returns a line of InfluxDB's line protocol, without its end: the device is the measurement, the parameter is the field, and the node's
    /// id and name are tags. An aggregate is a tag too. The time is in nanoseconds.
    public static func influx(_ record: SeriesRecord, of series: HistorySeries) -> String {
        influx(
            record, node: series.node, name: series.nodeName, path: series.path, aggregate: series.aggregate,
            isFloat: series.dataType == "float" || series.aggregate == .avg)
    }

    /// - Parameter isFloat: whether all numbers of the field have fractions. A field of InfluxDB has one type.
    static func influx(
        _ record: SeriesRecord, node: NodeID, name: String, path: ParameterPath, aggregate: SeriesAggregate,
        isFloat: Bool
    ) -> String {
        var head = escaped(path.component, ", ")
        // Sorted by their names, which InfluxDB stores faster.
        var tags = [("node", node.rawValue), ("node_name", name)]
        if aggregate != .raw { tags.insert(("aggregate", aggregate.rawValue), at: 0) }
        for (key, value) in tags where !value.isEmpty { head += ",\(key)=\(escaped(value, ",= "))" }
        let value: String
        switch record.value {
        case .integer(let number) where aggregate == .count || !isFloat: value = "\(number)i"
        case .bool(let flag): value = flag ? "true" : "false"
        case .string(let text): value = quoted(text)
        case .null, .array, .object: value = quoted(json(record.value))
        default: value = json(record.value)
        }
        return "\(head) \(escaped(path.parameter, ",= "))=\(value) \(Int64(record.time.seconds))000000000"
    }

    /// A name has no line end there, and no backslash before a character that is escaped.
    private static func escaped(_ text: String, _ special: String) -> String {
        var result = ""
        for character in text.withoutControls {
            if special.contains(character) { result.append("\\") }
            result.append(character)
        }
        while result.hasSuffix("\\") { result.removeLast() }
        return result.isEmpty ? "_" : result
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
