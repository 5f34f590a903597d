// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import Synchronization
import TestSupport
import Testing

@testable import CloudSimulator

/// The calls for time series: what nodes publish, what is returned, and what is refused.
@Suite("The cloud's time series")
struct SeriesTests {
    private struct Scene {
        let cloud: TestCloud
        let token: String

        init(configure: (inout CloudAPI.Options) -> Void = { _ in }) throws {
            cloud = try TestCloud(isForgetful: true, nodes: ["own", "foreign"], configure: configure)
            token = try cloud.signIn().access
            try cloud.map("own", token: token)
        }

        func get(_ query: String, simple: Bool = false) -> Response {
            let name = simple ? "simple_tsdata" : "tsdata"
            return cloud.send(
                "GET", "/v1/user/nodes/\(name)?node_id=own&param_name=Sensor.Temperature&\(query)", token: token)
        }

        func values(_ query: String, simple: Bool = false) -> [JSONValue] {
            let response = get(query, simple: simple)
            let values = response.body["ts_data"]?.array?.first?["params"]?.array?.first?["values"]?.array
            return values ?? [.object([.init("refused", response.body)])]
        }

        func add(_ records: [(Int64, JSONValue)], type: String = "float", kind: String = "tsdata") {
            for (time, value) in records {
                let record: JSONValue = ["t": .integer(time), "v": value]
                let payload: JSONValue =
                    kind == "tsdata"
                    ? [
                        "ts_data_version": "2021-09-13",
                        "ts_data": [
                            ["name": "Sensor.Temperature", "dt": .string(type), "records": [record]]
                        ],
                    ]
                    : ["name": "Sensor.Temperature", "dt": .string(type), "t": .integer(time), "v": value]
                let rule = kind == "tsdata" ? "esp_ts_ingest" : "esp_simple_ts_ingest"
                cloud.api.receive(topic: "$aws/rules/\(rule)/node/own/\(kind)", payload: payload.serialized())
            }
        }
    }

    /// The clock of ``TestCloud``: 14 November 2023, 22:13:20 UTC.
    private static let now: Int64 = 1_700_000_000

    private static func value(_ time: Int64, _ value: JSONValue) -> JSONValue { ["ts": .integer(time), "val": value] }

    @Test("raw records in a range, of which the end is excluded, on both topics")
    func raw() throws {
        let scene = try Scene()
        let times = [Self.now - 30, Self.now - 20, Self.now - 10]
        for kind in ["tsdata", "simple_tsdata"] {
            // Not in order, and one of them twice: the later message counts.
            scene.add([(times[2], 3.5), (times[0], 1), (times[1], 9.5), (times[1], 2.5)], kind: kind)
            let query = "type=float&start_time=\(times[0])&end_time=\(times[2])"
            let expected = [Self.value(times[0], 1), Self.value(times[1], 2.5)]
            #expect(scene.values(query, simple: kind != "tsdata") == expected)
        }
        #expect(scene.values("") == zip(times, [1, 2.5, 3.5]).map { Self.value($0, $1) })
        // A value of another type is in another series.
        #expect(scene.values("type=int") == [])
    }

    @Test("messages that firmware never sends are ignored")
    func invalidMessages() throws {
        let scene = try Scene()
        for payload in [
            #"{}"#, #"{"ts_data":{}}"#, #"{"ts_data":[{"name":"Sensor","dt":"float","records":[{"t":1,"v":1}]}]}"#,
            #"{"ts_data":[{"name":"Sensor.T","dt":"double","records":[{"t":1,"v":1}]}]}"#,
            #"{"ts_data":[{"name":"Sensor.T","dt":"float","records":[{"t":1,"v":"1"}]}]}"#,
            #"{"ts_data":[{"name":"Sensor.T","dt":"float","records":[{"t":0,"v":1}]}]}"#,
            #"{"ts_data":[{"name":"Sensor.T","dt":"float","records":[{"t":9e30,"v":1}]}]}"#,
            #"{"ts_data":[{"name":"Sensor.T","dt":"object","records":[{"t":1,"v":{}}]}]}"#,
        ] {
            scene.cloud.api.receive(topic: "node/own/tsdata", payload: Array(payload.utf8))
        }
        #expect(scene.cloud.api.series.withLock(\.count) == 0)
    }

    @Test(
        "requests that the cloud refuses",
        arguments: [
            "aggregate=avg", "aggregate=median&aggregation_interval=day", "aggregation_interval=day",
            "aggregate=raw&aggregation_interval=day", "aggregate=avg&aggregation_interval=fortnight&num_intervals=1",
            "aggregate=latest&aggregation_interval=month&num_intervals=1", "num_intervals=3", "type=text",
            "type=object",
            "aggregate=avg&aggregation_interval=day&num_intervals=0",
            "aggregate=avg&aggregation_interval=day&num_intervals=32",
            "aggregate=avg&aggregation_interval=day&num_intervals=1&start_time=1&end_time=2",
            "aggregate=avg&aggregation_interval=day", "start_time=20&end_time=10", "start_time=20", "end_time=20",
            "aggregate=avg&aggregation_interval=day&start_time=20&end_time=20",
            "aggregate=avg&aggregation_interval=hour&start_time=0&end_time=86401",
            "aggregate=avg&aggregation_interval=minute&start_time=0&end_time=86401",
            "aggregate=avg&aggregation_interval=day&start_time=0&end_time=2678401",
            "aggregate=avg&aggregation_interval=week&start_time=0&end_time=7257601",
            "aggregate=avg&aggregation_interval=month&start_time=0&end_time=31536001",
            "aggregate=avg&aggregation_interval=year&start_time=0&end_time=157766401",
            "start_time=0&end_time=2678401", "start_time=1.5&end_time=2", "start_time=a&end_time=2",
            "aggregate=avg&aggregation_interval=day&num_intervals=1&timezone=Mars",
            "aggregate=avg&aggregation_interval=day&num_intervals=1&timezone=../../etc/passwd",
            "aggregate=avg&aggregation_interval=day&num_intervals=1&week_start=Monday",
            "aggregate=avg&aggregation_interval=week&num_intervals=1&week_start=Someday",
            "num_records=0", "num_records=201", "start_id=unknown", "type=bool&differential=true",
            "reset_on_negative=true", "differential=yes", "resultCount=3",
            "type=string&aggregate=avg&aggregation_interval=day&num_intervals=1",
        ])
    func refusals(query: String) throws {
        #expect(try Scene().get(query).status == 400)
    }

    @Test("a parameter is named once, and the node is the user's")
    func names() throws {
        let scene = try Scene()
        for query in ["node_id=own", "param_name=A.B", "node_id=own&param_name=A", "node_id=own&param_name=A.B,A.C"] {
            #expect(scene.cloud.send("GET", "/v1/user/nodes/tsdata?\(query)", token: scene.token).status == 400)
        }
        let foreign = "/v1/user/nodes/tsdata?node_id=foreign&param_name=A.B"
        #expect(scene.cloud.send("GET", foreign, token: scene.token).errorCode == 100010)
        #expect(scene.cloud.send("GET", foreign).status == 401)
    }

    @Test("pages: a token works five times within an hour, and only for its own query")
    func pages() throws {
        let scene = try Scene { $0.accessLifetime = .seconds(1_000_000) }
        let times = (0..<5).map { Self.now - 100 + Int64($0) }
        scene.add(times.map { ($0, .integer($0)) }, type: "int")
        let query = "type=int&num_records=2"
        func next(_ query: String) -> String? {
            scene.get(query).body["ts_data"]?.array?.first?["next_id"]?.string
        }
        let first = try #require(next(query))
        let second = try #require(next("\(query)&start_id=\(first)"))
        #expect(scene.values("\(query)&start_id=\(second)") == [Self.value(times[4], .integer(times[4]))])
        #expect(next("\(query)&start_id=\(second)") == nil)
        // The size of a page may change; nothing else may.
        #expect(scene.values("type=int&num_records=3&start_id=\(first)").count == 3)
        #expect(scene.get("type=float&num_records=2&start_id=\(first)").status == 400)
        #expect(scene.get("type=int&desc_order=true&start_id=\(first)").status == 400)
        for _ in 0..<1 { #expect(scene.get("\(query)&start_id=\(first)").status == 200) }
        #expect(scene.get("\(query)&start_id=\(first)").status == 400)
        scene.cloud.pass(.seconds(3600))
        #expect(scene.get("\(query)&start_id=\(second)").status == 400)
        #expect(
            scene.values("type=int&desc_order=true&num_records=2").map { $0["val"]?.integer } == [times[4], times[3]])
    }

    @Test("retention, a limit of records, and records with an end of their own")
    func retention() throws {
        let scene = try Scene {
            $0.accessLifetime = .seconds(1_000_000)
            $0.seriesLimit = 3
            $0.seriesRetention = .seconds(1000)
        }
        scene.add([(Self.now - 2000, 0)])
        #expect(scene.values("start_time=0&end_time=2678400") == [])
        #expect(scene.values("") == [])
        scene.add((0..<5).map { (Self.now - 10 + Int64($0), .integer(Int64($0))) })
        #expect(scene.values("").map { $0["val"]?.integer } == [2, 3, 4])
        let line =
            #"{"node_id":"own","kind":"simple_tsdata","name":"Sensor.Temperature","dt":"int","t":\#(Self.now),"v":1,"d":1}"#
        #expect(scene.cloud.api.addSeries(line: line.utf8))
        let query = "type=int&start_time=\(Self.now - 1)&end_time=\(Self.now + 1)"
        #expect(scene.values(query, simple: true).count == 1)
        scene.cloud.pass(.seconds(86_400))
        #expect(scene.values(query, simple: true).count == 0)
        for line in ["", "[]", #"{"node_id":"own","name":"A.B","dt":"int","records":[{"t":1,"v":"x"}]}"#] {
            #expect(!scene.cloud.api.addSeries(line: line.utf8))
        }
    }

    private static let hasZones = access("/usr/share/zoneinfo/Europe/Berlin", R_OK) == 0

    @Test("aggregates by the calendar of a zone, with a day of 25 hours", .enabled(if: hasZones))
    func aggregates() throws {
        let scene = try Scene()
        // 28 October 2023, 22:00 UTC: midnight in Berlin, before the clocks go back.
        let midnight: Int64 = 1_698_530_400
        scene.add((0..<30).map { (midnight + $0 * 3600, .integer($0)) }, type: "int")
        func query(_ aggregate: String, _ unit: String, _ end: Int64) -> String {
            "type=int&aggregate=\(aggregate)&aggregation_interval=\(unit)&start_time=\(midnight)&end_time=\(end)"
                + "&timezone=europe/BERLIN"
        }
        let end = midnight + 30 * 3600
        #expect(
            scene.values(query("count", "day", end))
                == [Self.value(midnight, 25), Self.value(midnight + 25 * 3600, 5)])
        #expect(scene.values(query("sum", "day", end))[0] == Self.value(midnight, 300))
        #expect(scene.values(query("avg", "day", end))[0] == Self.value(midnight, 12.0))
        #expect(scene.values(query("latest", "day", end)).map { $0["val"] } == [24, 29])
        #expect(scene.values(query("min", "month", end)) == [Self.value(1_696_111_200, 0)])
        #expect(scene.values(query("max", "hour", midnight + 4 * 3600)).map { $0["val"] } == [0, 1, 2, 3])
        #expect(
            scene.values(query("count", "week", end) + "&week_start=sunday")
                == [Self.value(midnight, 30)])
        #expect(scene.values(query("count", "week", end)).count == 2)
    }

    @Test("differences, and a meter that starts again at zero")
    func differences() throws {
        let scene = try Scene()
        let start = Self.now - 100
        scene.add([(start, 5), (start + 1, 8), (start + 2, 2), (start + 3, 4.5)])
        let range = "start_time=\(start + 1)&end_time=\(start + 10)&differential=true"
        #expect(scene.values(range).map { $0["val"]?.double } == [3, -6, 2.5])
        #expect(scene.values("\(range)&reset_on_negative=true").map { $0["val"]?.double } == [3, 2, 2.5])
        let sum = "\(range)&reset_on_negative=true&aggregate=sum&aggregation_interval=year"
        #expect(scene.values(sum).map { $0["val"]?.double } == [7.5])
        #expect(scene.values("start_time=\(start)&end_time=\(start + 10)&differential=true").count == 3)
    }

    @Test("aggregates of simple series: whole windows in the node's own zone", .enabled(if: hasZones))
    func simpleAggregates() throws {
        let scene = try Scene()
        scene.cloud.api.receive(
            topic: "node/own/params/local", payload: Array(#"{"Time":{"TZ":"Europe/Berlin"}}"#.utf8))
        let midnight: Int64 = 1_698_530_400
        scene.add((0..<30).map { (midnight + $0 * 3600, .integer($0)) }, type: "int", kind: "simple_tsdata")
        func aggregates(_ query: String) -> JSONValue? {
            scene.get("query_type=aggregates&type=int&\(query)", simple: true).body["ts_data"]?.array?.first
        }
        let days = aggregates("window=daily&start_date=2023-10-29&end_date=2023-10-30")
        let first = try #require(days?["aggregates"]?.array?.first)
        #expect(first["date"] == "2023-10-29" && first["count"] == 25 && first["average"] == 12.0)
        #expect(first["window_start"] == .integer(midnight))
        #expect(first["window_end"] == .integer(midnight + 25 * 3600 - 1))
        #expect(first["tz"] == "Europe/Berlin" && first["status"] == "completed" && first["last_value"] == 24.0)
        #expect(days?["aggregates"]?.array?.count == 2 && days?["next_id"] == nil)
        let hours = "window=hourly&date=2023-10-29&num_records=10"
        #expect(aggregates(hours)?["next_id"]?.string?.hasPrefix("hourly#2023-10-29T") == true)
        #expect(aggregates("window=monthly&date=2023-10-01")?["aggregates"]?.array?.first?["count"] == 30)
        for query in [
            "window=daily&start_date=2023-10-29", "start_date=2023-10-29&end_date=2023-10-30", "window=yearly",
            "window=daily&date=2023-10-29T03", "window=daily&date=2023-10-29&start_date=2023-10-29&end_date=2023-10-29",
            "window=daily&start_date=2023-10-30&end_date=2023-10-29", "window=daily&date=yesterday", "num_records=101",
        ] {
            #expect(scene.get("query_type=aggregates&type=int&\(query)", simple: true).status == 400, "\(query)")
        }
        #expect(scene.get("query_type=aggregates&type=string&window=daily", simple: true).status == 400)
        let older = try Scene { $0.hasSimpleAggregates = false }
        #expect(older.get("query_type=aggregates&type=int&window=daily", simple: true).status == 400)
    }
}
