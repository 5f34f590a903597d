// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainJSON
import RainMaker

/// A question about the values that a parameter has had.
public struct HistoryQuestion: Sendable, Equatable {
    /// The time in question. The end of a range is excluded.
    public enum Range: Sendable, Equatable {
        /// The time before now, by the clock of the cloud. With groups it begins at the start of the first group.
        case last(Duration)
        /// From one moment to another; nil for now.
        case between(UnixTime, UnixTime?)
    }

    /// A day of the week.
    public enum Weekday: Int, Sendable, CaseIterable {
        /// A day.
        case sunday, monday, tuesday, wednesday, thursday, friday, saturday

        /// The name in English, such as `Monday`.
        public var name: String {
            ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"][rawValue]
        }
    }

    /// The time in question.
    public var range: Range
    /// The groups of records; nil for the records themselves.
    public var interval: SeriesInterval?
    /// The result for each group. If it is nil, it is the mean of numbers, and the last one of other values.
    public var aggregate: SeriesAggregate?
    /// Whether the differences between values are meant, as for a meter. A difference has the time of the later value.
    public var isDifferential = false
    /// Whether a difference below zero means that the meter has started again at zero. Then the difference is the new value.
    public var resetsOnNegative = false
    /// The zone in which hours, days, weeks, months and years begin, such as `Europe/Berlin`.
    public var timeZone = "UTC"
    /// The first day of a week.
    public var weekStart = Weekday.monday
    /// The maximum number of records, from the oldest on; nil for all.
    public var limit: Int?

    public init(_ range: Range, every interval: SeriesInterval? = nil, aggregate: SeriesAggregate? = nil) {
        self.range = range
        self.interval = interval
        self.aggregate = aggregate
    }
}

extension RainKitClient {
    /// Returns the values that a parameter has had, or results for groups of them, from the oldest on.
    ///
    /// ```swift
    /// let path = ParameterPath(component: "Sensor", parameter: "Temperature")
    /// var week = HistoryQuestion(.last(.seconds(7 * 86_400)), every: .day, aggregate: .max)
    /// week.timeZone = "Europe/Berlin"
    /// for try await record in try await kit.history(of: path, at: node, week) {
    ///     print(record.time.seconds, record.value)
    /// }
    /// ```
    ///
    /// The cloud keeps time series only of parameters for which the firmware asks for them. The question is checked by what the node has
    /// reported of itself, before anything is sent. Ranges that are too long for one request are split. The sequence holds a few hundred
    /// records at a time, so it may have millions.
    ///
    /// - Throws: `RainKitError`: `no_series` for a parameter without a series; `reversed_range`; `usage` for a question that has no answer;
    ///   `unknown_time_zone`; the codes of `ParameterError`.
    public func history(
        of path: ParameterPath, at node: Node, _ question: HistoryQuestion
    ) async throws -> HistorySeries {
        let plan = try HistoryPlan(question, try node.seriesParameter(path), path, node: node)
        return try series([(node, path, plan)], now: try await seriesClock(question.range, node: node))[0]
    }

    /// Returns the values that several parameters have had at several nodes, for the same time: for each node the parameters in their order.
    ///
    /// - Parameter paths: texts such as `Sensor.Temperature`.
    /// - Throws: as ``history(of:at:_:)`` does; `ambiguous_path`; `usage` without nodes or paths.
    public func histories(
        of paths: [String], at nodes: [Node], _ question: HistoryQuestion
    ) async throws -> [HistorySeries] {
        guard let first = nodes.first, !paths.isEmpty else {
            throw RainKitError.usage("Name a board and a parameter.", remedies: [.knownNode])
        }
        var plans: [(Node, ParameterPath, HistoryPlan)] = []
        for node in nodes {
            let configuration = try node.described()
            for text in paths {
                let path: ParameterPath
                do throws(ParameterError) {
                    path = try configuration.path(text)
                } catch {
                    throw RainKitError(error, at: node.shownName)
                }
                plans.append((node, path, try HistoryPlan(question, try node.seriesParameter(path), path, node: node)))
            }
        }
        return try series(plans, now: try await seriesClock(question.range, node: first))
    }

    private func series(_ plans: [(Node, ParameterPath, HistoryPlan)], now: Int64) throws -> [HistorySeries] {
        let cloud = try rainMakerNodes()
        return try plans.map { node, path, plan -> HistorySeries in
            let range = try plan.range(now: now)
            return HistorySeries(
                node: node.id, nodeName: node.displayName ?? node.id.rawValue, path: path, kind: plan.kind,
                dataType: plan.dataType,
                aggregate: plan.aggregate, interval: plan.interval, timeZone: plan.calendar.name,
                start: UnixTime(seconds: Double(range.lowerBound)), end: UnixTime(seconds: Double(range.upperBound)),
                cloud: cloud, plan: plan)
        }
    }

    /// The time zone of this machine, as `/usr/share/zoneinfo` names it; `UTC` if it has none.
    package var machineTimeZone: String { MachineTimeZone.name(environment: configuration.environment) ?? "UTC" }

    /// Passes on the records that arrive from now on, until the time is over, `take` returns false, or the task is cancelled.
    ///
    /// The cloud is asked every two seconds. A question that fails for the moment is asked again.
    ///
    /// - Parameters:
    ///   - series: the series, of raw records.
    ///   - times: for each series the time of the last record that is known; nil for the end of its range.
    ///   - limit: how long to wait; nil for ever.
    ///   - take: receives the index of the series and a record. Returns whether more are wanted.
    /// - Throws: `RainKitError`: the cloud's refusals.
    public func followHistory(
        of series: [HistorySeries], after times: [UnixTime?], for limit: Duration? = nil,
        _ take: (Int, SeriesRecord) -> Bool
    ) async throws {
        let time = Timekeeper(configuration.tools.timer)
        let end = limit.map { time.elapsed() + $0 }
        var last = zip(series, times).map { $1 ?? UnixTime(seconds: $0.end.seconds - 1) }
        while true {
            for (index, one) in series.enumerated() {
                do throws(AccountError) {
                    // A board's clock may be ahead, so the end is later than now.
                    let start = Int64(last[index].seconds) + 1
                    let now = Int64(configuration.tools.clock.now.seconds)
                    var pages = HistoryPages(
                        one.cloud, HistorySource(one).rawRequest, start..<max(start, now) + 86_400, one.plan.calendar)
                    while let records = try await pages.next() {
                        for record in records {
                            last[index] = max(last[index], record.time)
                            guard take(index, record) else { return }
                        }
                    }
                } catch {
                    guard error.isTransient, error.code != .malformedAnswer else { throw RainKitError(error) }
                }
            }
            let left = end.map { $0 - time.elapsed() } ?? Self.followPause
            guard left > .zero else { return }
            do { try await time.sleep(min(left, Self.followPause)) } catch { throw RainKitError.cancelled }
        }
    }

    /// The time between two questions for new records.
    private static let followPause = Duration.seconds(2)

    /// How far this machine's clock may be from the time at which the cloud listed a node.
    private static let clockTolerance = 30.0

    /// Returns the time in seconds since 1970. The clock of this machine may be wrong, so the cloud's clock counts.
    ///
    /// The cloud is asked only if this machine's clock is far from the time at which the cloud listed the node. Then either the clock is
    /// wrong, or the caller fetched the node a while ago.
    private func seriesClock(_ range: HistoryQuestion.Range, node: Node) async throws -> Int64 {
        let now = configuration.tools.clock.now.seconds
        if case .between(_, .some) = range { return Int64(now) }
        // Whole seconds, rounded down: the present second counts.
        if let listed = node.connectivity?.asOf?.seconds, abs(now - listed) <= Self.clockTolerance {
            return Int64(max(now, listed)) + 1
        }
        let date = try await asking { cloud throws(AccountError) in try await cloud.nodeConnectivity(node.id).asOf }
        return Int64(date?.seconds ?? now) + 1
    }
}

extension Node {
    fileprivate func seriesParameter(_ path: ParameterPath) throws(RainKitError) -> NodeConfiguration.Parameter {
        let configuration = try described()
        do throws(ParameterError) {
            return try configuration.parameter(at: path)
        } catch {
            throw RainKitError(error, at: shownName)
        }
    }
}

/// The values that a parameter has had: a sequence of records, from the oldest on.
///
/// Each iteration asks the cloud again. Its errors are `RainKitError`.
public struct HistorySeries: AsyncSequence, Sendable {
    /// A record, or the result for a group of records.
    public typealias Element = SeriesRecord

    /// The node.
    public let node: NodeID
    /// The node's name for people.
    public let nodeName: String
    /// The parameter.
    public let path: ParameterPath
    /// The kind of the series.
    public let kind: SeriesKind
    /// The type of the parameter's values.
    public let dataType: String
    /// The result for each group; `raw` for the records themselves.
    public let aggregate: SeriesAggregate
    /// The groups; nil for the records themselves.
    public let interval: SeriesInterval?
    /// The zone in which the groups begin.
    public let timeZone: String
    /// The start of the range.
    public let start: UnixTime
    /// The end of the range, which is excluded.
    public let end: UnixTime
    let cloud: any NodeCloud
    let plan: HistoryPlan

    /// Whether the results are numbers, which a plot can show.
    public var hasNumbers: Bool { aggregate == .count || plan.isNumeric }

    public func makeAsyncIterator() -> Iterator { Iterator(HistorySource(self), limit: plan.limit) }

    /// Reads the records page by page.
    public struct Iterator: AsyncIteratorProtocol {
        private var source: HistorySource
        private var waiting: ArraySlice<SeriesRecord> = []
        private var left: Int

        fileprivate init(_ source: HistorySource, limit: Int?) {
            self.source = source
            left = limit ?? .max
        }

        public mutating func next() async throws -> SeriesRecord? {
            guard left > 0 else { return nil }
            while waiting.isEmpty {
                guard !Task.isCancelled else { throw RainKitError.cancelled }
                do throws(AccountError) {
                    guard let records = try await source.next() else {
                        left = 0
                        return nil
                    }
                    waiting = records[...]
                } catch {
                    left = 0
                    throw RainKitError(error)
                }
            }
            left -= 1
            return waiting.removeFirst()
        }
    }
}

/// A checked question, as the client carries it out.
struct HistoryPlan: Sendable {
    let kind: SeriesKind
    let dataType: String
    let aggregate: SeriesAggregate
    let interval: SeriesInterval?
    let isDifferential: Bool
    let resetsOnNegative: Bool
    let calendar: ZonedCalendar
    let weekStart: HistoryQuestion.Weekday
    let limit: Int?
    private let asked: HistoryQuestion.Range

    var isNumeric: Bool { dataType == "int" || dataType == "float" }

    /// Checks a question by the node's description of the parameter.
    init(
        _ question: HistoryQuestion, _ parameter: NodeConfiguration.Parameter, _ path: ParameterPath, node: Node
    ) throws(RainKitError) {
        guard let kind = parameter.series else { throw .noSeries(path, at: node.shownName) }
        self.kind = kind
        dataType = parameter.dataType ?? "float"
        let isNumeric = dataType == "int" || dataType == "float"
        aggregate = question.aggregate ?? (question.interval == nil ? .raw : isNumeric ? .avg : .latest)
        interval = question.interval
        isDifferential = question.isDifferential
        resetsOnNegative = question.resetsOnNegative
        weekStart = question.weekStart
        limit = question.limit
        asked = question.range
        guard var calendar = ZonedCalendar(named: question.timeZone) else {
            throw RainKitError(
                .request(.usage, reason: "unknown_time_zone"),
                message: "This machine does not know the time zone \(question.timeZone.asGiven).")
        }
        calendar.firstWeekday = question.weekStart.rawValue
        self.calendar = calendar
        if aggregate == .raw, interval != nil {
            throw .usage("The aggregate raw works without intervals: omit the interval, or choose another aggregate.")
        }
        if aggregate != .raw, interval == nil {
            throw .usage(
                "The aggregate \(aggregate.rawValue) needs an interval: choose minute, hour, day, week, month or year."
            )
        }
        if resetsOnNegative, !isDifferential {
            throw .usage("The option for resets works only with differences: request differences too.")
        }
        if let limit, limit < 1 { throw .usage("The limit must be at least 1.") }
        guard isNumeric || !isDifferential && !aggregate.needsNumbers else {
            let wanted = isDifferential ? "differences" : aggregate.rawValue
            throw RainKitError(
                ParameterError(
                    .wrongType,
                    message:
                        "\(presentable("\(path)")) has values of the type \(presentable(dataType)), but \(wanted) needs "
                        + "numbers. Use raw, latest or count."), at: node.shownName)
        }
    }

    /// The range in seconds since 1970.
    func range(now: Int64) throws(RainKitError) -> Range<Int64> {
        switch asked {
        case .last(let length):
            let seconds = Swift.max(1, length.components.seconds)
            let start = Swift.max(0, now - Swift.min(seconds, now))
            return (interval.map { calendar.start(of: $0.unit, at: start) } ?? start)..<now
        case .between(let start, let end):
            let start = Self.seconds(start)
            let end = end.map(Self.seconds) ?? Swift.max(now, start)
            guard start < now else {
                throw RainKitError(
                    .request(.usage, reason: "reversed_range"),
                    message: "The range begins in the future: there are no records yet.")
            }
            guard start < end else {
                throw RainKitError(
                    .request(.usage, reason: "reversed_range"),
                    message: "The range ends before it begins: the first moment must be before the last.")
            }
            return start..<end
        }
    }

    private static func seconds(_ time: UnixTime) -> Int64 {
        Int64(Swift.min(Swift.max(time.seconds, 0), 253_402_300_799))
    }
}

extension SeriesInterval {
    var unit: CalendarUnit {
        switch self {
        case .minute: .minute
        case .hour: .hour
        case .day: .day
        case .week: .week
        case .month: .month
        case .year: .year
        }
    }
}

extension RainKitError {
    static func noSeries(_ path: ParameterPath, at node: String) -> RainKitError {
        RainKitError(
            .request(.badData, reason: "no_series"),
            message:
                "\(node): The cloud keeps no history of \(presentable("\(path)")). Firmware enables the history with "
                + "PROP_FLAG_TIME_SERIES or PROP_FLAG_SIMPLE_TIME_SERIES when it creates the parameter.")
    }
}
