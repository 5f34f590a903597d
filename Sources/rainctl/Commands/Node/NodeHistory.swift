// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainCore
import RainJSON
import RainKit
import RainMaker
import Synchronization

/// Shows the values that parameters have had.
struct NodeHistory: AsyncParsableCommand, EndsByInterruption {
    static let configuration = CommandConfiguration.leaf(
        commandName: "history", abstract: "Show the past values of parameters as a plot or a table.",
        discussion: """
            Example: rainctl node history Greenhouse Sensor.Temperature --since 7d

            The cloud keeps the history of a parameter only if the board's firmware requests this. On a terminal, rainctl draws numbers as \
            a plot. For text values, and for output to files and pipes, rainctl prints a table. With --every, rainctl shows one result for \
            each hour, day or other unit of time, in the time zone of --timezone. With --follow, rainctl also shows new records when they \
            arrive. Ctrl-C ends the command.
            """)

    @Argument(help: .nodes, completion: .nodes)
    var nodes: String

    @Argument(help: ArgumentHelp("The parameters, such as Sensor.Temperature.", valueName: "path"))
    var paths: [String]

    @Option(
        help: ArgumentHelp(
            "Show records that are at most this old, such as 30m, 24h or 7d (default: 24h, or longer with --every).",
            valueName: "time"))
    var since: SpanArgument?

    @Option(
        help: ArgumentHelp(
            "Show the records from this time on, such as 2026-03-29 or 2026-03-29T14:00. You can add a time zone: Z or +02:00.",
            valueName: "moment"))
    var from: String?

    @Option(help: ArgumentHelp("Show the records before this time (default: now).", valueName: "moment"))
    var to: String?

    @Option(
        help: ArgumentHelp(
            "Show one result, such as the average, for each unit of time instead of all records.",
            valueName: "unit"))
    var every: SeriesInterval?

    @Option(
        help: ArgumentHelp(
            """
            Show this result for each unit of --every (default: avg for numbers, latest for texts and switches). Without --every, only raw \
            is possible.
            """, valueName: "name"))
    var aggregate: SeriesAggregate?

    @Flag(help: "Show the difference between each value and the previous value, for example to read a meter.")
    var differential = false

    @Flag(
        help:
            "With --differential: if a value is lower than the previous value, assume that the meter started again at zero."
    )
    var resetOnNegative = false

    @Option(
        help: ArgumentHelp(
            "Use this time zone, such as Europe/Berlin, for hours, days and times (default: the time zone of this machine).",
            valueName: "zone"))
    var timezone: String?

    @Option(help: ArgumentHelp("With --every week: begin each week on this day (default: monday).", valueName: "day"))
    var weekStart: HistoryQuestion.Weekday?

    @Option(
        help: ArgumentHelp(
            "Show at most this many records of each parameter, and begin with the oldest.", valueName: "n"))
    var limit: Int?

    @Flag(help: "Print a table of comma-separated values.")
    var csv = false

    @Flag(help: "Print the records in InfluxDB's line protocol.")
    var influx = false

    @Option(
        help: ArgumentHelp("Draw the plot into this SVG file (- for standard output).", valueName: "file"),
        completion: .file())
    var svg: String?

    @Flag(help: "Also show new records when they arrive. With --json, each record is one line.")
    var follow = false

    @Option(help: ArgumentHelp("Give up after this time, such as 500ms, 6s or 2m (default: 10m).", valueName: "time"))
    var timeout: DurationArgument?

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        guard [csv, influx, svg != nil, options.isJSON].count(where: { $0 }) <= 1 || svg != nil && !csv && !influx
        else {
            throw ValidationError("Give only one of --csv, --influx, --svg and --json.")
        }
        if svg == "-", options.isJSON {
            throw ValidationError("--json writes to standard output: give a file for --svg.")
        }
        if since != nil, from != nil { throw ValidationError("Give --since or --from, but not both.") }
        if to != nil, from == nil, !follow { throw ValidationError("--to needs --from.") }
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
        if aggregate != nil, aggregate != .raw, every == nil {
            throw ValidationError("--aggregate \(aggregate?.rawValue ?? "") needs --every.")
        }
        if aggregate == .raw, every != nil { throw ValidationError("Give --aggregate raw or --every, but not both.") }
        if resetOnNegative, !differential { throw ValidationError("--reset-on-negative needs --differential.") }
        if weekStart != nil, every != .week { throw ValidationError("--week-start needs --every week.") }
        if follow, svg != nil || every != nil || differential || to != nil || limit != nil {
            throw ValidationError(
                "--follow cannot be combined with --svg, --every, --differential, --to or --limit.")
        }
    }

    func run() async throws {
        let context = try Context(options)
        let client = try context.rainMakerClient()
        let time = TimeBudget(timeout ?? DurationArgument(.seconds(600)))
        let zone = timezone ?? client.machineTimeZone
        let (names, paths, question) = (nodes, paths, try question(zone))
        let series = try await context.screen.waiting("Asking the cloud") {
            try await time.run {
                let nodes = try await client.nodes(listed: names)
                return try await client.histories(of: paths, at: nodes, question)
            }
        }
        let printer = HistoryPrinter(context.output, form(series), zone: zone, limit: limit, series)
        if printer.isSilent {
            try await context.screen.waiting("Reading records") { try await time.run { try await printer.read() } }
        } else {
            try await time.run { try await printer.read() }
        }
        if let svg {
            let picture = Array(printer.svg.utf8)
            if svg == "-", Invocation.current.request == nil { return StandardStreams.out(picture) }
            try PrivateOutputFile.write(picture, to: svg, name: "picture")
            if !options.isJSON { context.output.say("The picture is in \(svg).".onOneLine) }
        }
        printer.finish()
        guard follow else { return }
        try await client.followHistory(of: series, after: printer.lastTimes, for: timeout?.duration) {
            printer.take($1, of: $0, isNew: true)
        }
        try Task.checkCancellation()
    }

    private func question(_ zone: String) throws -> HistoryQuestion {
        let times = HistoryText(timeZone: zone)
        func moment(_ text: String, _ option: String) throws -> UnixTime {
            guard let moment = times.moment(text) else {
                let isForm = text.wholeMatch(of: /\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?)?/) != nil
                throw CommandFailure(
                    .usage,
                    message: isForm
                        ? "\(option) is \(text), but this day or time does not exist."
                        : "\(option) must be a date or a time such as 2026-03-29 or 2026-03-29T14:00, but is \(text.onOneLine)."
                )
            }
            return moment
        }
        var range = HistoryQuestion.Range.last(since?.duration ?? every.standardRange)
        if let from { range = .between(try moment(from, "--from"), try to.map { try moment($0, "--to") }) }
        var question = HistoryQuestion(range, every: every, aggregate: aggregate)
        question.isDifferential = differential
        question.resetsOnNegative = resetOnNegative
        question.timeZone = zone
        question.weekStart = weekStart ?? .monday
        return question
    }

    private func form(_ series: [HistorySeries]) -> HistoryPrinter.Form {
        // A request to `rainctl serve` gets a document, or a notification for each record.
        if Invocation.current.request != nil { return follow ? .lines : .document }
        if csv { return .csv }
        if influx { return .influx }
        if svg != nil { return options.isJSON ? .document : .picture }
        if options.isJSON { return follow ? .lines : .document }
        let isPlot = StandardStreams.outIsTerminal && series.allSatisfy(\.hasNumbers)
        return isPlot ? .plot(width: TerminalSize.columnsOfOutput ?? 80) : .table
    }
}

extension SeriesInterval: WordArgument {}
extension SeriesAggregate: WordArgument {}
extension HistoryQuestion.Weekday: ExpressibleByArgument {
    public init?(argument: String) {
        guard let day = Self.allCases.first(where: { $0.name.lowercased() == argument.lowercased() }) else {
            return nil
        }
        self = day
    }

    public static var allValueStrings: [String] { allCases.map { $0.name.lowercased() } }
    public static var allValueDescriptions: [String: String] { [:] }
}

extension SeriesInterval? {
    /// The time before now that is shown unless another one is asked for.
    fileprivate var standardRange: Duration {
        switch self {
        case nil, .minute?, .hour?: .seconds(86_400)
        case .day?: .seconds(31 * 86_400)
        case .week?: .seconds(12 * 7 * 86_400)
        case .month?: .seconds(365 * 86_400)
        case .year?: .seconds(5 * 366 * 86_400)
        }
    }
}

/// Prints the records of series in one form.
final class HistoryPrinter: Sendable {
    enum Form: Sendable, Equatable {
        case table, csv, influx, document, picture
        /// A line of JSON for each record.
        case lines
        case plot(width: Int)
    }

    /// The maximum number of records in a document, which is held in memory as a whole.
    static let maximumDocument = 100_000
    /// How many bytes are written at once.
    private static let chunk = 1 << 16

    private struct State {
        var columns: [HistoryColumns]
        var records: [[SeriesRecord]]
        var isCut: [Bool]
        var last: [UnixTime?]
        var text: [UInt8] = []
        var count = 0
    }

    private let output: Output
    private let form: Form
    private let times: HistoryText
    private let zone: String
    private let limit: Int?
    private let series: [HistorySeries]
    private let state: Mutex<State>

    init(_ output: Output, _ form: Form, zone: String, limit: Int?, _ series: [HistorySeries]) {
        (self.output, self.form, self.limit, self.series, self.zone) = (output, form, limit, series, zone)
        times = HistoryText(timeZone: zone)
        let count =
            switch form {
            case .plot(let width): HistoryPlot.columns(forWidth: width)
            default: HistorySVG.columns
            }
        state = Mutex(
            State(
                columns: series.map {
                    HistoryColumns(from: $0.start, to: $0.end, columns: count, interval: $0.interval)
                }, records: series.map { _ in [] }, isCut: series.map { _ in false }, last: series.map { _ in nil }))
    }

    /// Whether nothing is printed before the last record has been read.
    var isSilent: Bool {
        switch form {
        case .document, .picture, .plot: true
        case .table, .csv, .influx, .lines: false
        }
    }

    /// The times of the last records.
    var lastTimes: [UnixTime?] { state.withLock(\.last) }

    /// Reads all records.
    func read() async throws {
        if form == .csv { state.withLock { $0.text += Array("\(HistoryText.csvHeader)\n".utf8) } }
        for (index, one) in series.enumerated() {
            var left = limit ?? .max
            for try await record in one {
                guard left > 0, take(record, of: index) else {
                    state.withLock { $0.isCut[index] = true }
                    break
                }
                left -= 1
            }
            // A plot of many records takes time; it can be interrupted here.
            if output.isCut { break }
        }
        flush()
    }

    /// Returns whether more records are wanted.
    @discardableResult
    func take(_ record: SeriesRecord, of index: Int, isNew: Bool = false) -> Bool {
        let one = series[index]
        let line: String?
        switch form {
        case .csv: line = times.csv(record, of: one)
        case .influx: line = HistoryText.influx(record, of: one)
        case .lines:
            line = nil
            output.piece(HistoryLine(record, of: one), text: text(record, of: one))
        case .table: line = text(record, of: one)
        case .document, .picture, .plot: line = isNew ? text(record, of: one) : nil
        }
        let isFull = state.withLock { state -> Bool in
            if let last = state.last[index], record.time < last {} else { state.last[index] = record.time }
            if let line { state.text += Array((line + "\n").utf8) }
            guard !isNew else { return true }
            switch form {
            case .plot, .picture: state.columns[index].add(record)
            case .document:
                guard state.count < Self.maximumDocument else { return false }
                state.count += 1
                state.columns[index].add(record)
                state.records[index].append(record)
            case .table, .csv, .influx, .lines: break
            }
            return true
        }
        if isNew || state.withLock({ $0.text.count >= Self.chunk }) { flush() }
        return isFull && !output.isCut
    }

    private func flush() {
        let text = state.withLock { state in
            defer { state.text = [] }
            return state.text
        }
        StandardStreams.out(text)
    }

    private func text(_ record: SeriesRecord, of one: HistorySeries) -> String {
        let name = series.count > 1 ? "  \(self.name(of: one))" : ""
        return "\(times.time(record.time))\(name)  \(record.value.shown)".onOneLine
    }

    private func name(of one: HistorySeries) -> String {
        let what = one.aggregate == .raw ? "\(one.path)" : "\(one.path) (\(one.aggregate.rawValue))"
        return "\(one.nodeName) \(what)"
    }

    /// The picture of all records.
    var svg: String { HistorySVG(lines, timeZone: zone).text }

    private var lines: [HistoryPlot.Line] {
        let columns = state.withLock(\.columns)
        return zip(series, columns).map { HistoryPlot.Line(name: name(of: $0), columns: $1) }
    }

    /// Prints what comes after the last record.
    func finish() {
        let cut = state.withLock(\.isCut)
        switch form {
        case .plot(let width):
            let style = HistoryPlot.Style(
                isUTF8: Tick.mark(processEnvironment()) != nil, hasColour: TerminalStyle.ofResults.hasColour)
            StandardStreams.out(HistoryPlot(lines, timeZone: zone, width: width).text(style) + "\n")
        case .document:
            let (records, columns) = state.withLock { ($0.records, $0.columns) }
            output.result(HistoryResult(series, records, columns, cut, zone: zone, times))
        case .table, .csv, .influx:
            // A script gets nothing then. People see why.
            if lastTimes.allSatisfy({ $0 == nil }) { output.say("note: there are no records in this range") }
        case .lines, .picture: break
        }
        if cut.contains(true), limit == nil, !output.isCut {
            output.say(
                "note: only the first \(Self.maximumDocument) records are shown; use --csv or --influx for all of them")
        }
    }
}

/// The values that parameters have had.
struct HistoryResult: CommandResult {
    let from: String
    let to: String
    let timezone: String
    let series: [Entry]
    @TextOnly private var lines: [String]

    struct Entry: Encodable, Sendable {
        let nodeID: String
        let name: String
        let param: String
        /// `full` or `simple`.
        let kind: String
        let dataType: String
        let aggregate: String
        /// Absent for the records themselves.
        let interval: String?
        let count: Int
        /// These three are absent if no value is a number.
        let min: Double?
        let avg: Double?
        let max: Double?
        /// True if there are more records than the document has; otherwise absent.
        let isCut: Bool?
        let records: [Record]
    }

    struct Record: Encodable, Sendable {
        /// In UTC.
        let time: String
        let value: JSONValue
    }

    var text: String { lines.joined(separator: "\n") }

    init(from: String, to: String, timezone: String, series: [Entry], lines: [String]) {
        (self.from, self.to, self.timezone, self.series) = (from, to, timezone, series)
        self.lines = lines
    }

    init(
        _ series: [HistorySeries], _ records: [[SeriesRecord]], _ columns: [HistoryColumns], _ isCut: [Bool],
        zone: String, _ times: HistoryText
    ) {
        let entries = series.indices.map { index in
            let (one, columns) = (series[index], columns[index])
            return Entry(
                nodeID: one.node.rawValue, name: one.nodeName, param: "\(one.path)", kind: one.kind.rawValue,
                dataType: one.dataType, aggregate: one.aggregate.rawValue, interval: one.interval?.rawValue,
                count: records[index].count, min: columns.minimum, avg: columns.mean, max: columns.maximum,
                isCut: isCut[index] ? true : nil,
                records: records[index].map { Record(time: Timestamp.text($0.time), value: $0.value) })
        }
        let lines = zip(series, records).flatMap { one, records in
            records.map { "\(times.time($0.time))  \(one.nodeName) \(one.path)  \($0.value.shown)".onOneLine }
        }
        self.init(
            from: series.first.map { Timestamp.text($0.start) } ?? "",
            to: series.first.map { Timestamp.text($0.end) } ?? "", timezone: zone, series: entries, lines: lines)
    }
}

/// A record, as a line of JSON.
struct HistoryLine: Encodable, Sendable {
    let nodeID: String
    let param: String
    /// In UTC.
    let time: String
    let value: JSONValue

    init(_ record: SeriesRecord, of series: HistorySeries) { self.init(record, node: series.node, path: series.path) }

    init(_ record: SeriesRecord, node: NodeID, path: ParameterPath) {
        nodeID = node.rawValue
        param = "\(path)"
        time = Timestamp.text(record.time)
        value = record.value
    }
}
