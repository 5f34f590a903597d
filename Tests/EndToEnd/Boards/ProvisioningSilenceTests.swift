// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// A board that never says a word, and one that stops in the middle.
@Suite("rainctl provision: silence")
struct ProvisioningSilenceTests {
    enum Silence: String, CaseIterable, Sendable {
        case closedPort, swallowedConnections, noSuchPort, mutePort
    }

    @Test("a board that never answers is unavailable", arguments: Silence.allCases)
    func nobodyThere(silence: Silence) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let (listener, terminal) = (try SilentListener(), try PseudoTerminal())
            defer { withExtendedLifetime((listener, terminal)) {} }
            let (way, word) =
                switch silence {
                case .closedPort: (["--device-host", "127.0.0.1:9"], "may be on Wi-Fi already")
                case .swallowedConnections:
                    (["--device-host", "127.0.0.1:\(listener.port)"], "Check that the board is powered")
                case .noSuchPort: (["--port", folder.file("no-such-port")], "plugged in?")
                case .mutePort: (["--port", terminal.path], "cable carries data")
                }
            let outcome = try await maker.rainctl(
                ["provision", "--transport", way[0] == "--port" ? "serial" : "softap"] + way + [
                    "--pop-file", folder.file("pop"), "--ssid", "Home", "--passphrase-file", folder.file("wifi"),
                    "--json",
                ])
            outcome.expectFailure(69, "unavailable", says: word)
        }
    }

    struct End: CustomTestStringConvertible, Sendable {
        var line: BoardLine
        var signal: Int32
        var testDescription: String { "\(line), \(signal == SIGKILL ? "gone" : "stopped")" }
    }

    static let ends = [
        End(line: .http, signal: SIGKILL), End(line: .http, signal: SIGSTOP), End(line: .console, signal: SIGSTOP),
    ]

    @Test("a board that falls silent while it joins is lost", arguments: ends)
    func silentBoard(end: End) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-silent"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                end.line.options(in: folder) + ["--fail", "stuck"] + cloud.boardOptions(node: "node-silent"),
                in: folder)
            let child = try await maker.start(
                ["provision"] + Maker.way(to: board) + [
                    "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    folder.file("wifi"), "--events", "ndjson", "--no-mapping",
                ])
            defer { child.kill() }
            try await child.output(containing: #""step":"connect""#)
            board.process.signal(end.signal)
            #expect(try await child.wait() == .exited(14), "\(child.standardError)")
            let last = try JSONValue(parsing: Array((child.standardOutput.split(separator: "\n").last ?? "").utf8))
            #expect(last["code"] == "device_lost")
            #expect(last["message"]?.string?.contains("look for the board in your account, or try again") == true)
        }
    }

    // RainMaker's console says nothing of its own accord: where it is only listened to, nobody can tell. So it is asked something.
    @Test("so is one that stops before it receives another network", arguments: BoardLine.allCases)
    func silentBeforeJoining(line: BoardLine) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(line.options(in: folder) + ["--join-delay", "0"], in: folder)
            let person = try await maker.atTerminal(
                ["provision", "--no-mapping"] + Maker.way(to: board) + [
                    "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    folder.file("wrong"),
                ])
            try await person.hears("password for \(SimulatedBoard.ssid) again")
            board.process.signal(SIGSTOP)
            await person.types(SimulatedBoard.passphrase + "\n")
            try await person.hears("try again")
            #expect(try await person.wait() == .exited(14), "\(person.transcript)")
        }
    }
}
