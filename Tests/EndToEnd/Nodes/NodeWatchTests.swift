// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

@Suite("rainctl node watch")
struct NodeWatchTests {
    static let limit = Timings.limit(.milliseconds(300))

    @Test("says what changes, by whomever, soon after it was set, and when the board goes")
    func changes() async throws {
        try await OnlineBoards.with { scene in
            let watching = try await scene.maker.start(["node", "watch", "nodelight", "--json", "--count", "3"])
            defer { watching.kill() }
            try await watching.errorOutput(containing: "watching Light")
            try await scene.done("node", "params", "set", "nodelight", "Light.Power=off")
            let start = ContinuousClock.now
            try await watching.output(containing: "\"path\":\"Light.Power\",\"value\":false")
            let taken = start.duration(to: .now)
            #expect(taken < Self.limit, "\(taken)")
            try await scene.done("node", "rename", "nodelight", "Desk")
            try await watching.output(containing: "\"value\":\"Desk\",\"previous\":\"Light\"")
            try await scene.boards[0].process.terminate()
            try await watching.output(containing: "\"state\":\"offline\"")
            #expect(try await watching.wait() == .exited(0))
        }
    }

    @Test("what is set goes over the broker, as mosquitto's own client has it in the board's place")
    func broker() async throws {
        try await OnlineBoards.with { scene in
            // A node has one connection, as at AWS.
            try await scene.boards[0].process.terminate()
            let broker = try await Self.subscriber(scene)
            defer { broker.kill() }
            let start = ContinuousClock.now
            try await scene.done("node", "params", "set", "nodelight", "Light.Power=off")
            try await broker.output(
                containing: "node/nodelight/params/remote {\"Light\":{\"Power\":false}}")
            let taken = start.duration(to: .now)
            #expect(taken < Self.limit, "\(taken)")
        }
    }

    /// mosquitto_sub, with the node's own rights.
    private static func subscriber(_ scene: OnlineBoards) async throws -> ChildProcess {
        let place = scene.cloud.mqtt.split(separator: ":").map(String.init)
        let board = try scene.cloud.boardOptions(node: "nodelight")
        let files = ["--cert", "--key"].flatMap { [$0, board[board.firstIndex(of: $0)! + 1]] }
        let child = try await ChildProcess.start(
            "stdbuf",
            [
                "-oL", "mosquitto_sub", "-d", "-v", "-h", place[0], "-p", place[1], "--cafile",
                scene.cloud.ca, "-t", "node/nodelight/params/remote",
            ] + files)
        try await child.output(containing: "Subscribed (mid")
        return child
    }

    @Test(
        "--live hears a board's own reports, and asks the cloud for one that cannot be heard",
        arguments: [["--no-basic-ingest"], []])
    func live(options: [String]) async throws {
        try await OnlineBoards.with(options: options) { scene in
            let watching = try await scene.maker.start([
                "node", "watch", "nodelight", "--live", "--json", "--count", "3",
            ])
            defer { watching.kill() }
            try await watching.errorOutput(containing: "listening")
            try await scene.done("node", "params", "set", "nodelight", "Light.Power=off")
            try await watching.output(containing: "\"path\":\"Light.Power\",\"value\":false")
            // The cloud answers only on open connections, and no change is reported twice.
            try await scene.done("node", "params", "set", "nodelight", "Light.Power=on")
            try await watching.output(containing: "\"value\":true,\"previous\":false")
            try await scene.boards[0].process.terminate()
            try await watching.output(containing: "\"state\":\"offline\"")
            #expect(try await watching.wait() == .exited(0))
            #expect(watching.standardOutput.split(separator: "\n").count == 3, "\(watching.standardOutput)")
        }
    }

    @Test(
        "--live shows alerts: a text with quotation marks, and values that are notified",
        arguments: [
            ("Door \"open\"", "\"text\":\"Door \\\"open\\\"\""),
            ("Too hot", "\"text\":\"Too hot\""),
        ])
    func alerts(text: String, shown: String) async throws {
        try await OnlineBoards.with(options: ["--no-basic-ingest", "--alert", text, "--notify"]) { scene in
            let watching = try await scene.maker.start([
                "node", "watch", "nodelight", "--live", "--json", "--count", "3",
            ])
            defer { watching.kill() }
            try await watching.errorOutput(containing: "listening")
            try await scene.done("node", "params", "set", "nodelight", "Light.Power=off")
            #expect(try await watching.wait() == .exited(0))
            try await watching.drained()
            let lines = watching.standardOutput
            #expect(lines.contains("\"node_id\":\"nodelight\",\"state\":\"alert\",\(shown)}"), "\(lines)")
            #expect(lines.contains("\"state\":\"alert\",\"values\":{\"Light\":{\"Power\":false}}}"), "\(lines)")
            #expect(lines.contains("\"path\":\"Light.Power\",\"value\":false"), "\(lines)")
        }
    }

    @Test("alerts by basic ingest do not arrive; and where the broker refuses them, reports still do")
    func withoutAlerts() async throws {
        try await OnlineBoards.with(options: ["--alert", "Too hot"]) { scene in
            let watching = try await scene.maker.start(["node", "watch", "nodelight", "--live", "--count", "1"])
            defer { watching.kill() }
            try await watching.errorOutput(containing: "listening")
            try await scene.done("node", "params", "set", "nodelight", "Light.Power=off")
            #expect(try await watching.wait() == .exited(0))
            try await watching.drained()
            let shown = watching.standardOutput
            #expect(shown.contains("Light.Power") && !shown.contains("alert"), "\(shown)")
        }
        try await OnlineBoards.with(
            options: ["--no-basic-ingest", "--alert", "Too hot"], cloud: ["--no-alert-topics"]
        ) { scene in
            let watching = try await scene.maker.start(["node", "watch", "nodelight", "--live", "--count", "1"])
            defer { watching.kill() }
            try await watching.errorOutput(containing: "note: alerts do not arrive here")
            try await scene.done("node", "params", "set", "nodelight", "Light.Power=off")
            #expect(try await watching.wait() == .exited(0))
            try await watching.drained()
            let shown = watching.standardOutput
            #expect(shown.contains("Light.Power") && !shown.contains("alert"), "\(shown)")
        }
    }

    @Test("--live connects again after the connection is gone, and reports a cloud without a broker")
    func reconnects() async throws {
        try await OnlineBoards.with(options: ["--no-basic-ingest"]) { scene in
            func fails(_ rule: JSONValue) async throws { try await scene.cloud.control("faults", ["rules": [rule]]) }
            try await fails(["path": "/mqtt", "action": "reset", "count": 1])
            let watching = try await scene.maker.start(["node", "watch", "nodelight", "--live", "--count", "1"])
            defer { watching.kill() }
            try await watching.errorOutput(containing: "connecting again")
            try await watching.errorOutput(containing: "listening")
            try await scene.done("node", "params", "set", "nodelight", "Light.Power=off")
            #expect(try await watching.wait() == .exited(0), "\(watching.standardError)")

            try await fails([
                "path": "/v1/user/assume_role", "action": "status", "status": 404, "body": ["message": "Not Found"],
            ])
            let none = try await scene.rainctl("node", "watch", "nodelight", "--live", "--json")
            none.expectFailure(78, "config", says: "offers no live changes")
        }
    }

    @Test("a question that is under way when enough was seen is given up")
    func underWay() async throws {
        try await OnlineBoards.with(options: ["--no-basic-ingest"]) { scene in
            let watching = try await scene.maker.start(["node", "watch", "nodelight", "--live", "--count", "1"])
            defer { watching.kill() }
            try await watching.errorOutput(containing: "listening")
            let slow: JSONValue = ["method": "GET", "path": "/v1/user/nodes", "action": "delay", "delay_ms": 2000]
            try await scene.cloud.control("faults", ["rules": [slow]])
            try await scene.done("node", "params", "set", "nodelight", "Light.Power=off")
            #expect(try await watching.wait() == .exited(0), "\(watching.standardError)")
        }
    }

    @Test("ends where nobody reads what it says any more")
    func closedPipe() async throws {
        try await OnlineBoards.with { scene in
            let program = try Executables.path("rainctl")
            let watching = try await ChildProcess.start(
                "bash", ["-c", "\"$0\" node watch nodelight --count 9 | head -n 1", program],
                environment: scene.maker.environment)
            defer { watching.kill() }
            try await watching.errorOutput(containing: "watching Light")
            for value in ["off", "on", "off", "on"] {
                try await scene.done("node", "params", "set", "nodelight", "Light.Power=\(value)", "--wait")
            }
            #expect(try await watching.wait() == .exited(0))
        }
    }

    @Test("ends when its time is over, and by Ctrl-C")
    func ends() async throws {
        try await OnlineBoards.with { scene in
            try await scene.done("node", "watch", "nodelight", "--timeout", "10")
            let few = try await scene.rainctl("node", "watch", "nodelight", "--timeout", "5", "--count", "1", "--json")
            few.expectFailure(16, "deadline", says: "--timeout")
            let watching = try await scene.maker.start(["node", "watch", "nodelight"])
            defer { watching.kill() }
            try await watching.errorOutput(containing: "watching Light")
            watching.signal(SIGINT)
            #expect(try await watching.wait() == .exited(130))
            #expect(!watching.standardError.contains("error"), "\(watching.standardError)")
            let lines = try await scene.maker.start(["node", "watch", "nodelight", "--json"])
            defer { lines.kill() }
            try await lines.errorOutput(containing: "watching Light")
            lines.signal(SIGINT)
            #expect(try await lines.wait() == .exited(130))
            #expect(lines.standardOutput.isEmpty, "\(lines.standardOutput)")
        }
    }
}
