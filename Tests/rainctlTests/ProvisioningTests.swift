import JSON
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

    struct Refusal: CustomTestStringConvertible, Sendable {
        var what: String
        var options: [String] = []
        var passphrase = "wifi"
        var pop = "pop"
        var more: [String] = []
        var status: Int
        var code: String
        var testDescription: String { "\(what) → \(status)" }
    }

    static let refusals = [
        Refusal(what: "a wrong proof of possession, Security 1", pop: "wrong", status: 10, code: "wrong_pop"),
        Refusal(
            what: "a wrong proof of possession, Security 2", options: ["--security", "2"], pop: "wrong", status: 10,
            code: "wrong_pop"),
        Refusal(what: "a wrong Wi-Fi password", passphrase: "wrong", status: 11, code: "wifi_auth_failed"),
        Refusal(
            what: "an absent network", options: ["--wifi", "Elsewhere:planted-elsewhere"], status: 12,
            code: "wifi_ap_not_found"),
        Refusal(
            what: "a stuck board", options: ["--fail", "stuck"], more: ["--timeout", "3s"], status: 16, code: "deadline"
        ),
        Refusal(
            what: "another scheme than the board's", more: ["--sec-ver", "2"], status: 15, code: "security_mismatch"),
    ]

    @Test("each refusal has its exit code, and one sentence that says what to try", arguments: refusals)
    func refused(refusal: Refusal) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-refusing"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0"] + refusal.options + cloud.boardOptions(node: "node-refusing"), in: folder)
            let outcome = try await maker.provision(
                board, passphrase: refusal.passphrase, pop: refusal.pop, refusal.more + ["--json"])
            #expect(outcome.status == refusal.status, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.failure?["code"]?.string == refusal.code)
            let message = try #require(outcome.failure?["message"]?.string)
            #expect(message.hasSuffix(".") && message.count > 20, "\(message)")
        }
    }

    @Test("Security 2 on the protocomm console is refused before the handshake")
    func securityTwoOnTheConsole() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-console"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--console", folder.file("tty"), "--security", "2"] + cloud.boardOptions(node: "node-console"),
                in: folder)
            let outcome = try await maker.provision(board, ["--json"])
            #expect(outcome.status == 15, "\(outcome.standardOutput)\(outcome.standardError)")
            let endpoints = try board.journal.entries(where: ["event": "request"]).compactMap { $0["endpoint"]?.string }
            #expect(!endpoints.contains("prov-session"))
        }
    }

    @Test("a board that falls silent in the middle is lost")
    func silentBoard() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-silent"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--fail", "stuck"] + cloud.boardOptions(node: "node-silent"), in: folder)
            let child = try await maker.start(
                ["provision"] + Maker.way(to: board) + [
                    "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    folder.file("wifi"), "--events", "ndjson", "--no-mapping",
                ])
            defer { child.kill() }
            try await child.output(containing: #""step":"connect""#)
            board.process.kill()
            #expect(try await child.wait(within: .seconds(60)) == .exited(14), "\(child.standardError)")
        }
    }

    @Test("a board that never answers is unavailable", arguments: ["softap", "serial"])
    func nobodyThere(transport: String) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let way =
                transport == "serial" ? ["--port", folder.file("no-such-port")] : ["--device-host", "127.0.0.1:9"]
            let outcome = try await maker.rainctl(
                ["provision", "--transport", transport] + way + [
                    "--pop-file", folder.file("pop"), "--ssid", "Home", "--passphrase-file", folder.file("wifi"),
                    "--json",
                ])
            #expect(outcome.status == 69, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.failure?["code"]?.string == "unavailable")
        }
    }

    @Test("without a session nothing is sent to anyone")
    func notSignedIn() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.use(cloud)
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0"], in: folder)
            let outcome = try await maker.provision(board, ["--json"])
            #expect(outcome.status == 77)
            #expect(outcome.failure?["reason"]?.string == "not_signed_in")
            #expect(try board.journal.entries(where: ["event": "request"]).isEmpty)
            #expect(try cloud.journal.entries(where: ["event": "request"]).isEmpty)
        }
    }

    @Test("a cloud that is down before the start leaves the board alone")
    func cloudDown() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            try await cloud.process.terminate()
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0"], in: folder)
            let outcome = try await maker.provision(board, ["--json"])
            #expect(outcome.status == 75, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(try board.journal.entries(where: ["event": "request"]).isEmpty)
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
            let data = folder.file("cloud-data")
            let first = try await SimulatedCloud.start(
                nodes: ["node-pending"], arguments: ["--data", data], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: first)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--join-delay", "3"] + first.boardOptions(node: "node-pending"), in: folder)
            let child = try await maker.start(
                ["provision"] + Maker.way(to: board) + [
                    "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    folder.file("wifi"), "--events", "ndjson", "--timeout", "8s",
                ])
            defer { child.kill() }
            // The board has taken its credentials and is joining when the cloud goes away.
            try await child.output(containing: #""step":"connect""#)
            first.process.kill()
            #expect(try await child.wait(within: .seconds(30)) == .exited(75), "\(child.standardError)")

            let port = first.api.split(separator: ":").last.map(String.init) ?? "0"
            let second = try await SimulatedCloud.start(
                arguments: ["--data", data, "--listen", "127.0.0.1:\(port)"], in: folder)
            defer { withExtendedLifetime(second) {} }
            // The board goes on knocking at its broker, and reports to it once it is back.
            let outcome = try await maker.provision(board, ["--json", "--timeout", "30s"])
            #expect(
                outcome.status == 0,
                "\(outcome.standardOutput)\(outcome.standardError)\(board.process.standardError.suffix(2000))")
            #expect(outcome.document?["mapping"]?.string == "confirmed")
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
            let status = try await board.process.terminate(within: .seconds(1))
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
