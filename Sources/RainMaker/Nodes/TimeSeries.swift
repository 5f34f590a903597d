// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// The kind of time series that the cloud keeps of a parameter.
public enum SeriesKind: String, Sendable, Hashable {
    /// The firmware gives the parameter `PROP_FLAG_TIME_SERIES`. The cloud has records and aggregates of it.
    case full
    /// The firmware gives the parameter `PROP_FLAG_SIMPLE_TIME_SERIES`. The cloud has records of it; newer backends also have aggregates.
    case simple
}

/// A unit of the calendar into which records are grouped.
public enum SeriesInterval: String, Sendable, Hashable, CaseIterable {
    /// A unit.
    case minute, hour, day, week, month, year
}

/// The result for each group of records.
public enum SeriesAggregate: String, Sendable, Hashable, CaseIterable {
    /// The records themselves, without groups.
    case raw
    /// The last value.
    case latest
    /// The least number.
    case min
    /// The greatest number.
    case max
    /// The number of records.
    case count
    /// The mean of the numbers.
    case avg
    /// The sum of the numbers. Needs a newer backend.
    case sum

    /// Whether it needs numbers.
    public var needsNumbers: Bool { [.min, .max, .avg, .sum].contains(self) }
}

/// A value that a node reported, and when it did. For an aggregate, the time is the start of the group.
public struct SeriesRecord: Sendable, Equatable {
    /// Whole seconds.
    public var time: UnixTime
    /// A number, a text or a boolean value; in a simple series also an object or an array.
    public var value: JSONValue

    public init(time: UnixTime, value: JSONValue) {
        self.time = time
        self.value = value
    }
}

/// One request for a part of a time series.
///
/// The cloud limits the range: 31 days of records, a day of minutes or hours, 31 days, 12 weeks, 12 months, or 5 years.
public struct SeriesRequest: Sendable, Equatable {
    /// The node.
    public var node: NodeID
    /// The parameter.
    public var parameter: ParameterPath
    /// The kind of the series.
    public var kind: SeriesKind
    /// The type of the values, as the node's configuration names it.
    public var dataType: String
    /// The first second.
    public var start: UnixTime
    /// The end of the range, which is excluded.
    public var end: UnixTime
    /// The result for each group. Must be `raw` for a simple series.
    public var aggregate = SeriesAggregate.raw
    /// The groups; nil for raw records.
    public var interval: SeriesInterval?
    /// The time zone of the groups, such as `Europe/Berlin`.
    public var timeZone = "UTC"
    /// The first day of a week in English, such as `Monday`.
    public var weekStart = "Monday"
    /// Whether the differences between values are meant, as for a meter.
    public var isDifferential = false
    /// Whether a difference below zero means that the meter has started again at zero.
    public var resetsOnNegative = false

    public init(
        node: NodeID, parameter: ParameterPath, kind: SeriesKind, dataType: String, start: UnixTime, end: UnixTime
    ) {
        self.node = node
        self.parameter = parameter
        self.kind = kind
        self.dataType = dataType
        self.start = start
        self.end = end
    }
}

/// A page of the answer to a ``SeriesRequest``.
public struct SeriesPage: Sendable, Equatable {
    /// The records in the order of the cloud, which is by time.
    public var records: [SeriesRecord]
    /// The token of the next page; nil for the last page. It expires after a few uses, or an hour.
    public var next: String?
}

/// The results for one window of a simple series, as the cloud has computed them.
public struct SeriesWindow: Sendable, Equatable {
    /// The start of the window.
    public var start: UnixTime
    /// Its last second.
    public var end: UnixTime
    /// The date of the window in the node's time zone, `2026-07-21` or `2026-07-21T13`; nil if the cloud does not say.
    public var date: String?
    /// Whether the results are about differences between values.
    public var isCumulative: Bool
    /// The number of records; nil if the cloud does not say.
    public var count: Int?
    private let document: JSONValue

    /// Reads an element of `aggregates`. Returns nil without the window's bounds.
    init?(_ json: JSONValue) {
        guard let start = json["window_start"]?.double, let end = json["window_end"]?.double else { return nil }
        self.start = UnixTime(seconds: start)
        self.end = UnixTime(seconds: end)
        date = json["date"]?.string
        isCumulative = json["cumulative"]?.bool ?? false
        count = json["count"].flatMap(LenientInteger.init).map { Int($0.value) }
        document = json
    }

    /// Returns the window's result; nil if the cloud has none.
    public func value(_ aggregate: SeriesAggregate) -> JSONValue? {
        let member: String? =
            switch aggregate {
            case .raw: nil
            case .latest: "last_value"
            case .min: "min"
            case .max: "max"
            case .count: "count"
            case .avg: "average"
            case .sum: "sum"
            }
        return member.flatMap { document[$0]?.unlessNull }
    }
}

extension SeriesRequest {
    /// The maximum number of records in one answer.
    static let recordsPerPage = 200
    /// The maximum number of windows in one answer.
    static let windowsPerPage = 100

    private var common: [(name: String, value: String)] {
        [("node_id", node.rawValue), ("param_name", "\(parameter)"), ("type", dataType)]
    }

    /// The query of this request.
    func query(page token: String?) -> [(name: String, value: String)] {
        var query = common
        query.append(("start_time", Self.text(start)))
        query.append(("end_time", Self.text(end)))
        query.append(("num_records", "\(Self.recordsPerPage)"))
        if kind == .full {
            query.append(("aggregate", aggregate.rawValue))
            if let interval {
                query.append(("aggregation_interval", interval.rawValue))
                query.append(("timezone", timeZone))
                if interval == .week { query.append(("week_start", weekStart)) }
            }
            if isDifferential { query.append(("differential", "true")) }
            if isDifferential, resetsOnNegative { query.append(("reset_on_negative", "true")) }
        }
        if let token { query.append(("start_id", token)) }
        return query
    }

    /// The query for the windows of a simple series.
    func windowQuery(
        _ window: String, from first: String, to last: String, page token: String?
    ) -> [(name: String, value: String)] {
        let query =
            common + [
                ("query_type", "aggregates"), ("window", window), ("start_date", first), ("end_date", last),
                ("num_records", "\(Self.windowsPerPage)"),
            ]
        return query + (token.map { [("start_id", $0)] } ?? [])
    }

    private static func text(_ time: UnixTime) -> String { "\(Int64(min(max(time.seconds, 0), 253_402_300_799)))" }
}

/// The time series that the cloud keeps of nodes' parameters. For ranges of any length use `RainKitClient.history(of:at:_:)`.
extension RainMakerCloud {
    /// The path of the call for a kind of series.
    private static func path(_ kind: SeriesKind) -> String {
        kind == .full ? "user/nodes/tsdata" : "user/nodes/simple_tsdata"
    }

    /// Returns one page of a series.
    ///
    /// - Parameter token: the token of the page; nil for the first one.
    /// - Throws: `rejected` for a request that the cloud does not accept, or for a token that has expired.
    public func seriesPage(_ request: SeriesRequest, page token: String? = nil) async throws(AccountError) -> SeriesPage
    {
        let reply = try await call(RainMakerCall(.get, Self.path(request.kind), query: request.query(page: token)))
        // How the cloud answers for a range without records is not documented: each of these lists may be empty or absent.
        let part = reply["ts_data"]?.array?.first
        let values = part?["params"]?.array?.first?["values"]?.array ?? []
        // Text, because a name has no place in the answer's structure: a cloud without this call may answer with anything.
        guard reply["ts_data"].map({ $0.isNull || $0.array != nil }) ?? false else {
            throw incomplete("ts_data", in: reply)
        }
        guard values.count <= Self.maximumPage else {
            throw AccountError(.malformedAnswer, message: "the cloud sent \(values.count) records at once")
        }
        var records: [SeriesRecord] = []
        records.reserveCapacity(values.count)
        for entry in values {
            guard let time = entry["ts"].flatMap(LenientInteger.init)?.value, let value = entry["val"] else {
                throw incomplete("the time or value of a record")
            }
            records.append(SeriesRecord(time: UnixTime(seconds: Double(time)), value: value))
        }
        return SeriesPage(records: records, next: Self.token(part))
    }

    /// More than the cloud sends on one page.
    private static let maximumPage = 5000

    /// Returns one page of the windows that the cloud has computed of a simple series.
    ///
    /// - Parameters:
    ///   - window: `hourly`, `daily`, `weekly` or `monthly`.
    ///   - first: the date of the first window in the node's time zone, `2026-07-21`; for hours also `2026-07-21T13`.
    ///   - last: the date of the last window.
    ///   - token: the token of the page; nil for the first one.
    /// - Throws: `rejected` by a backend without this call.
    public func seriesWindows(
        _ request: SeriesRequest, window: String, from first: String, to last: String, page token: String? = nil
    ) async throws(AccountError) -> (windows: [SeriesWindow], next: String?) {
        let query = request.windowQuery(window, from: first, to: last, page: token)
        let reply = try await call(RainMakerCall(.get, Self.path(.simple), query: query))
        guard reply["ts_data"].map({ $0.isNull || $0.array != nil }) ?? false else {
            throw incomplete("ts_data", in: reply)
        }
        let part = reply["ts_data"]?.array?.first
        let windows = try (part?["aggregates"]?.array ?? []).map { json throws(AccountError) in
            guard let window = SeriesWindow(json) else { throw incomplete("the bounds of a window") }
            return window
        }
        return (windows, Self.token(part))
    }

    private static func token(_ part: JSONValue?) -> String? {
        part?["next_id"]?.string.flatMap { $0.isEmpty || $0.utf8.count > 4096 ? nil : $0 }
    }
}
