// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Each line that a command streams is as its schema says, and the lines are of every kind.
@Suite("JSON schemas of streams")
struct StreamSchemaTests {
    private func expect(
        _ lines: [String], as file: String, kinds: (member: String, words: Set<String>), in folder: TemporaryFolder,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let found = try Set(lines.compactMap { try JSONValue(parsing: Array($0.utf8))[kinds.member]?.string })
        #expect(found.isSuperset(of: kinds.words), "\(lines)", sourceLocation: sourceLocation)
        let complaints = try await ForeignValidator(folder: folder).complaints(lines, against: file)
        #expect(complaints.isEmpty, "\(complaints)", sourceLocation: sourceLocation)
    }

    private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    @Test("of device discover --events ndjson: a board that is found, a warning")
    func discovery() async throws {
        try await withTemporaryFolder { folder in
            let tree = try SystemTree(in: folder)
            try tree.addDevice("ttyUSB0", socket: "1-1", vendor: "10c4", product: "ea60")
            try tree.write("", to: "dev/ttyUSB0")
            let outcome = try await Maker(folder).rainctl(
                ["device", "discover", "--timeout", "1s", "--events", "ndjson"], environment: tree.environment)
            #expect(outcome.status == 0, "\(outcome.standardError)")
            try await expect(
                lines(outcome.standardOutput), as: "discovery-event.json", kinds: ("event", ["found", "warning"]),
                in: folder)
        }
    }

    @Test("of device monitor --events ndjson: the port, the board's lines, what is wrong with it")
    func monitor() async throws {
        try await withTemporaryFolder { folder in
            let board = try await SimulatedBoard.start(
                [
                    "--console", folder.file("port"), "--console-dialect", "log-only", "--boot-log", "brown-out",
                    "--security", "1", "--mapping", "user",
                ], in: folder)
            let outcome = try await Maker(folder).rainctl([
                "device", "monitor", "--port", try #require(board.console), "--until", "Brownout detector",
                "--timeout", "120", "--events", "ndjson",
            ])
            #expect(outcome.status == 0, "\(outcome.standardError)")
            try await expect(
                lines(outcome.standardOutput), as: "monitor-event.json",
                kinds: ("event", ["opened", "line", "trouble"]), in: folder)
        }
    }

    @Test("of node watch --json: a value, a board that goes")
    func watch() async throws {
        try await OnlineBoards.with { scene in
            let watching = try await scene.maker.start(["node", "watch", "nodelight", "--json", "--count", "2"])
            defer { watching.kill() }
            try await watching.errorOutput(containing: "watching Light")
            try await scene.done("node", "params", "set", "nodelight", "Light.Power=off")
            try await watching.output(containing: "\"path\":\"Light.Power\"")
            try await scene.boards[0].process.terminate()
            #expect(try await watching.wait() == .exited(0))
            try await expect(
                lines(watching.standardOutput), as: "watch-event.json", kinds: ("state", ["value", "offline"]),
                in: scene.maker.folder)
        }
    }

    @Test("of node watch --live --json: alerts")
    func alerts() async throws {
        let options = ["--no-basic-ingest", "--alert", "Too hot", "--notify"]
        try await OnlineBoards.with(options: options) { scene in
            let watching = try await scene.maker.start([
                "node", "watch", "nodelight", "--live", "--json", "--count", "3",
            ])
            defer { watching.kill() }
            try await watching.errorOutput(containing: "listening")
            try await scene.done("node", "params", "set", "nodelight", "Light.Power=off")
            #expect(try await watching.wait() == .exited(0))
            try await expect(
                lines(watching.standardOutput), as: "watch-event.json", kinds: ("state", ["value", "alert"]),
                in: scene.maker.folder)
        }
    }

    @Test("of bridge --json: boards, commands, what was not carried out, the end of the cloud")
    func bridge() async throws {
        try await OnlineBoards.with(options: ["--no-basic-ingest"]) { scene in
            let broker = try await HomeBroker.start(in: scene.maker.folder)
            defer { broker.kill() }
            let bridge = try await scene.maker.start(["bridge", broker.address, "--json", "--interval", "1s"])
            defer { bridge.kill() }
            try await bridge.output(containing: "\"event\":\"ready\"")
            let command = "rainkit/nodelight/Light/set"
            try await broker.publish(command, #"{"state":"OFF"}"#)
            try await bridge.output(containing: "\"event\":\"done\"")
            try await broker.publish(command, "nonsense")
            try await bridge.output(containing: "\"event\":\"refused\"")
            try await broker.publish(command, "x", isRetained: true)
            try await bridge.output(containing: "\"event\":\"ignored\"")
            scene.cloud.process.kill()
            try await bridge.output(containing: "\"event\":\"cloud_unreachable\"")
            try await expect(
                lines(bridge.standardOutput), as: "bridge-event.json",
                kinds: ("event", ["ready", "done", "refused", "ignored", "cloud_unreachable"]), in: scene.maker.folder)
        }
    }

    @Test("of node history --follow --json: records")
    func history() async throws {
        try await OnlineBoards.with(options: ["--sensor", "0.5"]) { scene in
            let following = try await scene.maker.start([
                "node", "history", "nodelight", "Sensor.Temperature", "Sensor.State", "--follow", "--json",
            ])
            defer { following.kill() }
            try await following.output(containing: "\"value\":21.")
            try await following.output(containing: "\"value\":\"open")
            try await expect(
                lines(following.standardOutput), as: "history-record.json",
                kinds: ("param", ["Sensor.Temperature", "Sensor.State"]), in: scene.maker.folder)
        }
    }

    @Test("of the other commands with --events ndjson: steps, a warning, and the end with what the document has")
    func events() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1", "--no-pop", "--join-delay", "0"], in: folder)
            let outcome = try await maker.provision(board, ["--no-mapping", "--events", "ndjson"])
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let told = lines(outcome.standardOutput)
            try await expect(
                told.dropLast(), as: "event.json", kinds: ("state", ["started", "finished", "warning"]), in: folder)
            // The last line has the document's members, which event.json leaves to provision.json.
            let last = try #require(told.last)
            let complaints = try await ForeignValidator(folder: folder)
                .complaints([last], against: "event.json", isClosed: false)
            #expect(complaints.isEmpty && last.contains("\"state\":\"done\""), "\(complaints)\(last)")
            let refused = try await maker.rainctl(
                ["device", "claim", "--events", "ndjson", "--transport", "serial", "--port", "/dev/null"])
            #expect(refused.status != 0)
            try await expect(
                lines(refused.standardOutput), as: "event.json", kinds: ("state", ["ended"]), in: folder)
        }
    }
}
