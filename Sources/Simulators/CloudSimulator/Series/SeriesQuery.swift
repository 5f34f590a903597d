// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import Synchronization

/// The request `GET user/nodes/tsdata`. What Espressif documents as invalid is refused; its error numbers are not public.
struct SeriesQuery: Sendable {
    enum Aggregate: String { case raw, latest, min, max, count, avg, sum }

    var aggregate = Aggregate.raw
    /// Nil for raw records.
    var unit: CalendarUnit?
    var calendar: ZonedCalendar
    /// Seconds since 1970; the end is excluded.
    var range: Range<Int64>
    var differential = false
    var resetsOnNegative = false
    var isDescending = false

    /// The members of the query that a page token does not fix.
    private static let free: Set<String> = ["num_records", "start_id"]
    private static let known: Set<String> = free.union([
        "node_id", "nodeid", "param_name", "type", "aggregate", "aggregation_interval", "num_intervals", "start_time",
        "end_time", "timezone", "week_start", "differential", "reset_on_negative", "desc_order",
    ])
    private static let weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

    /// The rest of the query, which has to be the same for all pages.
    static func fixed(_ request: Request) -> String {
        request.query.filter { !free.contains($0.name) }.map { "\($0.name)=\($0.value)" }.sorted()
            .joined(separator: "&")
    }

    init(_ call: Call, type: String, now: Int64, _ api: CloudAPI) throws(APIError) {
        let request = call.request
        if let name = request.query.first(where: { !Self.known.contains($0.name) })?.name {
            throw .series("\(name.prefix(64)) is not a query parameter")
        }
        if let word = request.query("aggregate") {
            guard let aggregate = Aggregate(rawValue: word) else { throw .series("aggregate is not valid") }
            self.aggregate = aggregate
        }
        let isNumber = type == "int" || type == "float"
        guard isNumber || [.raw, .latest, .count].contains(aggregate) else {
            throw .series("aggregate \(aggregate) is not supported for \(type)")
        }
        if let word = request.query("aggregation_interval") {
            guard let unit = CalendarUnit(rawValue: word) else { throw .series("aggregation_interval is not valid") }
            guard aggregate != .raw else { throw .series("aggregation_interval is not applicable to raw") }
            self.unit = unit
        }
        guard aggregate == .raw || unit != nil else { throw .series("aggregation_interval is missing") }
        if aggregate == .latest, unit == .month || unit == .year {
            throw .series("aggregate latest is not supported for month and year")
        }
        let zone = request.query("timezone") ?? "UTC"
        guard var calendar = ZonedCalendar(named: zone) else { throw .series("timezone is not valid") }
        if let day = request.query("week_start") {
            guard unit == .week else { throw .series("week_start is only for week") }
            guard let number = Self.weekdays.firstIndex(of: day.lowercased()) else {
                throw .series("week_start is not valid")
            }
            calendar.firstWeekday = number
        }
        self.calendar = calendar
        range = try Self.range(request, unit, calendar, now)
        differential = try api.flag("differential", in: call, otherwise: false)
        resetsOnNegative = try api.flag("reset_on_negative", in: call, otherwise: false)
        isDescending = try api.flag("desc_order", in: call, otherwise: false)
        guard isNumber || !differential else { throw .series("differential is only for int and float") }
        guard differential || !resetsOnNegative else { throw .series("reset_on_negative is only for differential") }
    }

    private static func range(
        _ request: Request, _ unit: CalendarUnit?, _ calendar: ZonedCalendar, _ now: Int64
    ) throws(APIError) -> Range<Int64> {
        let start = try time("start_time", in: request)
        let end = try time("end_time", in: request)
        if let text = request.query("num_intervals") {
            guard let unit else { throw .series("num_intervals is not applicable to raw") }
            guard start == nil, end == nil else { throw .series("num_intervals excludes start_time and end_time") }
            guard let count = Int(text), (1...1440).contains(count) else { throw .series("num_intervals is not valid") }
            let range = calendar.adding(-count, unit, to: now)..<now
            guard isShort(range, unit, calendar) else { throw .series("num_intervals is too large") }
            return range
        }
        if unit == nil, start == nil, end == nil { return now - 7 * 86_400..<now }
        guard let start, let end else { throw .series("start_time and end_time are both required") }
        guard unit == .day ? start < end : start <= end else { throw .series("start_time is after end_time") }
        guard isShort(start..<end, unit, calendar) else {
            throw .series("the range is too long for \(unit?.rawValue ?? "raw")")
        }
        return start..<end
    }

    static func time(_ name: String, in request: Request) throws(APIError) -> Int64? {
        guard let text = request.query(name) else { return nil }
        guard let time = Int64(text), (0...253_402_300_799).contains(time) else {
            throw .series("\(name) is not valid")
        }
        return time
    }

    /// The documented maximum lengths.
    private static func isShort(_ range: Range<Int64>, _ unit: CalendarUnit?, _ calendar: ZonedCalendar) -> Bool {
        let length = range.upperBound - range.lowerBound
        return switch unit {
        case .minute?, .hour?: length <= 86_400
        case .day?, nil: length <= 31 * 86_400
        case .week?: length <= 12 * 7 * 86_400
        case .month?: range.upperBound <= calendar.adding(12, .month, to: range.lowerBound)
        case .year?: range.upperBound <= calendar.adding(5, .year, to: range.lowerBound)
        }
    }
}

extension SeriesQuery {
    typealias Record = SeriesTable.Record

    /// Returns the answer's records, from the oldest on.
    func answer(_ records: ArraySlice<Record>) -> ArraySlice<Record> {
        let first = SeriesTable.index(of: range.lowerBound, in: records)
        let end = SeriesTable.index(of: range.upperBound, in: records)
        var selected = records[first..<max(first, end)]
        if differential {
            // The difference belongs to the later record, so the first one counts from the last record before the range.
            let previous = first > records.startIndex ? records[first - 1] : nil
            selected = differences(selected, after: previous)[...]
        }
        guard let unit else { return selected }
        return groups(selected, unit).map { Record(time: $0.start, value: value(of: $0.records)) }[...]
    }

    private func differences(_ records: ArraySlice<Record>, after previous: Record?) -> [Record] {
        var previous = previous?.value
        return records.compactMap { record in
            defer { previous = record.value }
            guard let last = previous else { return nil }
            var result = record
            if let now = record.value.integer, let last = last.integer {
                let difference = now &- last
                result.value = .integer(difference < 0 && resetsOnNegative ? now : difference)
            } else {
                let (now, last) = (record.value.double ?? 0, last.double ?? 0)
                let difference = now - last
                result.value = .number(difference < 0 && resetsOnNegative ? now : difference)
            }
            return result
        }
    }

    private func groups(_ records: ArraySlice<Record>, _ unit: CalendarUnit) -> [(
        start: Int64, records: ArraySlice<Record>
    )] {
        var groups: [(start: Int64, records: ArraySlice<Record>)] = []
        var index = records.startIndex
        while index < records.endIndex {
            let start = calendar.start(of: unit, at: records[index].time)
            // A clock that goes back may put the end of an hour before this record.
            let next = max(calendar.next(unit, after: records[index].time), records[index].time + 1)
            let end = SeriesTable.index(of: next, in: records[index...])
            groups.append((start, records[index..<end]))
            index = end
        }
        return groups
    }

    private func value(of records: ArraySlice<Record>) -> JSONValue {
        if aggregate == .count { return .integer(Int64(records.count)) }
        if aggregate == .latest { return records.last?.value ?? .null }
        let areIntegers = records.allSatisfy { $0.value.integer != nil }
        let numbers = records.map { $0.value.double ?? 0 }
        let result: Double =
            switch aggregate {
            case .min: numbers.min() ?? 0
            case .max: numbers.max() ?? 0
            case .sum: numbers.reduce(0, +)
            default: numbers.reduce(0, +) / Double(max(1, numbers.count))
            }
        let isWhole = areIntegers && aggregate != .avg && abs(result) < 9_007_199_254_740_992
        return isWhole ? .integer(Int64(result)) : .number(result)
    }
}

extension APIError {
    /// A refusal of a question about a series. The cloud's own numbers for these are not public.
    static func series(_ description: String) -> APIError { APIError(100021, description) }
}

/// A page token: the query it belongs to, the next record, and how often it may still be used.
struct SeriesToken: Sendable {
    static let uses = 5
    static let lifetime: Int64 = 3_600_000

    var user: String
    var query: String
    /// The time of the next record, in seconds since 1970.
    var position: Int64
    /// The range that was meant by the first page.
    var range: Range<Int64>
    var usesLeft = uses
}

/// The series, and the tokens of their pages.
struct SeriesTokens: Sendable {
    private var table = ExpiringTable<SeriesToken>(maximum: 1000)

    mutating func issue(_ token: SeriesToken, at now: Int64) -> String {
        let name = opaqueToken()
        table.insert(token, key: name, until: now + SeriesToken.lifetime, at: now)
        return name
    }

    /// Counts one use. Returns nil for a token that is unknown, too old or used up.
    mutating func use(_ name: String, at now: Int64) -> SeriesToken? {
        guard let token = table.value(name, at: now), token.usesLeft > 0 else { return nil }
        table.update(name) { $0.usesLeft -= 1 }
        return token
    }
}
