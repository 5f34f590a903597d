// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// `--events ndjson`: what a program reads, line by line, to the end.
@Suite("rainctl --events ndjson")
struct EventStreamTests {
    static let everywhere: Set = ["ts", "run", "device", "step", "state", "code", "attempt", "elapsed_ms"]

    /// Every line of a stream, each of which must be an object.
    private func lines(_ text: String) throws -> [JSONValue] {
        try text.split(separator: "\n").map { line in
            let value = try JSONValue(parsing: Array(line.utf8))
            for name in Self.everywhere { #expect(value[name] != nil, "\(name) is missing in \(line)") }
            return value
        }
    }

    private func command(_ board: SimulatedBoard, in folder: TemporaryFolder, pop: String = "pop") -> [String] {
        ["provision"] + Maker.way(to: board) + [
            "--pop-file", folder.file(pop), "--ssid", SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi"),
            "--events", "ndjson",
        ]
    }

    @Test("standard output is events alone, and the result is the last of them")
    func success() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-streamed"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0"] + cloud.boardOptions(node: "node-streamed"), in: folder)
            let outcome = try await maker.rainctl(command(board, in: folder))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let lines = try lines(outcome.standardOutput)
            let last = try #require(lines.last)
            #expect(last["state"] == "done")
            #expect(last["code"] == "ok")
            #expect(last["step"] == "confirm")
            #expect(last["node_id"] == "node-streamed")
            #expect(last["mapping"] == "confirmed")
            #expect(last["ssid"] == .string(SimulatedBoard.ssid))
            #expect(last["ip"]?.string?.isEmpty == false)
            #expect(lines.filter { $0["state"] == "done" }.count == 1)
            #expect(outcome.standardError.contains("In your account"), "text for people is unchanged")
        }
    }

    @Test("with --json the result is the one document, and the stream ends as ever")
    func withJSON() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0"], in: folder)
            let outcome = try await maker.rainctl(command(board, in: folder) + ["--no-mapping", "--json"])
            #expect(outcome.status == 0, "\(outcome.standardError)")
            #expect(outcome.document?["mapping"] == "skipped")
            let last = try #require(try lines(outcome.standardError).last)
            #expect(last["state"] == "done")
            #expect(last["mapping"] == "skipped")
        }
    }

    @Test("a failure is the last line too, with what --json would say of it", arguments: [false, true])
    func failure(json: Bool) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0"], in: folder)
            let outcome = try await maker.rainctl(
                command(board, in: folder, pop: "wrong") + ["--no-mapping"] + (json ? ["--json"] : []))
            #expect(outcome.status == 10)
            let last = try #require(try lines(json ? outcome.standardError : outcome.standardOutput).last)
            #expect(last["state"] == "ended")
            #expect(last["step"] == "secure")
            #expect(last["code"] == "wrong_pop")
            #expect(last["exit"] == 10)
            #expect(last["message"]?.string?.contains("proof of possession") == true)
            if json {
                #expect(outcome.failure?["code"] == "wrong_pop")
                #expect(outcome.failure?["message"] == last["message"])
            } else {
                #expect(outcome.standardError.contains("error: "))
            }
        }
    }

    @Test("so is the deadline, under its own name")
    func deadline() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0", "--fail", "stuck"], in: folder)
            let outcome = try await maker.rainctl(command(board, in: folder) + ["--no-mapping", "--timeout", "20s"])
            #expect(outcome.status == 16)
            let last = try #require(try lines(outcome.standardOutput).last)
            #expect(last["state"] == "ended")
            #expect(last["code"] == "deadline")
            #expect(last["step"] == "connect")
        }
    }

    @Test("what fails before the first step ends the stream as well", arguments: ["provision", "claim"])
    func beforeTheStart(what: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            try maker.point(at: "http://127.0.0.1:9")
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0"], in: folder)
            let claim = ["device", "claim", "--events", "ndjson"] + Maker.way(to: board)
            let outcome = try await maker.rainctl(what == "claim" ? claim : command(board, in: folder))
            #expect(outcome.status == 77)
            let lines = try lines(outcome.standardOutput)
            #expect(lines.count == 1)
            #expect(lines.last?["state"] == "ended")
            #expect(lines.last?["code"] == "auth")
            #expect(lines.last?["reason"] == "not_signed_in")
            #expect(outcome.standardError.contains("error: "))
        }
    }

    @Test("the claim alone streams in the same way")
    func claim() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud, claims: true)
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0"], in: folder)
            let outcome = try await maker.rainctl(
                ["device", "claim", "--events", "ndjson", "--pop-file", folder.file("pop")] + Maker.way(to: board))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let last = try #require(try lines(outcome.standardOutput).last)
            #expect(last["state"] == "done")
            #expect(last["claimed"] == false)
        }
    }
}
