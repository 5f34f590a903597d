// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import Synchronization
import Testing

@testable import RainKit
@testable import RainMaker

/// A client whose cloud answers questions about series by a function.
private final class SeriesCloud: HTTPClient {
    typealias Answer = @Sendable (_ query: [String: String], _ number: Int) -> (status: Int, body: JSONValue)

    private let answer: Answer
    private let queries = Mutex<[[String: String]]>([])
    private let states = Mutex(0)

    init(_ answer: @escaping Answer) { self.answer = answer }

    /// The queries so far, without those for the node's state.
    var sent: [[String: String]] { queries.withLock(\.self) }
    /// How often the node's state was asked for.
    var askedStates: Int { states.withLock(\.self) }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let parts = request.url.split(separator: "?", maxSplits: 1).map(String.init)
        if parts[0].hasSuffix("/status") {
            states.withLock { $0 += 1 }
            let body = #"{"connectivity":{"connected":true,"timestamp":0}}"#
            // An hour before this machine's clock.
            let date = CivilTime(secondsSince1970: 1_799_996_400).httpDate
            return HTTPResponse(status: 200, headers: [HTTPHeader("Date", date)], body: Array(body.utf8))
        }
        var query: [String: String] = [:]
        for pair in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
            let pair = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            query[String(pair[0])] = String(
                decoding: PercentEncoding.decoded(pair[1].utf8, plusIsSpace: false), as: UTF8.self)
        }
        query["path"] = parts[0].hasSuffix("/simple_tsdata") ? "simple" : "full"
        let number = queries.withLock { queries in
            queries.append(query)
            return queries.count
        }
        let (status, body) = answer(query, number)
        return HTTPResponse(
            status: status, headers: [HTTPHeader("Content-Type", "application/json")], body: body.serialized())
    }

    var kit: RainKitClient {
        get throws {
            let saved = SavedSession(
                provider: "rainmaker", userID: UserID("user-1"), userName: "dev@example.com",
                tokens: Tokens(access: Secret("planted-access"), received: UnixTime(seconds: 0)))
            var configuration = RainKitConfiguration.inMemory(
                deployment: try Deployment(name: "sim", base: "http://127.0.0.1:1"))
            configuration.sessions = InMemoryCredentialStore([try CredentialKey("sim"): saved])
            configuration.tools = RainKitTools(
                http: { _ in self }, randomBytes: { [UInt8](repeating: 0x0A, count: $0) }, clock: ManualWallClock())
            return RainKitClient(configuration)
        }
    }

    /// An answer with these records, and the token of the next page.
    static func page(_ records: [(Int64, JSONValue)], next: String? = nil) -> (status: Int, body: JSONValue) {
        let values = records.map { time, value -> JSONValue in ["ts": .integer(time), "val": value] }
        var part: [JSONValue.Member] = [
            .init("node_id", "n1"), .init("params", [["param_name": "Sensor.T", "values": .array(values)]]),
        ]
        if let next { part.append(.init("next_id", .string(next))) }
        return (200, ["ts_data": [.object(part)]])
    }

    static let refusal: (status: Int, body: JSONValue) = (
        400, ["status": "failure", "error_code": 100021, "description": "start_id has expired"]
    )

    /// A node with a parameter for each kind of series.
    static func node() throws -> Node {
        func parameter(_ name: String, _ type: String, _ series: String?) -> JSONValue {
            let properties: [JSONValue] = ["read"] + (series.map { [.string($0)] } ?? [])
            return ["name": .string(name), "data_type": .string(type), "properties": .array(properties)]
        }
        let parameters: [JSONValue] = [
            parameter("T", "float", "time_series"), parameter("Meter", "int", "time_series"),
            parameter("Open", "bool", "time_series"), parameter("H", "float", "simple_ts"),
            parameter("State", "string", "simple_ts"), parameter("Plain", "int", nil),
        ]
        return try #require(
            Node(["id": "n1", "config": ["devices": [["name": "Sensor", "params": .array(parameters)]]]]))
    }

    func series(_ parameter: String, _ question: HistoryQuestion) async throws -> HistorySeries {
        try await kit.history(
            of: ParameterPath(component: "Sensor", parameter: parameter), at: try Self.node(), question)
    }

    func records(_ parameter: String, _ question: HistoryQuestion) async throws -> [SeriesRecord] {
        var all: [SeriesRecord] = []
        for try await record in try await series(parameter, question) { all.append(record) }
        return all
    }
}

private func between(_ start: Int64, _ end: Int64, every: SeriesInterval? = nil, _ aggregate: SeriesAggregate? = nil)
    -> HistoryQuestion
{
    HistoryQuestion(
        .between(UnixTime(seconds: Double(start)), UnixTime(seconds: Double(end))), every: every, aggregate: aggregate)
}

private func record(_ time: Int64, _ value: JSONValue) -> SeriesRecord {
    SeriesRecord(time: UnixTime(seconds: Double(time)), value: value)
}

@Suite("The history of a parameter")
struct HistoryTests {
    private static let day: Int64 = 86_400

    @Test("raw records are asked for in parts of 31 days, and pages are joined")
    func parts() async throws {
        let cloud = SeriesCloud { query, number in
            let start = Int64(query["start_time"] ?? "") ?? 0
            return query["start_id"] == nil
                ? SeriesCloud.page([(start, 1.5)], next: "page-\(number)") : SeriesCloud.page([(start + 1, 2)])
        }
        let records = try await cloud.records("T", between(0, 40 * Self.day))
        #expect(records == [record(0, 1.5), record(1, 2), record(31 * Self.day, 1.5), record(31 * Self.day + 1, 2)])
        #expect(cloud.sent.map { $0["start_id"] } == [nil, "page-1", nil, "page-3"])
        #expect(cloud.sent.map { $0["end_time"] } == ["2678400", "2678400", "3456000", "3456000"])
        let first = try #require(cloud.sent.first)
        #expect(first["param_name"] == "Sensor.T" && first["type"] == "float" && first["num_records"] == "200")
        #expect(first["aggregate"] == "raw" && first["aggregation_interval"] == nil && first["path"] == "full")
    }

    private static let hasZones = access("/usr/share/zoneinfo/Europe/Berlin", R_OK) == 0

    @Test(
        "parts of aggregates begin with a group, also on days when the clocks change", .enabled(if: hasZones),
        arguments: [
            (SeriesInterval.hour, 25), (.day, 3), (.week, 2), (.month, 2), (.year, 1), (.minute, 24),
        ])
    func groups(interval: SeriesInterval, requests: Int) async throws {
        let cloud = SeriesCloud { _, _ in (200, ["ts_data": []]) }
        // 10 March 2026, 12:30 in Berlin, and a month, half a year or more later.
        let start: Int64 = 1_773_142_200
        let length: Int64 =
            switch interval {
            case .hour, .minute: 24 * Self.day
            case .day: 70 * Self.day
            case .week: 150 * Self.day
            case .month: 400 * Self.day
            case .year: 1500 * Self.day
            }
        var question = between(start, start + length, every: interval)
        question.timeZone = "Europe/Berlin"
        #expect(try await cloud.records("T", question) == [])
        #expect(cloud.sent.count == requests)
        let calendar = try #require(ZonedCalendar(named: "Europe/Berlin"))
        var last = start
        for query in cloud.sent {
            let (from, to) = (Int64(query["start_time"] ?? "") ?? 0, Int64(query["end_time"] ?? "") ?? 0)
            #expect(from == last && (from == start || calendar.start(of: interval.unit, at: from) == from))
            #expect(query["timezone"] == "Europe/Berlin" && query["aggregate"] == "avg")
            #expect((query["week_start"] == "Monday") == (interval == .week))
            last = to
        }
        #expect(last == start + length)
    }

    @Test(
        "an empty range, in every form that a cloud may answer with",
        arguments: [
            #"{"ts_data":[]}"#, #"{"ts_data":null}"#, #"{"ts_data":[{"node_id":"n1","params":[]}]}"#,
            #"{"ts_data":[{"node_id":"n1","params":null}]}"#, #"{"ts_data":[{"node_id":"n1"}]}"#,
            #"{"ts_data":[{"node_id":"n1","params":[{"param_name":"Sensor.T","values":[]}]}]}"#,
            #"{"ts_data":[{"node_id":"n1","params":[{"param_name":"Sensor.T","num_records":0}],"next_id":""}]}"#,
        ])
    func empty(text: String) async throws {
        let body = try JSONValue(parsing: Array(text.utf8))
        let cloud = SeriesCloud { _, _ in (200, body) }
        #expect(try await cloud.records("T", between(0, 100)) == [])
        #expect(cloud.sent.count == 1)
    }

    @Test(
        "an answer of another form is an error",
        arguments: [
            #"{}"#, #"{"ts_data":{}}"#, #"{"ts_data":[{"params":[{"values":[{"ts":"x","val":1}]}]}]}"#,
            #"{"ts_data":[{"params":[{"values":[{"ts":5}]}]}]}"#,
            #"{"ts_data":[{"params":[{"values":[{"ts":5,"val":1},{"ts":4,"val":1}]}]}]}"#,
        ])
    func malformed(text: String) async throws {
        let body = try JSONValue(parsing: Array(text.utf8))
        let cloud = SeriesCloud { _, _ in (200, body) }
        let error = await kitError { try await cloud.records("T", between(0, 100)) }
        #expect(error?.account?.code == .malformedAnswer)
    }

    @Test("a cloud that repeats a page's token, or sends pages for ever, is an error")
    func endless() async throws {
        let repeating = SeriesCloud { _, number in SeriesCloud.page([(Int64(number), 1)], next: "same") }
        let error = await kitError { try await repeating.records("T", between(0, 100)) }
        #expect(error?.account?.code == .malformedAnswer && error?.message.contains("page is repeated") == true)
        let standing = SeriesCloud { _, number in SeriesCloud.page([(5, 1)], next: "token-\(number)") }
        #expect(await kitError { try await standing.records("T", between(0, 100)) }?.account?.code == .malformedAnswer)
        #expect(standing.sent.count < 40)
        let empty = SeriesCloud { _, number in SeriesCloud.page([], next: "token-\(number)") }
        #expect(await kitError { try await empty.records("T", between(0, 100)) }?.account?.code == .malformedAnswer)
    }

    @Test("a token that has expired: the question is asked again from the last record on")
    func expiry() async throws {
        let cloud = SeriesCloud { query, number in
            switch number {
            case 1: SeriesCloud.page([(10, 1), (20, 2)], next: "a")
            case 2: SeriesCloud.refusal
            case 3: SeriesCloud.page([(20, 2), (30, 3)], next: "b")
            default: SeriesCloud.page([(40, 4)])
            }
        }
        let records = try await cloud.records("T", between(0, 100))
        #expect(records == [record(10, 1), record(20, 2), record(30, 3), record(40, 4)])
        #expect(cloud.sent.map { $0["start_time"] } == ["0", "0", "20", "20"])
        #expect(cloud.sent.map { $0["start_id"] } == [nil, "a", nil, "b"])
        // A cloud that never accepts a token is asked once more, not for ever.
        let never = SeriesCloud { query, _ in
            query["start_id"] == nil ? SeriesCloud.page([(10, 1)], next: "a") : SeriesCloud.refusal
        }
        #expect(await kitError { try await never.records("T", between(0, 100)) }?.account?.code == .rejected)
        #expect(never.sent.count == 4)
    }

    @Test("the time before now is by the cloud's clock, and begins with a group")
    func clock() async throws {
        let cloud = SeriesCloud { _, _ in (200, ["ts_data": []]) }
        _ = try await cloud.records("T", HistoryQuestion(.last(.seconds(600))))
        #expect(cloud.sent[0]["start_time"] == "1799995801" && cloud.sent[0]["end_time"] == "1799996401")
        _ = try await cloud.records("T", HistoryQuestion(.last(.seconds(600)), every: .hour))
        // 06:00 UTC, before 06:50.
        #expect(cloud.sent[1]["start_time"] == "1799992800")
    }

    @Test(
        "a node that the cloud has just listed has the cloud's time; otherwise the cloud is asked for it",
        arguments: [
            (-31, 1, 1_799_996_401), (-30, 0, 1_800_000_001), (0, 0, 1_800_000_001), (30, 0, 1_800_000_031),
            (31, 1, 1_799_996_401),
        ] as [(Double, Int, Int)])
    func listedClock(ahead: Double, asked: Int, end: Int) async throws {
        let cloud = SeriesCloud { _, _ in (200, ["ts_data": []]) }
        var node = try SeriesCloud.node()
        node.connectivity = Node.Connectivity(isConnected: true, asOf: UnixTime(seconds: 1_800_000_000 + ahead))
        let path = ParameterPath(component: "Sensor", parameter: "T")
        let series = try await cloud.kit.history(of: path, at: node, HistoryQuestion(.last(.seconds(600))))
        #expect(cloud.askedStates == asked)
        #expect(Int(series.end.seconds) == end)
    }

    @Test("questions without an answer are refused before anything is sent")
    func refusals() async throws {
        let cloud = SeriesCloud { _, _ in (200, ["ts_data": []]) }
        func reason(_ parameter: String, _ question: HistoryQuestion) async -> String? {
            await kitError { try await cloud.series(parameter, question) }?.reason
        }
        #expect(await reason("T", between(10, 10)) == "reversed_range")
        #expect(await reason("T", between(20, 10)) == "reversed_range")
        // The cloud's time is 1799996400.
        let future = HistoryQuestion(.between(UnixTime(seconds: 1_800_000_000), nil))
        #expect(await kitError { try await cloud.series("T", future) }?.message.contains("in the future") == true)
        #expect(
            await kitError { try await cloud.series("", between(0, 10)) }?.message.contains("Name a parameter") == true)
        #expect(await reason("Plain", between(0, 10)) == "no_series")
        #expect(await reason("Missing", between(0, 10)) == "no_such_parameter")
        #expect(await reason("Open", between(0, 10, every: .day, .avg)) == "wrong_type")
        #expect(await reason("State", between(0, 10, every: .day, .max)) == "wrong_type")
        #expect(await reason("T", between(0, 10, every: .day, .raw)) == "usage")
        #expect(await reason("T", between(0, 10, .max)) == "usage")
        var question = between(0, 10)
        question.resetsOnNegative = true
        #expect(await reason("T", question) == "usage")
        question.isDifferential = true
        #expect(await reason("State", question) == "wrong_type")
        question = between(0, 10)
        question.timeZone = "Middle/Earth"
        #expect(await reason("T", question) == "unknown_time_zone")
        question = between(0, 10)
        question.limit = 0
        #expect(await reason("T", question) == "usage")
        #expect(cloud.sent.isEmpty)
        let message = await kitError { try await cloud.series("Plain", between(0, 10)) }?.message ?? ""
        #expect(message.contains("PROP_FLAG_TIME_SERIES") && message.contains("PROP_FLAG_SIMPLE_TIME_SERIES"))
    }

    @Test("a limit ends the questions, too")
    func limit() async throws {
        let cloud = SeriesCloud { _, number in
            SeriesCloud.page((0..<10).map { (Int64(number) * 10 + $0, 1) }, next: "token-\(number)")
        }
        var question = between(0, 1_000_000)
        question.limit = 15
        #expect(try await cloud.records("T", question).count == 15)
        #expect(cloud.sent.count == 2)
    }

    @Test("switches have counts and last values; a month's last value is that of its last day")
    func switches() async throws {
        let cloud = SeriesCloud { query, _ in
            guard query["aggregation_interval"] == "day" else { return SeriesCloud.page([(0, 3)]) }
            let values: [(Int64, JSONValue)] = [(0, true), (Self.day, false), (31 * Self.day, true)]
            let (start, end) = (Int64(query["start_time"] ?? "") ?? 0, Int64(query["end_time"] ?? "") ?? 0)
            return SeriesCloud.page(values.filter { (start..<end).contains($0.0) })
        }
        let monthly = try await cloud.records("Open", between(0, 40 * Self.day, every: .month))
        #expect(monthly.prefix(2) == [record(0, false), record(31 * Self.day, true)])
        #expect(cloud.sent[0]["aggregate"] == "latest" && cloud.sent[0]["type"] == "bool")
        #expect(try await cloud.records("Open", between(0, 100, every: .hour, .count)) == [record(0, 3)])
    }

    @Test("a simple series: differences are computed here, and a gap stays a gap")
    func simpleDifferences() async throws {
        let values: [(Int64, JSONValue)] = [(0, 5), (10, 8), (20, 1.5), (3 * Self.day, 4)]
        let cloud = SeriesCloud { _, _ in SeriesCloud.page(values) }
        var question = between(0, 4 * Self.day)
        question.isDifferential = true
        #expect(
            try await cloud.records("H", question)
                == [record(10, 3), record(20, -6.5), record(3 * Self.day, 2.5)])
        question.resetsOnNegative = true
        #expect(try await cloud.records("H", question)[1] == record(20, 1.5))
        question.interval = .day
        question.aggregate = .sum
        #expect(try await cloud.records("H", question) == [record(0, 4.5), record(3 * Self.day, 2.5)])
        #expect(cloud.sent.allSatisfy { $0["path"] == "simple" && $0["differential"] == nil })
        #expect(cloud.sent.allSatisfy { $0["aggregate"] == nil && $0["query_type"] == nil })
    }

    private static func window(_ day: Int64, _ value: JSONValue) -> JSONValue {
        [
            "date": .string("1970-01-0\(day + 1)"), "window_type": "daily", "count": 1, "average": value,
            "window_start": .integer(day * Self.day), "window_end": .integer((day + 1) * Self.day - 1),
        ]
    }

    @Test("a simple series: whole windows are the cloud's, the rest is computed of raw records")
    func windows() async throws {
        let cloud = SeriesCloud { query, number in
            guard query["query_type"] == "aggregates" else {
                let start = Int64(query["start_time"] ?? "") ?? 0
                return SeriesCloud.page([(start, 10), (start + 1, 20)])
            }
            return query["start_id"] == nil
                ? (
                    200,
                    [
                        "ts_data": [
                            ["node_id": "n1", "aggregates": [Self.window(1, 1.5)], "next_id": "daily#1970-01-03"]
                        ]
                    ]
                ) : (200, ["ts_data": [["node_id": "n1", "aggregates": [Self.window(2, 2.5)]]]])
        }
        let records = try await cloud.records("H", between(Self.day / 2, 3 * Self.day + 60, every: .day))
        #expect(
            records == [record(0, 15.0), record(Self.day, 1.5), record(2 * Self.day, 2.5), record(3 * Self.day, 15.0)])
        #expect(cloud.sent.map { $0["start_date"] } == [nil, "1970-01-02", "1970-01-02", nil])
        #expect(cloud.sent.map { $0["end_date"] } == [nil, "1970-01-03", "1970-01-03", nil])
        #expect(cloud.sent[1]["window"] == "daily" && cloud.sent[3]["start_time"] == "\(3 * Self.day)")
    }

    @Test("a backend without windows, with another zone's, or with differences: all is computed of raw records")
    func withoutWindows() async throws {
        let shifted: JSONValue = [
            "date": "1970-01-01", "average": 1, "window_start": 3600, "window_end": .integer(Self.day + 3599),
        ]
        let cumulative: JSONValue = [
            "date": "1970-01-01", "average": 1, "window_start": 0, "window_end": .integer(Self.day - 1),
            "cumulative": true,
        ]
        let elsewhere: JSONValue = [
            "date": "1969-12-31", "average": 1, "window_start": 0, "window_end": .integer(Self.day - 1),
        ]
        let answers: [(status: Int, body: JSONValue)] = [
            SeriesCloud.refusal, (200, ["ts_data": [["aggregates": [shifted]]]]),
            (200, ["ts_data": [["aggregates": [cumulative]]]]), (200, ["ts_data": [["aggregates": [elsewhere]]]]),
            (200, ["ts_data": [["aggregates": [["date": "x"]]]]]),
        ]
        for answer in answers {
            let cloud = SeriesCloud { query, _ in
                query["query_type"] == nil ? SeriesCloud.page([(5, 10), (6, 20)]) : answer
            }
            #expect(try await cloud.records("H", between(0, Self.day, every: .day)) == [record(0, 15.0)])
            #expect(cloud.sent.count == 2)
        }
    }

    @Test("new records are passed on as they arrive, each once")
    func follow() async throws {
        let cloud = SeriesCloud { query, number in
            let start = Int64(query["start_time"] ?? "") ?? 0
            return number < 3 ? SeriesCloud.page([(start, .integer(Int64(number)))]) : SeriesCloud.page([])
        }
        let series = try await cloud.series("Meter", between(0, 100))
        var seen: [SeriesRecord] = []
        try await cloud.kit.followHistory(of: [series], after: [UnixTime(seconds: 50)], for: .seconds(5)) { _, record in
            seen.append(record)
            return seen.count < 2
        }
        #expect(seen == [record(51, 1), record(51 + 31 * Self.day, 2)])
    }
}
