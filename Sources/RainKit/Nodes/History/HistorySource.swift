// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import RainMaker

/// Splits a range into parts that the cloud accepts in one request. Parts begin and end with whole groups, so that no group is split.
struct HistoryParts: Sendable, IteratorProtocol, Sequence {
    private var position: Int64
    private let end: Int64
    private let unit: CalendarUnit?
    private let calendar: ZonedCalendar

    init(_ range: Range<Int64>, _ unit: CalendarUnit?, _ calendar: ZonedCalendar) {
        (position, end, self.unit, self.calendar) = (range.lowerBound, range.upperBound, unit, calendar)
    }

    mutating func next() -> Range<Int64>? {
        guard position < end else { return nil }
        let start = position
        let limit = Self.limit(from: start, unit, calendar)
        position = end
        if limit < end {
            position = unit.map { calendar.start(of: $0, at: limit) } ?? limit
            if position <= start { position = limit }
        }
        return start..<position
    }

    /// The end of the longest range of one request (docs of the call `user/nodes/tsdata`).
    private static func limit(from start: Int64, _ unit: CalendarUnit?, _ calendar: ZonedCalendar) -> Int64 {
        switch unit {
        case .minute?, .hour?: start + 86_400
        case .day?, nil: start + 31 * 86_400
        case .week?: start + 12 * 7 * 86_400
        case .month?: calendar.adding(12, .month, to: start)
        case .year?: calendar.adding(5, .year, to: start)
        }
    }
}

/// Checks that the pages of an answer end.
struct HistoryProgress: Sendable {
    /// The maximum number of pages without a later record than before.
    private static let maximumIdle = 16

    private var tokens: Set<Int> = []
    private var idle = 0
    /// The last time that was passed on, in seconds since 1970, and the number of records with it.
    private(set) var last: (time: Int64, count: Int)?

    /// Forgets the tokens, for the next request.
    mutating func startRequest() {
        tokens = []
        idle = 0
    }

    /// Records a page.
    mutating func take(_ page: SeriesPage) throws(AccountError) {
        let before = last?.time
        for record in page.records {
            let time = Int64(record.time.seconds)
            if let last, time < last.time {
                throw AccountError(.malformedAnswer, message: "the cloud's records are not sorted by time")
            }
            last = (time, last?.time == time ? (last?.count ?? 0) + 1 : 1)
        }
        guard let next = page.next else { return }
        guard tokens.insert(next.hashValue).inserted else { throw Self.endless("a page is repeated") }
        idle = last?.time == before ? idle + 1 : 0
        guard idle <= Self.maximumIdle else { throw Self.endless("the last pages contained no later records") }
    }

    private static func endless(_ why: String) -> AccountError {
        AccountError(
            .malformedAnswer,
            message: "the cloud's list of records was not read to its end: \(why)")
    }
}

/// The records or groups of a range, as the cloud has them: part by part, page by page.
struct HistoryPages: Sendable {
    private let cloud: any NodeCloud
    private let template: SeriesRequest
    private var parts: HistoryParts
    private var part: Range<Int64>?
    private var token: String?
    private var progress = HistoryProgress()
    /// The records at the start of the next page that were passed on before.
    private var known: (time: Int64, count: Int)?
    /// The last record when the question was asked again. Without a later one, asking once more would not help.
    private var restarted: (time: Int64, count: Int)?

    init(_ cloud: any NodeCloud, _ template: SeriesRequest, _ range: Range<Int64>, _ calendar: ZonedCalendar) {
        self.cloud = cloud
        self.template = template
        parts = HistoryParts(range, template.interval?.unit, calendar)
    }

    /// Returns the records of the next page, which may be empty; nil at the end.
    mutating func next() async throws(AccountError) -> [SeriesRecord]? {
        if part == nil {
            part = parts.next()
            progress.startRequest()
        }
        guard let part else { return nil }
        var request = template
        request.start = UnixTime(seconds: Double(part.lowerBound))
        request.end = UnixTime(seconds: Double(part.upperBound))
        var page: SeriesPage
        do throws(AccountError) {
            page = try await cloud.seriesPage(request, page: token)
        } catch {
            // A token expires while the program does something else. The number of that error is not public.
            guard token != nil, error.code == .rejected || error.code == .unknownNode,
                let last = progress.last, part.contains(last.time),
                restarted.map({ $0 != last }) ?? true
            else { throw error }
            restart(at: last, part)
            return []
        }
        if let known {
            let repeated = page.records.prefix { Int64($0.time.seconds) == known.time }.count
            page.records.removeFirst(min(repeated, known.count))
            self.known = nil
        }
        try progress.take(page)
        token = page.next
        if token == nil { self.part = nil }
        return page.records
    }

    /// Asks again from the last record on, without a token.
    private mutating func restart(at last: (time: Int64, count: Int), _ part: Range<Int64>) {
        token = nil
        known = last
        restarted = last
        self.part = last.time..<part.upperBound
        progress.startRequest()
    }
}

/// Computes differences between the values of a meter.
struct HistoryDifferences: Sendable {
    private var previous: JSONValue?
    let resetsOnNegative: Bool

    init(resetsOnNegative: Bool) { self.resetsOnNegative = resetsOnNegative }

    /// Returns nil for the first record, and for values that are not numbers.
    mutating func next(_ record: SeriesRecord) -> SeriesRecord? {
        guard let value = record.value.double else { return nil }
        defer { previous = record.value }
        guard let last = previous else { return nil }
        var result = record
        if let value = record.value.integer, let last = last.integer {
            let (difference, overflow) = value.subtractingReportingOverflow(last)
            result.value =
                difference < 0 && resetsOnNegative
                ? .integer(value) : overflow ? .number(Double(value) - Double(last)) : .integer(difference)
        } else {
            let difference = value - (last.double ?? 0)
            result.value = .number(difference < 0 && resetsOnNegative ? value : difference)
        }
        return result
    }
}

/// Computes the results for groups of records that come in the order of their times.
struct HistoryGroups: Sendable {
    private struct Group: Sendable {
        var start: Int64
        var end: Int64
        var count = 0
        var sum = 0.0
        var minimum = Double.infinity
        var maximum = -Double.infinity
        var last = JSONValue.null
        var areIntegers = true
    }

    let aggregate: SeriesAggregate
    let unit: CalendarUnit
    let calendar: ZonedCalendar
    private var group: Group?

    init(_ aggregate: SeriesAggregate, _ unit: CalendarUnit, _ calendar: ZonedCalendar) {
        (self.aggregate, self.unit, self.calendar) = (aggregate, unit, calendar)
    }

    /// Adds a record. Returns the group before it, if that is complete.
    mutating func add(_ record: SeriesRecord) -> SeriesRecord? {
        guard !aggregate.needsNumbers || record.value.double != nil else { return nil }
        let time = Int64(record.time.seconds)
        var finished: SeriesRecord?
        if let group, time >= group.end { finished = finish() }
        var current =
            group
            ?? Group(
                start: calendar.start(of: unit, at: time), end: max(calendar.next(unit, after: time), time + 1))
        current.count += 1
        current.last = record.value
        if let number = record.value.double {
            current.sum += number
            current.minimum = min(current.minimum, number)
            current.maximum = max(current.maximum, number)
            current.areIntegers = current.areIntegers && record.value.integer != nil
        }
        group = current
        return finished
    }

    /// Returns the last group.
    mutating func finish() -> SeriesRecord? {
        guard let group else { return nil }
        self.group = nil
        let value: JSONValue =
            switch aggregate {
            case .raw, .latest: group.last
            case .count: .integer(Int64(group.count))
            case .avg: .number(group.sum / Double(group.count))
            case .min: Self.number(group.minimum, group.areIntegers)
            case .max: Self.number(group.maximum, group.areIntegers)
            case .sum: Self.number(group.sum, group.areIntegers)
            }
        return SeriesRecord(time: UnixTime(seconds: Double(group.start)), value: value)
    }

    /// Beyond 2^53 a `Double` does not have every integer.
    static func number(_ value: Double, _ isInteger: Bool) -> JSONValue {
        isInteger && value == value.rounded() && abs(value) < 9_007_199_254_740_992
            ? .integer(Int64(value)) : .number(value)
    }
}

/// Records that are computed here of the cloud's.
struct ComputedHistory: Sendable {
    private var pages: HistoryPages
    private var differences: HistoryDifferences?
    private var groups: HistoryGroups?
    private var hasEnded = false

    init(_ pages: HistoryPages, _ differences: HistoryDifferences?, _ groups: HistoryGroups?) {
        (self.pages, self.differences, self.groups) = (pages, differences, groups)
    }

    mutating func next() async throws(AccountError) -> [SeriesRecord]? {
        guard !hasEnded else { return nil }
        guard let records = try await pages.next() else {
            hasEnded = true
            return groups?.finish().map { [$0] }
        }
        var result: [SeriesRecord] = []
        for record in records {
            guard let value = differences == nil ? record : differences?.next(record) else { continue }
            guard groups != nil else {
                result.append(value)
                continue
            }
            if let group = groups?.add(value) { result.append(group) }
        }
        return result
    }
}

/// The windows of a simple series that the cloud has computed.
struct WindowHistory: Sendable {
    private let cloud: any NodeCloud
    private let request: SeriesRequest
    private let calendar: ZonedCalendar
    private let range: Range<Int64>
    private let isInteger: Bool
    private let word: String
    private var token: String?
    private var tokens: Set<String> = []
    private var hasEnded = false
    private var last = Int64.min

    /// Nil for groups that the cloud has no windows for, and for a range without a whole one.
    init?(_ cloud: any NodeCloud, _ request: SeriesRequest, _ range: Range<Int64>, _ calendar: ZonedCalendar) {
        switch request.interval {
        case .hour: word = "hourly"
        case .day: word = "daily"
        case .week where calendar.firstWeekday == 1: word = "weekly"
        case .month: word = "monthly"
        default: return nil
        }
        guard !range.isEmpty, request.aggregate != .raw, !request.isDifferential else { return nil }
        (self.cloud, self.request, self.range, self.calendar) = (cloud, request, range, calendar)
        isInteger = request.dataType == "int"
    }

    /// Returns the next windows; nil at the end.
    ///
    /// - Throws: `unsupported` if the windows are not those of the question: the node is in another time zone, or counts differences.
    mutating func next() async throws(AccountError) -> [SeriesRecord]? {
        guard !hasEnded else { return nil }
        let page = try await cloud.seriesWindows(
            request, window: word, from: date(range.lowerBound), to: date(range.upperBound - 1), page: token)
        token = page.next
        if let token, !tokens.insert(token).inserted || tokens.count > 10_000 {
            throw AccountError(
                .malformedAnswer,
                message:
                    "the cloud's list of intervals was not read to its end: the list repeats a page, or has too many pages"
            )
        }
        hasEnded = token == nil
        guard let unit = request.interval?.unit else { return nil }
        var result: [SeriesRecord] = []
        for window in page.windows {
            let start = Int64(window.start.seconds)
            // The date shows whether the dates of the question were those of the node's time zone.
            guard !window.isCumulative, window.date == date(start), calendar.start(of: unit, at: start) == start,
                Int64(window.end.seconds) + 1 == calendar.next(unit, after: start), start > last,
                let value = window.value(request.aggregate)
            else {
                throw AccountError(
                    .unsupported, message: "the cloud returned intervals other than the requested ones")
            }
            guard range.contains(start), window.count != 0 else { continue }
            last = start
            let isWhole = isInteger && request.aggregate != .avg
            let number = value.double.map { HistoryGroups.number($0, isWhole) }
            result.append(SeriesRecord(time: window.start, value: number ?? value))
        }
        return result
    }

    private func date(_ time: Int64) -> String {
        let text = calendar.local(time).text(separator: "T")
        return String(text.prefix(word == "hourly" ? 13 : 10))
    }
}

/// The records of a ``HistorySeries``, a few hundred at a time.
struct HistorySource: Sendable {
    /// A part of the answer. The parts follow each other.
    private enum Stage: Sendable {
        case pages(HistoryPages)
        case computed(ComputedHistory)
        /// The second value replaces the windows, if the cloud does not have them.
        case windows(WindowHistory, instead: Range<Int64>, isFirst: Bool)
    }

    private let series: HistorySeries
    private var stages: [Stage] = []

    init(_ series: HistorySeries) {
        self.series = series
        let plan = series.plan
        let range = Int64(series.start.seconds)..<Int64(series.end.seconds)
        guard series.kind == .simple else {
            // The cloud has no last value of a month or a year, but of each day.
            if plan.aggregate == .latest, plan.interval == .month || plan.interval == .year {
                stages = [computed(range, from: .day)]
                return
            }
            stages = [.pages(HistoryPages(series.cloud, request, range, plan.calendar))]
            return
        }
        guard let unit = plan.interval?.unit, let whole = wholeGroups(unit, range) else {
            stages = [computed(range)]
            return
        }
        guard let windows = WindowHistory(series.cloud, request, whole, plan.calendar) else {
            stages = [computed(range)]
            return
        }
        if range.lowerBound < whole.lowerBound { stages.append(computed(range.lowerBound..<whole.lowerBound)) }
        stages.append(.windows(windows, instead: whole, isFirst: true))
        if whole.upperBound < range.upperBound { stages.append(computed(whole.upperBound..<range.upperBound)) }
    }

    mutating func next() async throws(AccountError) -> [SeriesRecord]? {
        while let stage = stages.first {
            switch stage {
            case .pages(var pages):
                let records = try await pages.next()
                stages[0] = .pages(pages)
                if let records { return records }
            case .computed(var computed):
                let records = try await computed.next()
                stages[0] = .computed(computed)
                if let records { return records }
            case .windows(var windows, let range, let isFirst):
                do throws(AccountError) {
                    let records = try await windows.next()
                    stages[0] = .windows(windows, instead: range, isFirst: false)
                    if let records { return records }
                } catch {
                    // Older backends have no windows. Others have them in the node's time zone only.
                    guard isFirst, [.rejected, .unsupported, .unknownNode, .malformedAnswer].contains(error.code) else {
                        throw error
                    }
                    stages[0] = self.computed(range)
                    continue
                }
            }
            stages.removeFirst()
        }
        return nil
    }

    private var request: SeriesRequest {
        let plan = series.plan
        var request = SeriesRequest(
            node: series.node, parameter: series.path, kind: series.kind, dataType: plan.dataType, start: series.start,
            end: series.end)
        request.aggregate = plan.aggregate
        request.interval = plan.interval
        request.timeZone = plan.calendar.name
        request.weekStart = plan.weekStart.name
        request.isDifferential = plan.isDifferential
        request.resetsOnNegative = plan.resetsOnNegative
        return request
    }

    /// A request for raw records.
    var rawRequest: SeriesRequest {
        var request = request
        request.interval = nil
        request.aggregate = .raw
        request.isDifferential = false
        return request
    }

    /// - Parameter interval: the groups to ask the cloud for; nil for raw records.
    private func computed(_ range: Range<Int64>, from interval: SeriesInterval? = nil) -> Stage {
        let plan = series.plan
        var request = interval == nil ? rawRequest : request
        request.interval = interval
        let groups = plan.interval.map { HistoryGroups(plan.aggregate, $0.unit, plan.calendar) }
        let isComputed = interval == nil && plan.isDifferential
        let differences = isComputed ? HistoryDifferences(resetsOnNegative: plan.resetsOnNegative) : nil
        return .computed(
            ComputedHistory(HistoryPages(series.cloud, request, range, plan.calendar), differences, groups))
    }

    /// The groups that are completely in the range.
    private func wholeGroups(_ unit: CalendarUnit, _ range: Range<Int64>) -> Range<Int64>? {
        let calendar = series.plan.calendar
        var first = calendar.start(of: unit, at: range.lowerBound)
        if first < range.lowerBound { first = calendar.next(unit, after: range.lowerBound) }
        let end = calendar.start(of: unit, at: range.upperBound)
        return first < end ? first..<end : nil
    }
}
