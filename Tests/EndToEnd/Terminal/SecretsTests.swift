// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Passwords, tokens and the secrets of mappings stay in the files that are made for them, whatever happens.
@Suite("Secrets")
struct SecretsTests {
    @Test("a secret in a file, in a file's name, in base64 or in hex is found")
    func theHuntFinds() async throws {
        try await withTemporaryFolder { folder in
            var hunt = SecretHunt()
            hunt.add("the password", "Passw0rd-planted")
            hunt.add("a token", "eyJhbGciOiJub25lIn0.e30.c2lnbmF0dXJlLW9mLWEtdG9rZW4")
            try folder.write("nothing to see", to: "clean")
            #expect(try hunt.findings(below: folder.path, but: { _ in false }).isEmpty)
            try folder.write("…\u{1}password=Passw0rd-planted;", to: "plain")
            try folder.write("UGFzc3cwcmQtcGxhbnRlZA==", to: "encoded")
            try folder.write("50617373773072642d706c616e746564", to: "digits")
            try folder.write("Bearer …c2lnbmF0dXJlLW9mLWEtdG9rZW4", to: "cut")
            try folder.write("", to: "log-Passw0rd-planted")
            let found = try hunt.findings(below: folder.path, but: { _ in false })
            #expect(
                found == [
                    "the end of a token is in cut", "the password in hex is in digits",
                    "the password in base64 is in encoded", "the password is in the name of 20 bytes",
                    "the password is in plain",
                ])
            #expect(try hunt.findings(below: folder.path, but: { $0 != "plain" }) == ["the password is in plain"])
        }
    }

    @Test("a secret in what a command says or in its arguments is found")
    func theWatchFinds() async throws {
        try await withTemporaryFolder { folder in
            let watched = try WatchedMaker(folder)
            // The usage error repeats the word: seen in the arguments or on standard error, it must be noticed.
            try await watched.run(["profile", "use", SimulatedCloud.password], .textOnStandardError)
            #expect(watched.findings.contains { $0.hasPrefix("the account's password is in standard error") })
        }
    }

    @Test("no secret leaves its file at the highest log level, whatever happens")
    func nothingLeaks() async throws {
        try await withTemporaryFolder { folder in
            let watched = try WatchedMaker(folder)
            let nodes = (0..<Self.boards.count + 3).map { "node-secret-\($0)" }
            // Short-lived tokens, so that they are renewed on the way.
            let cloud = try await SimulatedCloud.start(nodes: nodes, arguments: ["--access-ttl", "5"], in: folder)
            try await watched.maker.use(cloud)
            try await account(watched)
            for (index, board) in Self.boards.enumerated() {
                try await provisioning(watched, board, cloud.boardOptions(node: nodes[index]), index)
            }
            try await refusals(watched, cloud.boardOptions(node: nodes[Self.boards.count]))
            try await device(watched)
            try await bluetooth(watched, cloud.boardOptions(node: nodes[Self.boards.count + 2]))
            #expect(try await watched.run(["node", "list", "--json"]) == 0)
            #expect(try await watched.run(["logout", "--json"]) == 0)
            #expect(SecretHunt.mode(of: watched.sessionFile) == nil)
            try await cloudLost(watched, cloud, node: nodes[Self.boards.count + 1])
            watched.note(cloud.process)

            #expect(watched.tokens.count >= 4, "tokens were seen, of more than one session")
            #expect(watched.mappingSecrets.count >= Self.boards.count, "\(watched.mappingSecrets.count)")
            #expect(watched.argumentSamples > 20)
            // What is looked through is not empty, and the hunt finds a secret where there is one.
            #expect(watched.evidence.contains { $0.place.hasPrefix("standard error") && $0.text.contains(" debug ") })
            let logs = try SecretHunt.entries(below: folder.path).filter { $0.hasPrefix("log-") }
            #expect(try logs.contains { try folder.read($0).contains(#""level":"debug""#) })
            let pending = try watched.hunt.findings(below: folder.path) { $0 != "state/rainkit/pending-sim.json" }
            #expect(pending.contains { $0.hasPrefix("a mapping's secret is in") })
            #expect(watched.findings == [])
            #expect(watched.wideOpen == [])
            let inputs: Set = ["password", "pop", "wifi", "wrong", "qr", "broken-qr"]
            let found = try watched.hunt.findings(below: folder.path) { path in
                // The pending file is all that is left of the state after the last sign-out.
                inputs.contains(path) || path == "state/rainkit/pending-sim.json"
            }
            #expect(found == [])
            for path in logs {
                #expect(SecretHunt.mode(of: folder.file(path)) == 0o600, "\(path)")
            }
        }
    }

    /// Each way to a board. The console of RainMaker's firmware repeats each line it is sent.
    static let boards: [[String]] = [
        ["--http", "127.0.0.1:0", "--security", "0"],
        ["--http", "127.0.0.1:0", "--security", "1"],
        ["--http", "127.0.0.1:0", "--security", "2"],
        ["--console", "tty", "--security", "1"],
        ["--console", "tty", "--console-dialect", "rainmaker"],
    ]

    private func account(_ watched: WatchedMaker) async throws {
        let file = watched.maker.folder.file
        let login = ["login", SimulatedCloud.user, "--password-file"]
        #expect(try await watched.run(login + [file("wrong"), "--json"]) == 77)
        #expect(try await watched.run(login + [file("password")], .textOnStandardError) == 0)
        #expect(try await watched.run(login + [file("password"), "--json"]) == 0)
        #expect(try await watched.run(["whoami", "--json"]) == 0)
        #expect(try await watched.run(["whoami"], .textOnStandardError) == 0)
        // An option that does not exist: the word behind it is not repeated.
        let status = try await watched.run(
            ["login", SimulatedCloud.user, "--password", SimulatedCloud.password], argumentsHoldSecrets: true)
        #expect(status == 64)
    }

    private func start(_ watched: WatchedMaker, _ options: [String], _ index: Int = 0) async throws -> SimulatedBoard {
        let folder = watched.maker.folder
        return try await SimulatedBoard.start(
            options.map { $0 == "tty" ? folder.file("tty-\(index)") : $0 } + ["--log-level", "debug"], in: folder)
    }

    private func provisioning(
        _ watched: WatchedMaker, _ options: [String], _ cloud: [String], _ index: Int
    ) async throws {
        let board = try await start(watched, options + cloud + ["--join-delay", "0.6"], index)
        let status = try await watched.run(
            provision(watched, board, ["--events", "ndjson"] + (index.isMultiple(of: 2) ? ["--json"] : [])),
            index == 3 || index == 4 ? .textOnStandardError : .jsonInFile)
        #expect(status == 0, "\(options)")
        watched.note(board.process)
    }

    private func provision(
        _ watched: WatchedMaker, _ board: SimulatedBoard, pop: String = "pop", wifi: String = "wifi", _ more: [String]
    ) -> [String] {
        let file = watched.maker.folder.file
        return ["provision"] + Maker.way(to: board) + [
            "--pop-file", file(pop), "--ssid", SimulatedBoard.ssid, "--passphrase-file", file(wifi),
        ] + board.consent + more
    }

    /// Over the air, with a link that breaks, a wrong proof, and a proof that is right.
    private func bluetooth(_ watched: WatchedMaker, _ cloud: [String]) async throws {
        let folder = watched.maker.folder
        let radio = try await SimulatedBluetooth.start(
            ["--log-level", "debug", "--security", "2", "--seed", "7", "--ble-fault", "lose=0.5"] + cloud, in: folder)
        let command = [
            "provision", "--transport", "ble", "--device-name", radio.boards[0].name, "--ssid", SimulatedBoard.ssid,
            "--passphrase-file", folder.file("wifi"), "--events", "ndjson", "--pop-file",
        ]
        for (proof, status) in [("wrong", 10), ("pop", 0)] {
            let ended = try await watched.end(of: command + [folder.file(proof)], environment: radio.environment)
            #expect(ended == .exited(status))
        }
        watched.note(radio.process)
        try await radio.process.terminate()
        try await radio.bus.end()
    }

    private func refusals(_ watched: WatchedMaker, _ cloud: [String]) async throws {
        let folder = watched.maker.folder
        for security in ["1", "2"] {
            let board = try await start(watched, ["--http", "127.0.0.1:0", "--security", security] + cloud)
            #expect(try await watched.run(provision(watched, board, pop: "wrong", ["--json"])) == 10)
            #expect(try await watched.run(provision(watched, board, wifi: "wrong", [])) == 11)
            watched.note(board.process)
        }
        let board = try await start(watched, ["--http", "127.0.0.1:0"] + cloud)
        // Secrets in the arguments are seen there, and nowhere else.
        let inArguments =
            ["provision"] + Maker.way(to: board) + [
                "--pop", SimulatedBoard.proofOfPossession, "--ssid", SimulatedBoard.ssid, "--passphrase",
                "planted-but-wrong",
            ]
        #expect(try await watched.run(inArguments, argumentsHoldSecrets: true) == 11)
        try folder.write(#"{"ver":"v1","name":"PROV_1","pop":"planted-pop","transport":"softap"}"#, to: "qr")
        try folder.write(#"{"ver":"v1","name":"PROV_1","pop":"planted-pop","transport":"pigeon"#, to: "broken-qr")
        for (code, status) in [("qr", 0), ("broken-qr", 65)] {
            let board = try await start(watched, ["--http", "127.0.0.1:0"])
            let scan =
                ["device", "scan"] + Maker.way(to: board) + ["--qrcode", folder.file(code), "--json"]
            #expect(try await watched.run(scan) == status, "\(code)")
        }
    }

    private func device(_ watched: WatchedMaker) async throws {
        let board = try await start(watched, ["--http", "127.0.0.1:0", "--security", "2"])
        let pop = ["--pop-file", watched.maker.folder.file("pop"), "--json"]
        #expect(try await watched.run(["device", "info"] + Maker.way(to: board) + ["--json"]) == 0)
        #expect(try await watched.run(["device", "scan"] + Maker.way(to: board) + pop) == 0)
        // A board that has not failed to join has nothing to forget, and may report that.
        try await watched.run(["device", "reset"] + Maker.way(to: board) + pop)
        watched.note(board.process)
    }

    /// The cloud goes away while the board joins: the mapping's secret stays behind, in its private file.
    private func cloudLost(_ watched: WatchedMaker, _ cloud: SimulatedCloud, node: String) async throws {
        let file = watched.maker.folder.file
        let login = ["login", SimulatedCloud.user, "--password-file", file("password")]
        #expect(try await watched.run(login) == 0)
        let board = try await start(
            watched, ["--http", "127.0.0.1:0", "--join-delay", "8"] + cloud.boardOptions(node: node))
        let status = try await watched.run(
            provision(watched, board, ["--events", "ndjson", "--timeout", "90s"])
        ) { child in
            try await child.output(containing: #""step":"connect""#)
            cloud.process.kill()
        }
        #expect(status == 75)
        #expect(SecretHunt.mode(of: watched.pendingFile) == 0o600)
        #expect(try await watched.run(["whoami", "--json"]) != 64)
        #expect(try await watched.run(["logout", "--json"]) == 0)
        #expect(SecretHunt.mode(of: watched.sessionFile) == nil)
        watched.note(board.process)
    }
}
