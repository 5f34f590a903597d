// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON
import RainKit
import TestSupport
import Testing

/// Time series from the board to the terminal: firmware-sim reports them, cloud-sim keeps them, `rainctl node history` shows them.
@Suite("rainctl node history")
struct NodeHistoryTests {
    /// 1 January 2025, 00:00 in Berlin.
    private static let start: Int64 = 1_735_686_000
    /// 1 January 2026, 00:00 in Berlin.
    private static let end: Int64 = 1_767_222_000

    /// A year of a temperature and a meter every 10 minutes, as a file for cloud-sim. The meter starts again at zero now and then, and a day
    /// is missing.
    private static func year(in folder: TemporaryFolder) throws -> String {
        var random: UInt64 = 35
        func next(_ count: UInt64) -> Int64 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int64(random >> 33 % count)
        }
        var (temperatures, meter): ([String], [String]) = ([], [])
        var reading: Int64 = 1000
        for time in stride(from: start - 600, to: end, by: 600) {
            let day = (time - start) / 86_400
            if day == 100 { continue }
            let swing = min(day, 365 - day)
            temperatures.append("{\"t\":\(time),\"v\":\(Double(swing * 10 + next(2000) - 800) / 100)}")
            reading = next(1000) == 0 ? next(4) : reading + next(6)
            meter.append("{\"t\":\(time),\"v\":\(reading)}")
        }
        var lines: [String] = []
        let series = [
            ("tsdata", "Sensor.Temperature", "float", temperatures), ("tsdata", "Sensor.Energy", "int", meter),
            ("simple_tsdata", "Sensor.Humidity", "float", temperatures),
        ]
        for (kind, name, type, records) in series {
            for first in stride(from: 0, to: records.count, by: 5000) {
                let part = records[first..<min(first + 5000, records.count)].joined(separator: ",")
                lines.append(
                    "{\"node_id\":\"nodelight\",\"kind\":\"\(kind)\",\"name\":\"\(name)\",\"dt\":\"\(type)\",\"records\":[\(part)]}"
                )
            }
        }
        try folder.write(lines.joined(separator: "\n") + "\n", to: "series.ndjson")
        return folder.file("series.ndjson")
    }

    private struct Question {
        var name: String
        var every: String?
        var aggregate = "avg"
        var differential = false
        var reset = false

        var kind: String { name == "Sensor.Humidity" ? "simple_tsdata" : "tsdata" }

        var options: [String] {
            (every.map { ["--every", $0, "--aggregate", aggregate] } ?? []) + (differential ? ["--differential"] : [])
                + (reset ? ["--reset-on-negative"] : [])
        }

        func json(_ csv: String) -> JSONValue {
            [
                "name": .string(name), "kind": .string(kind), "aggregate": .string(aggregate),
                "every": every.map { .string($0) } ?? .null, "differential": .bool(differential), "reset": .bool(reset),
                "from": .integer(start), "to": .integer(end), "csv": .string(csv),
            ]
        }
    }

    @Test("a year of records, by hour, day, week and month in Berlin, equals what pandas computes")
    func year() async throws {
        let python = try await ForeignClient.pandas.path()
        try await withTemporaryFolder { folder in
            let file = try Self.year(in: folder)
            let options = ["--series", file, "--series-retention", "36500"]
            try await OnlineBoards.with(options: ["--sensor", "3600"], cloud: options) { scene in
                var questions = ["raw", "hour", "day", "week", "month"].flatMap { unit -> [Question] in
                    let every = unit == "raw" ? Optional.none : unit
                    return [
                        Question(name: "Sensor.Temperature", every: every),
                        Question(
                            name: "Sensor.Energy", every: every, aggregate: "sum", differential: true, reset: true),
                    ]
                }
                questions += ["min", "max", "count"].map {
                    Question(name: "Sensor.Temperature", every: "day", aggregate: $0)
                }
                questions += ["day", "month"].map {
                    Question(name: "Sensor.Temperature", every: $0, aggregate: "latest")
                }
                questions.append(
                    Question(name: "Sensor.Energy", every: "year", aggregate: "min", differential: true))
                let simple = ["hour", "day", "week", "month"].flatMap { unit in
                    [Question(name: "Sensor.Humidity", every: unit)]
                }
                var lines = ""
                func ask(_ question: Question) async throws {
                    let outcome = try await scene.maker.rainctl(
                        [
                            "node", "history", "nodelight", question.name, "--from", "2025-01-01", "--to", "2026-01-01",
                            "--timezone", "Europe/Berlin", "--csv",
                        ] + question.options, within: .waitLimit * 2)
                    #expect(outcome.status == 0, "\(outcome.standardError)")
                    lines += String(decoding: question.json(outcome.standardOutput).serialized(), as: UTF8.self) + "\n"
                }
                for question in questions { try await ask(question) }
                // The node's own zone is UTC at first: then the results of a simple series are computed by rainctl.
                for question in simple { try await ask(question) }
                try await scene.done("node", "params", "set", "nodelight", "Time.TZ=Europe/Berlin")
                #expect(try await scene.value("Time.TZ", becomes: "Europe/Berlin"))
                for question in simple { try await ask(question) }
                let verdict = try await run(
                    python,
                    [
                        Repository.path("Tests/EndToEnd/ForeignClients/Clients/series_reference.py"), file,
                        "Europe/Berlin",
                    ], input: .text(lines), within: .waitLimit)
                let words = verdict.standardOutput.split(separator: "\n")
                #expect(words.count == 1, "\(verdict.standardOutput)\(verdict.standardError)")
                let count = words.last?.split(separator: " ").last.flatMap { Int($0) } ?? 0
                #expect(count > 140_000, "\(verdict.standardOutput)\(verdict.standardError)")
            }
        }
    }

    @Test("a board reports on both topics, with and without basic ingest", arguments: [[], ["--no-basic-ingest"]])
    func board(options: [String]) async throws {
        try await OnlineBoards.with(options: ["--sensor", "0.5"] + options) { scene in
            for parameter in ["Sensor.Temperature", "Sensor.Humidity", "Sensor.Open", "Sensor.State"] {
                // The first record is of the connection, before this question.
                let text = try await scene.done("node", "history", "nodelight", parameter, "--json").standardOutput
                let records = try JSONValue(parsing: Array(text.utf8))["series"]?.array?.first?["records"]?.array
                #expect(records?.isEmpty == false, "\(text)")
            }
            let table = try await scene.done("node", "history", "nodelight", "Sensor.Temperature", "Sensor.Open")
            #expect(table.standardOutput.contains("  Light Sensor.Temperature  20"))
            #expect(table.standardOutput.contains("  Light Sensor.Open  false"))
            let without = try await scene.rainctl("node", "history", "nodelight", "Sensor.Battery", "--json")
            #expect(without.status == 65 && without.standardOutput.contains("\"reason\": \"no_series\""))
            let lines = try await scene.done("node", "history", "nodelight", "Sensor.State", "--influx")
            #expect(lines.standardOutput.hasPrefix("Sensor,node=nodelight,node_name=Light State=\"closed\" 1"))
        }
    }

    @Test("a terminal gets a plot that fits, and a table of values that are not numbers")
    func plot() async throws {
        let line = (0..<1000).map { "{\"t\":\(1_735_686_000 + $0 * 600),\"v\":\(Double($0 % 144) / 4)}" }.joined(
            separator: ",")
        try await withTemporaryFolder { folder in
            try folder.write(
                "{\"node_id\":\"nodelight\",\"name\":\"Sensor.Temperature\",\"dt\":\"float\",\"records\":[\(line)]}\n",
                to: "series.ndjson")
            let options = ["--series", folder.file("series.ndjson"), "--series-retention", "36500"]
            try await OnlineBoards.with(options: ["--sensor", "3600"], cloud: options) { scene in
                func screen(_ arguments: [String], until text: String) async throws -> String {
                    let terminal = try await TmuxTerminal.start(
                        try Executables.path("rainctl"), arguments,
                        environment: scene.maker.environment.merging(["LANG": "C.UTF-8", "TERM": "xterm"]) { $1 },
                        columns: 60, rows: 30, in: folder)
                    try await terminal.shows(text)
                    let screen = try await terminal.screen()
                    try await terminal.end()
                    return screen
                }
                let range = ["--from", "2025-01-01", "--to", "2025-01-04", "--timezone", "Europe/Berlin"]
                let plot = try await screen(
                    ["node", "history", "nodelight", "Sensor.Temperature"] + range, until: "432 records")
                #expect(plot.contains("┤") && plot.contains("2 Jan") && plot.contains("min 0  avg 17.875  max 35.75"))
                let table = try await screen(["node", "history", "nodelight", "Sensor.Open"], until: "ended: 0")
                #expect(table.contains("  false") && !table.contains("┤"), "\(table)")
            }
        }
    }

    @Test("100,000 records become a plot within a second")
    func manyRecords() {
        let duration = ContinuousClock().measure {
            var columns = HistoryColumns(
                from: UnixTime(seconds: 0), to: UnixTime(seconds: 100_000), columns: HistoryPlot.columns(forWidth: 200))
            for second in 0..<100_000 {
                columns.add(SeriesRecord(time: UnixTime(seconds: Double(second)), value: .integer(Int64(second % 997))))
            }
            let plot = HistoryPlot([.init(name: "x", columns: columns)], timeZone: "UTC", width: 200)
            #expect(plot.text(.init(isUTF8: true, hasColour: true)).contains("100000 records"))
        }
        #expect(duration < Timings.limit(.seconds(1)), "\(duration)")
    }

    @Test("a board without a clock reports values, but nothing for series")
    func withoutClock() async throws {
        try await OnlineBoards.with(options: ["--sensor", "0.5", "--no-clock"]) { scene in
            #expect(try await scene.value("Sensor.Battery", becomes: "98"))
            let text = try await scene.done("node", "history", "nodelight", "Sensor.Temperature").standardOutput
            #expect(text == "")
        }
    }

    @Test("--follow shows records as they arrive, each once, as lines of JSON")
    func follow() async throws {
        try await OnlineBoards.with(options: ["--sensor", "1"]) { scene in
            let child = try await scene.maker.start([
                "node", "history", "nodelight", "Sensor.Energy", "--follow", "--json", "--timeout", "240s",
            ])
            defer { child.kill() }
            for value in [0, 7, 14, 21, 28] { try await child.output(containing: "\"value\":\(value)}") }
            let lines = child.standardOutput.split(separator: "\n")
            #expect(Set(lines).count == lines.count, "\(lines)")
        }
    }

    @Test("questions that cannot be answered")
    func refusals() async throws {
        try await OnlineBoards.with(options: ["--sensor", "1"]) { scene in
            func ask(_ options: String...) async throws -> Maker.Outcome {
                try await scene.maker.rainctl(["node", "history", "nodelight"] + options + ["--json"])
            }
            for (options, reason) in [
                (["Sensor.Temperature", "--from", "2026-01-02", "--to", "2026-01-01"], "reversed_range"),
                (["Sensor.Temperature", "--timezone", "Middle/Earth"], "unknown_time_zone"),
                (["Sensor.Open", "--every", "day", "--aggregate", "avg"], "wrong_type"),
                (["Sensor.Colour"], "no_such_parameter"), (["Light.Power"], "no_series"),
            ] {
                let outcome = try await scene.maker.rainctl(["node", "history", "nodelight"] + options + ["--json"])
                #expect(outcome.standardOutput.contains("\"reason\": \"\(reason)\""), "\(outcome)")
            }
            #expect(try await ask("Sensor.Temperature", "--follow", "--every", "day").status == 64)
            #expect(try await ask("Sensor.Temperature", "--from", "yesterday").status == 64)
            #expect(try await ask("Sensor.Temperature", "--since", "1h", "--from", "2026-01-01").status == 64)
        }
    }
}

/// The picture in a browser.
@Suite("rainctl node history --svg", .serialized, .browser)
struct NodeHistoryPictureTests {
    @Test("axes, labels and lines of several parameters, without an overlap")
    func picture() async throws {
        try await withTemporaryFolder { folder in
            let line = (0..<1000).map { "{\"t\":\(1_735_686_000 + $0 * 600),\"v\":\(Double($0 % 144) / 4)}" }
                .joined(separator: ",")
            try folder.write(
                """
                {"node_id":"nodelight","name":"Sensor.Temperature","dt":"float","records":[\(line)]}
                {"node_id":"nodelight","kind":"simple_tsdata","name":"Sensor.Humidity","dt":"float","records":[\(line)]}

                """, to: "series.ndjson")
            let options = ["--series", folder.file("series.ndjson"), "--series-retention", "36500"]
            try await OnlineBoards.with(options: ["--sensor", "3600"], cloud: options) { scene in
                let file = folder.file("week.svg")
                try await scene.done(
                    "node", "history", "nodelight", "Sensor.Temperature", "Sensor.Humidity", "--from", "2025-01-01",
                    "--to", "2025-01-08", "--timezone", "Europe/Berlin", "--svg", file)
                try await HeadlessBrowser.withFreshPage { browser in
                    try await browser.open("file://\(file)")
                    func count(_ selector: String) async throws -> Int64 {
                        try await browser.run("return document.querySelectorAll('\(selector)').length").integer ?? 0
                    }
                    #expect(try await count("text.time") >= 7)
                    #expect(try await count("text.value") >= 4)
                    #expect(try await count("path.series") == 2)
                    #expect(try await count("path.axes") == 1)
                    #expect(try await count("text.legend") == 2)
                    let boxes = try await Self.boxes("text", browser)
                    let picture = try #require(try await Self.boxes("svg", browser).first)
                    for (index, box) in boxes.enumerated() {
                        #expect(box.isWithin(picture), "\(box)")
                        #expect(!boxes[(index + 1)...].contains { $0.overlaps(box) }, "\(box)")
                    }
                    #expect(boxes.count > 12)
                    let line = try #require(try await Self.boxes("path.series", browser).first)
                    #expect(line.bottom - line.top > 200, "\(line)")
                }
            }
        }
    }

    private struct Box {
        var left, top, right, bottom: Double

        func overlaps(_ other: Box) -> Bool {
            left < other.right && other.left < right && top < other.bottom && other.top < bottom
        }

        func isWithin(_ other: Box) -> Bool {
            left >= other.left && right <= other.right && top >= other.top && bottom <= other.bottom
        }
    }

    /// Where the browser has drawn these elements.
    private static func boxes(_ selector: String, _ browser: HeadlessBrowser) async throws -> [Box] {
        let found = try await browser.run(
            "return [...document.querySelectorAll('\(selector)')].map(e => e.getBoundingClientRect().toJSON())")
        return (found.array ?? []).map { box in
            func side(_ name: String) -> Double { box[name]?.double ?? .nan }
            return Box(left: side("left"), top: side("top"), right: side("right"), bottom: side("bottom"))
        }
    }
}
