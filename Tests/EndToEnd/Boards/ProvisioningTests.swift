// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// `rainctl provision` as a process, against a simulated board and cloud that are processes too.
@Suite("rainctl provision")
struct ProvisioningTests {
    /// Every way a board can be reached and secured.
    struct Board: CustomTestStringConvertible, Sendable {
        var options: [String]
        var node: String
        var testDescription: String { options.joined(separator: " ") }
    }

    static let boards: [Board] =
        [
            ["--http", "127.0.0.1:0", "--security", "0"],
            ["--http", "127.0.0.1:0", "--security", "1"],
            ["--http", "127.0.0.1:0", "--security", "1", "--no-pop"],
            ["--http", "127.0.0.1:0", "--security", "2", "--patch", "1"],
            ["--http", "127.0.0.1:0", "--security", "2", "--patch", "0"],
            ["--http", "127.0.0.1:0", "--security", "0", "--mapping", "ch-resp"],
            ["--http", "127.0.0.1:0", "--security", "1", "--mapping", "ch-resp"],
            ["--http", "127.0.0.1:0", "--security", "2", "--patch", "1", "--mapping", "ch-resp"],
            ["--http", "127.0.0.1:0", "--security", "2", "--patch", "0", "--mapping", "ch-resp"],
            ["--console", "tty", "--security", "0"],
            ["--console", "tty", "--security", "1"],
            ["--console", "tty", "--security", "1", "--no-pop"],
            ["--console", "tty", "--security", "1", "--mapping", "ch-resp"],
            ["--console", "tty", "--console-dialect", "rainmaker"],
        ].enumerated().map { Board(options: $0.element, node: "node-under-test-\($0.offset)") }
        + [Board(options: ["--http", "127.0.0.1:0", "--mapping", "ch-resp"], node: "node-with-rsa-key:rsa")]

    @Test("a board ends on its network and in the account", arguments: boards)
    func success(board: Board) async throws {
        try await withTemporaryFolder { folder in
            let id = board.node.split(separator: ":").first.map(String.init) ?? ""
            let cloud = try await SimulatedCloud.start(nodes: [board.node], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let simulated = try await SimulatedBoard.start(
                board.options.map { $0 == "tty" ? folder.file("tty") : $0 } + cloud.boardOptions(node: id), in: folder)
            let outcome = try await maker.provision(simulated, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["node_id"]?.string == id)
            #expect(outcome.document?["mapping"]?.string == "confirmed")
            #expect(outcome.document?["ip"]?.string?.isEmpty == false)
            // The cloud's own word for it.
            let nodes = try await maker.rainctl("node", "list", "--json")
            #expect(nodes.document?["nodes"]?.array?.first?["node_id"]?.string == id)
        }
    }

    @Test("a board that joins at once is asked at most six times, seven with mapping", arguments: [1, 2])
    func requestCount(security: Int) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-counted"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            for (more, most) in [([], 7), (["--no-mapping"], 6)] {
                let board = try await SimulatedBoard.start(
                    ["--http", "127.0.0.1:0", "--security", "\(security)", "--join-delay", "0"]
                        + cloud.boardOptions(node: "node-counted"), in: folder)
                let outcome = try await maker.provision(board, more)
                #expect(outcome.status == 0, "\(outcome.standardError)")
                let requests = try board.journal.entries(where: ["event": "request"])
                #expect(requests.count <= most, "\(requests)")
                #expect(requests.count >= 6)
            }
        }
    }

    @Test("after a wrong password the next run succeeds, on the same board")
    func secondRun() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-second"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0"] + cloud.boardOptions(node: "node-second"), in: folder)
            #expect(try await maker.provision(board, passphrase: "wrong").status == 11)
            let outcome = try await maker.provision(board, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["mapping"]?.string == "confirmed")
        }
    }

    @Test("a mapping that the cloud could not hear of is finished by the next run, without the board")
    func pendingMapping() async throws {
        try await withTemporaryFolder { folder in
            // Where both clouds listen: the maker and the board know no other place. (The broker keeps its own.)
            let place = [
                "--data", folder.file("cloud-data"), "--listen", "127.0.0.1:\(try LoopbackServer.assignablePort())",
            ]
            let first = try await SimulatedCloud.start(nodes: ["node-pending"], arguments: place, in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: first)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--join-delay", "10"] + first.boardOptions(node: "node-pending"), in: folder)
            let child = try await maker.start(
                ["provision"] + Maker.way(to: board) + [
                    "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    folder.file("wifi"), "--events", "ndjson", "--timeout", "90s",
                ])
            defer { child.kill() }
            // The board has taken its credentials and is joining when the cloud goes away.
            try await child.output(containing: #""step":"connect""#)
            first.process.kill()
            #expect(try await child.wait() == .exited(75), "\(child.standardError)")

            let second = try await SimulatedCloud.start(arguments: place, in: folder)
            let asked = try board.journal.entries(where: ["event": "request"]).count
            defer { withExtendedLifetime(second) {} }
            // The board tries its broker again and again, and reports to it once it is back.
            _ = try await second.journal.entry(where: ["event": "node", "what": "config", "node": "node-pending"])
            let outcome = try await maker.provision(board, ["--json", "--timeout", "120s"])
            #expect(
                outcome.status == 0,
                "\(outcome.standardOutput)\(outcome.standardError)\(board.process.standardError.suffix(2000))")
            #expect(outcome.document?["mapping"]?.string == "confirmed")
            #expect(outcome.document?["resumed"] == true)
            #expect(try board.journal.entries(where: ["event": "request"]).count == asked)
        }
    }

    @Test("SIGTERM ends a board within a second even while its broker never answers")
    func boardWithoutBroker() async throws {
        try await withTemporaryFolder { folder in
            let silence = try SilentListener()
            let cloud = try await SimulatedCloud.start(nodes: ["node-in-the-void"], in: folder)
            let maker = try Maker(folder)
            var options = try cloud.boardOptions(node: "node-in-the-void")
            let broker = try #require(options.firstIndex(of: "--mqtt"))
            options[broker + 1] = "127.0.0.1:\(silence.port)"
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0"] + options, in: folder)
            let outcome = try await maker.provision(board, ["--no-mapping"])
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let status = try await board.process.terminate(within: Timings.limit(.seconds(1)))
            #expect(status == .exited(0))
        }
    }

    @Test("SIGINT closes the board's session and exits 130")
    func interrupted() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-interrupted"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--fail", "stuck"] + cloud.boardOptions(node: "node-interrupted"), in: folder)
            let child = try await maker.start(
                ["provision"] + Maker.way(to: board) + [
                    "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    folder.file("wifi"), "--events", "ndjson",
                ])
            defer { child.kill() }
            try await child.output(containing: #""step":"connect""#)
            let status = try await child.terminate(2)
            #expect(status == .exited(130), "\(status) \(child.standardError)")
        }
    }
}
