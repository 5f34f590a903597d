// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

@Suite("rainctl device monitor")
struct DeviceMonitorTests {
    private static func board(_ log: String, _ link: String, _ more: [String] = []) -> [String] {
        ["--console", link, "--console-dialect", "log-only", "--boot-log", log, "--security", "1", "--mapping", "user"]
            + more
    }

    private func monitor(
        _ maker: Maker, _ port: String, _ more: [String], _ environment: [String: String] = [:]
    ) async throws -> Maker.Outcome {
        try await maker.rainctl(["device", "monitor", "--port", port] + more, environment: environment)
    }

    @Test("shows what the board prints without its secrets, keeps it, and ends at the text that is waited for")
    func lines() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(Self.board("switch", folder.file("port")), in: folder)
            let file = folder.file("device.log")
            let outcome = try await monitor(
                maker, try #require(board.console),
                ["--until", "Provisioning will auto stop", "--timeout", "120", "--device-log", file])
            #expect(outcome.status == 0, "\(outcome.standardError)")
            #expect(outcome.standardOutput.contains("ESP-ROM:esp32c3"))
            #expect(outcome.standardOutput.contains("\"pop\":\"***\""))
            #expect(try folder.read("device.log").contains("2nd stage bootloader"))
            for text in [outcome.standardOutput, outcome.standardError, try folder.read("device.log")] {
                #expect(!text.contains(SimulatedBoard.proofOfPossession))
            }
        }
    }

    @Test(
        "Ctrl-C is its normal end: no error is printed, and a document has the log's summary", arguments: [false, true])
    func interrupted(isJSON: Bool) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(Self.board("switch", folder.file("port")), in: folder)
            let file = folder.file("device.log")
            let command = ["device", "monitor", "--port", try #require(board.console), "--device-log", file]
            let child = try await maker.start(command + (isJSON ? ["--json"] : []))
            defer { child.kill() }
            let end = ContinuousClock.now + .waitLimit
            while (try? folder.read("device.log"))?.contains("ESP-ROM") != true, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(20))
            }
            child.signal(SIGINT)
            #expect(try await child.wait() == .exited(130))
            #expect(!child.standardError.contains("error"), "\(child.standardError)")
            guard isJSON else { return }
            let document = try JSONValue(parsing: Array(child.standardOutput.utf8))
            #expect(document["chip"] == "esp32c3" && document["error"] == nil, "\(child.standardOutput)")
        }
    }

    @Test("says what is wrong beside the line that tells it, once")
    func trouble() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(Self.board("crash-loop", folder.file("port")), in: folder)
            let outcome = try await monitor(
                maker, try #require(board.console), ["--until", "Rebooting...", "--timeout", "120"])
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let told = outcome.standardError.split(separator: "\n").filter { $0.contains("firmware crashed") }
            #expect(told.count == 1 && outcome.standardError.contains("0x42007a3e"), "\(outcome.standardError)")
        }
    }

    @Test("the time is over: a document with what the log told")
    func document() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(Self.board("brown-out", folder.file("port")), in: folder)
            let outcome = try await monitor(maker, try #require(board.console), ["--timeout", "15", "--json"])
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let document = try #require(outcome.document)
            #expect(document["chip"] == "esp32c3")
            #expect(
                document["troubles"]?.array?.contains { $0["reason"] == "brown_out" } == true,
                "\(outcome.standardOutput)")
            #expect(try #require(document["lines"]?.integer) > 3)
        }
    }

    @Test("bytes without a line end are counted in a warning")
    func withoutLineEnd() async throws {
        try await withTemporaryFolder { folder in
            let terminal = try PseudoTerminal()
            // Opening a port discards what came before.
            let printing = Task {
                while !Task.isCancelled {
                    await terminal.send("ready> ")
                    try? await Task.sleep(for: .milliseconds(100))
                }
            }
            defer { printing.cancel() }
            let outcome = try await monitor(try Maker(folder), terminal.path, ["--timeout", "15", "--json"])
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let warning = try #require(outcome.document?["warnings"]?.array?.first)
            #expect(warning["reason"] == "no_line_end", "\(outcome.standardOutput)")
            #expect(warning["message"]?.string?.contains("bytes arrived without a line end") == true)
        }
    }

    @Test("a text that does not come within the time")
    func absentText() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(Self.board("switch", folder.file("port")), in: folder)
            let outcome = try await monitor(
                maker, try #require(board.console), ["--until", "Got cheese", "--timeout", "1", "--json"])
            outcome.expectFailure(16, "deadline", says: "Got cheese")
        }
    }

    @Test("a chip that leaves the bus on a restart is listened to again, under whatever name", arguments: [0, 1])
    func comesBack(number: Int) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let root = folder.file("system")
            var options = ["--usb", "native", "--system-root", root]
            if number == 0 {
                // A link keeps its name; a USB port gets another one each time.
                let tree = try SystemTree(in: folder)
                try tree.addDevice(
                    "ttyACM0", socket: "1-1", vendor: "303a", product: "1001", serial: "7C:DF:A1:00:00:01")
                options = ["--console", tree.port("ttyACM0")]
            }
            let board = try await SimulatedBoard.start(
                options + ["--console-dialect", "log-only", "--boot-log", "switch", "--security", "1"]
                    + ["--mapping", "user", "--boot-delay", "1.5", "--console-fault", "replug=0.5"],
                in: folder)
            defer { board.process.kill() }
            let ended = try await monitor(
                maker, "\(root)/dev/ttyACM0",
                ["--until", "Provisioning will", "--timeout", "120", "--events", "ndjson"],
                ["RAINKIT_SYSTEM_ROOT": root])
            #expect(ended.status == 0, "\(ended.standardOutput)\(ended.standardError)")
            let events = try ended.standardOutput.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
            let ports = events.filter { $0["event"] != "line" }.compactMap { $0["event"]?.string }
            #expect(ports == ["opened", "gone", "opened"], "\(ports)")
            let last = events.last { $0["event"] == "opened" }?["port"]?.string
            #expect(last == "\(root)/dev/ttyACM\(number)")
        }
    }

    @Test("waits for a board that is plugged in later, and fails at once without --wait", arguments: [true, false])
    func wait(waits: Bool) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let tree = try SystemTree(in: folder)
            try tree.addDevice("ttyACM0", socket: "1-1", vendor: "303a", product: "1001")
            async let outcome = maker.rainctl(
                ["device", "monitor", "--until", "ESP-ROM", "--timeout", "120"] + (waits ? ["--wait"] : ["--json"]),
                environment: tree.environment)
            if waits {
                try await Task.sleep(for: .milliseconds(600))
                let board = try await SimulatedBoard.start(Self.board("switch", tree.port("ttyACM0")), in: folder)
                defer { board.process.kill() }
                #expect(try await outcome.status == 0)
            } else {
                try await outcome.expectFailure(69, "unavailable", says: "ttyACM0 does not exist here")
            }
        }
    }

    @Test("a cable that is pulled, a board that cannot be restarted, and silence are said")
    func port() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let pty = try PseudoTerminal()
            async let outcome = monitor(maker, pty.path, ["--timeout", "10"])
            let ended = try await outcome
            #expect(ended.status == 0 && ended.standardError.contains("again with --restart"), "\(ended.standardError)")
            try await monitor(maker, pty.path, ["--restart", "--timeout", "120", "--json"])
                .expectFailure(1, "other", says: "RESET")
            let lost = try await maker.start(
                ["device", "monitor", "--port", pty.path, "--timeout", "120", "--json", "--events", "ndjson"])
            defer { lost.kill() }
            try await lost.errorOutput(containing: "opened")
            pty.unplug()
            #expect(try await lost.wait() == .exited(14))
            try await lost.drained()
            let failure = try JSONValue(parsing: Array(lost.standardOutput.utf8))["error"]
            #expect(failure?["reason"] == "device_lost", "\(lost.standardOutput)")
            #expect(failure?["message"]?.string?.contains("cable") == true, "\(lost.standardOutput)")
        }
    }
}
