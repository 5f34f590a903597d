// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import Synchronization

/// `user/nodes/tsdata` and `user/nodes/simple_tsdata`: the time series of a user's node.
extension CloudAPI {
    private static let maximumPage = 200
    private static let maximumAggregatesPage = 100

    /// `GET user/nodes/tsdata`.
    func seriesData(_ call: Call) throws(APIError) -> Response {
        let (node, name) = try seriesSource(call)
        let type = call.request.query("type") ?? "float"
        guard SeriesMessage.types.contains(type), type != "object", type != "array" else {
            throw .series("type is not valid")
        }
        var query = try SeriesQuery(call, type: type, now: now / 1000, self)
        let size = try pageSize(call, maximum: Self.maximumPage)
        let token = try seriesToken(call)
        if let token { query.range = token.range }
        let key = SeriesTable.Key(node: node.id, parameter: name, kind: .full, type: type)
        let seconds = now / 1000
        let records = series.withLock { $0.records(key, at: seconds) }
        var answer = query.answer(records)
        if query.isDescending { answer = Array(answer.reversed())[...] }
        let page = try seriesPage(call, answer, query.range, from: token, size: size, isDescending: query.isDescending)
        var members = page.members(node: node.id, parameter: name)
        if let unit = query.unit {
            members.append(.init("aggregate", .string(query.aggregate.rawValue)))
            members.append(.init("interval", .string(unit.rawValue)))
        }
        if let day = call.request.query("week_start") { members.append(.init("week_start", .string(day))) }
        if let zone = call.request.query("timezone") { members.append(.init("timezone", .string(zone))) }
        if let next = page.next { members.append(.init("next_id", .string(next))) }
        return Response(["ts_data": [.object(members)]])
    }

    /// `GET user/nodes/simple_tsdata`: raw records, or with `query_type=aggregates` the results for whole windows of time. As the cloud does,
    /// it ignores other members of the query.
    func simpleSeriesData(_ call: Call) throws(APIError) -> Response {
        let (node, name) = try seriesSource(call)
        // Android's application writes data_type.
        guard let type = call.request.query("type", "data_type"), SeriesMessage.types.contains(type) else {
            throw .series("type is not valid")
        }
        let key = SeriesTable.Key(node: node.id, parameter: name, kind: .simple, type: type)
        let seconds = now / 1000
        if let kind = call.request.query("query_type") {
            guard kind == "aggregates", options.hasSimpleAggregates else { throw .series("query_type is not valid") }
            guard type == "int" || type == "float" else { throw .series("aggregates are only for int and float") }
            let records = series.withLock { $0.records(key, at: seconds) }
            return try simpleAggregates(call, node, name, records)
        }
        guard let start = try SeriesQuery.time("start_time", in: call.request),
            let end = try SeriesQuery.time("end_time", in: call.request)
        else { throw .series("start_time and end_time are required") }
        guard start <= end else { throw .series("start_time is after end_time") }
        let size = try pageSize(call, maximum: Self.maximumPage)
        let token = try seriesToken(call)
        let records = series.withLock { $0.records(key, at: seconds) }
        let first = SeriesTable.index(of: start, in: records)
        let last = SeriesTable.index(of: end, in: records)
        let page = try seriesPage(call, records[first..<last], start..<end, from: token, size: size)
        var members = page.members(node: node.id, parameter: name)
        if let next = page.next { members.append(.init("next_id", .string(next))) }
        return Response(["ts_data": [.object(members)]])
    }

    private func seriesSource(_ call: Call) throws(APIError) -> (node: Node, name: String) {
        let node = try namedNode(call)
        guard let name = call.request.query("param_name") else { throw .series("param_name is missing") }
        guard name.contains("."), !name.contains(",") else { throw .series("param_name is not valid") }
        return (node, name)
    }

    private func pageSize(_ call: Call, maximum: Int) throws(APIError) -> Int {
        guard let text = call.request.query("num_records") else { return maximum }
        guard let count = Int(text), (1...maximum).contains(count) else { throw .series("num_records is not valid") }
        return count
    }

    private func seriesToken(_ call: Call) throws(APIError) -> SeriesToken? {
        guard let name = call.request.query("start_id") else { return nil }
        let (now, user) = (now, try call.caller().id)
        guard let token = seriesTokens.withLock({ $0.use(name, at: now) }), token.user == user,
            token.query == SeriesQuery.fixed(call.request)
        else { throw .series("start_id is not valid, or has expired") }
        return token
    }

    private struct SeriesPage {
        var records: ArraySlice<SeriesTable.Record>
        var next: String?

        func members(node: String, parameter: String) -> [JSONValue.Member] {
            let values = records.map { record -> JSONValue in ["ts": .integer(record.time), "val": record.value] }
            let entry: JSONValue = [
                "param_name": .string(parameter), "num_records": .integer(Int64(values.count)),
                "values": .array(values),
            ]
            return [.init("node_id", .string(node)), .init("params", [entry])]
        }
    }

    private func seriesPage(
        _ call: Call, _ answer: ArraySlice<SeriesTable.Record>, _ range: Range<Int64>, from token: SeriesToken?,
        size: Int, isDescending: Bool = false
    ) throws(APIError) -> SeriesPage {
        var rest = answer
        if let position = token?.position {
            rest =
                isDescending
                ? answer.drop { $0.time > position } : answer[SeriesTable.index(of: position, in: answer)...]
        }
        var page = SeriesPage(records: rest.prefix(size))
        if let next = rest.dropFirst(size).first {
            let token = SeriesToken(
                user: try call.caller().id, query: SeriesQuery.fixed(call.request), position: next.time, range: range)
            let now = now
            page.next = seriesTokens.withLock { $0.issue(token, at: now) }
        }
        return page
    }

    // MARK: Aggregates of simple series

    private enum Window: String, CaseIterable {
        case hourly, daily, weekly, monthly

        var unit: CalendarUnit {
            switch self {
            case .hourly: .hour
            case .daily: .day
            case .weekly: .week
            case .monthly: .month
            }
        }
    }

    private func simpleAggregates(
        _ call: Call, _ node: Node, _ name: String, _ records: ArraySlice<SeriesTable.Record>
    ) throws(APIError) -> Response {
        let request = call.request
        let zone = node.params?["Time"]?["TZ"]?.string ?? ""
        let calendar = ZonedCalendar(named: zone) ?? .utc
        var window: Window?
        if let word = request.query("window") {
            window = Window(rawValue: word)
            guard window != nil else { throw .series("window is not valid") }
        }
        let (date, first, last) = (request.query("date"), request.query("start_date"), request.query("end_date"))
        guard (first == nil) == (last == nil), date == nil || first == nil else {
            throw .series("give date, or start_date and end_date")
        }
        if first != nil, window == nil { throw .series("window is missing") }
        let now = now / 1000
        var buckets: [(window: Window, start: Int64)] = []
        if let from = date ?? first, let to = date ?? last {
            let shown = window ?? .daily
            let start = try Self.moment(from, shown, calendar)
            let end = try Self.moment(to, shown, calendar)
            guard start <= end else { throw .series("start_date is after end_date") }
            // A date stands for the whole day, also with hours.
            let isDay = shown == .hourly && !to.contains("T")
            let limit = isDay ? calendar.next(.day, after: end) : end + 1
            var next = calendar.start(of: shown.unit, at: start)
            while next < limit, buckets.count <= 20_000 {
                if next >= start || shown != .hourly { buckets.append((shown, next)) }
                next = calendar.next(shown.unit, after: next)
            }
        } else {
            for shown in window.map({ [$0] }) ?? Window.allCases {
                buckets.append((shown, calendar.start(of: shown.unit, at: now)))
            }
        }
        let entries = buckets.compactMap { bucket in
            Self.entry(bucket.window.rawValue, bucket.window.unit, bucket.start, records, calendar, now)
        }
        let size = try pageSize(call, maximum: Self.maximumAggregatesPage)
        // The cloud's tokens have this form: daily#2026-07-21.
        func cursor(_ entry: JSONValue) -> String {
            "\(entry["window_type"]?.string ?? "")#\(entry["date"]?.string ?? "")"
        }
        let start = request.query("start_id")
        let rest = entries.drop { entry in start.map { cursor(entry) != $0 } ?? false }
        if start != nil, rest.isEmpty { throw .series("start_id is not valid, or has expired") }
        var info: [JSONValue.Member] = [.init("parameter", .string(name))]
        if let window { info.append(.init("window_type", .string(window.rawValue))) }
        for member in ["date", "start_date", "end_date"] {
            if let text = request.query(member) { info.append(.init(member, .string(text))) }
        }
        var members: [JSONValue.Member] = [
            .init("node_id", .string(node.id)), .init("aggregates", .array(Array(rest.prefix(size)))),
            .init("query_info", .object(info)),
        ]
        if let next = rest.dropFirst(size).first { members.append(.init("next_id", .string(cursor(next)))) }
        return Response(["ts_data": [.object(members)]])
    }

    /// Reads `YYYY-MM-DD`, or `YYYY-MM-DDTHH` for hours.
    private static func moment(
        _ text: String, _ window: Window, _ calendar: ZonedCalendar
    ) throws(APIError) -> Int64 {
        let hasHour = text.utf8.count == 13
        let padded = text.utf8.count == 10 ? "\(text)T00:00:00" : "\(text):00:00"
        guard let time = CivilTime(padded), !hasHour || window == .hourly else { throw .series("a date is not valid") }
        return calendar.time(of: time)
    }

    /// Returns nil for a window without records.
    private static func entry(
        _ name: String, _ unit: CalendarUnit, _ start: Int64, _ records: ArraySlice<SeriesTable.Record>,
        _ calendar: ZonedCalendar, _ now: Int64
    ) -> JSONValue? {
        let next = calendar.next(unit, after: start)
        let selected = records[
            SeriesTable.index(of: start, in: records)..<SeriesTable.index(of: next, in: records)]
        let numbers = selected.compactMap { $0.value.double }
        guard let first = numbers.first, let last = numbers.last else { return nil }
        let sum = numbers.reduce(0, +)
        let text = Array(calendar.local(start).text(separator: "T").utf8)
        let date = String(decoding: text.prefix(unit == .hour ? 13 : 10), as: UTF8.self)
        return [
            "date": .string(date), "window_type": .string(name), "count": .integer(Int64(numbers.count)),
            "sum": .number(sum), "min": .number(numbers.min() ?? 0), "max": .number(numbers.max() ?? 0),
            "average": .number(sum / Double(numbers.count)), "first_value": .number(first), "last_value": .number(last),
            "window_start": .integer(start), "window_end": .integer(next - 1), "cumulative": false,
            "status": next <= now ? "completed" : "in_progress", "tz": .string(calendar.name),
        ]
    }
}
