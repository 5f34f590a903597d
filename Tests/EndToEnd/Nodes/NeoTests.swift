// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON
import RainKit
import TestSupport
import Testing

/// A person with a deployment of RainMaker Neo: the same commands as with RainMaker's own cloud.
@Suite("rainctl with RainMaker Neo")
struct NeoCommandTests {
    private struct Scene: Sendable {
        let neo: SimulatedNeo
        let maker: Maker

        @discardableResult
        func done(
            _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
        ) async throws -> Maker.Outcome {
            let outcome = try await maker.rainctl(arguments)
            #expect(
                outcome.status == 0, "\(arguments): \(outcome.standardOutput)\(outcome.standardError)",
                sourceLocation: sourceLocation)
            return outcome
        }

        func document(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws
            -> JSONValue
        {
            let outcome = try await maker.rainctl(arguments + ["--json"])
            #expect(
                outcome.status == 0, "\(arguments): \(outcome.standardOutput)\(outcome.standardError)",
                sourceLocation: sourceLocation)
            return try JSONValue(parsing: Array(outcome.standardOutput.utf8))
        }

        /// The error of a command that is to fail.
        func failure(_ arguments: String...) async throws -> JSONValue {
            let outcome = try await maker.rainctl(arguments + ["--json"])
            #expect(outcome.status != 0, "\(arguments): \(outcome.standardOutput)")
            return outcome.failure ?? .null
        }

        func board(_ more: [String] = []) async throws -> SimulatedBoard {
            try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1", "--mapping", "ch-resp", "--join-delay", "0.2"] + more
                    + neo.boardOptions(), in: maker.folder)
        }

        func provisioned(_ more: [String] = []) async throws -> SimulatedBoard {
            let board = try await board(more)
            let outcome = try await maker.provision(board, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["node_id"]?.string == SimulatedNeo.node)
            return board
        }
    }

    private func with(_ body: (Scene) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let neo = try await SimulatedNeo.start(in: folder)
            let maker = try Maker(folder)
            try folder.write(SimulatedIdentity.password, to: "password")
            let scene = Scene(neo: neo, maker: maker)
            try await scene.done("profile", "add", "home", "--neo", neo.outputs)
            try await scene.done("profile", "use", "home")
            try await scene.done("login", SimulatedNeo.user, "--password-file", folder.file("password"))
            try await body(scene)
        }
    }

    @Test("profile, sign-in, provisioning, list, a value that is set and seen, watching, history, schedules")
    func conversation() async throws {
        try await with { scene in
            #expect(try await scene.done("whoami").standardOutput.contains(SimulatedNeo.user))
            #expect(try await scene.done("profile", "show").standardOutput.contains("neo_region"))
            // It ends with its last reference.
            let board = try await scene.provisioned(["--sensor", "1"])
            defer { board.process.kill() }

            let list = try await scene.document("node", "list")
            #expect(list["nodes"]?.array?.count == 1)
            #expect(list["nodes"]?.array?.first?["node_id"]?.string == SimulatedNeo.node)
            #expect(list["nodes"]?.array?.first?["connected"]?.bool == true, "\(list)")
            #expect(try await scene.done("node", "show", "Light").standardOutput.contains(SimulatedNeo.node))
            #expect(try await scene.done("node", "params", "get", "Light", "Light.Power").standardOutput == "true\n")

            let watching = try await scene.maker.start(["node", "watch", "Light", "--json"])
            defer { watching.kill() }
            try await watching.output(containing: "Temperature")
            // Until the board itself has reported it.
            try await scene.done("node", "params", "set", "Light", "Light.Power=off", "--wait")
            try await watching.output(containing: "Power")
            #expect(try await scene.done("node", "params", "get", "Light", "Light.Power").standardOutput == "false\n")

            _ = try await scene.neo.journal.entry(where: ["what": "ts"])
            let history = try await scene.document(
                "node", "history", "Light", "Sensor.Temperature", "--since", "1h")
            #expect(history["series"]?.array?.first?["records"]?.array?.isEmpty == false, "\(history)")

            try await scene.done(
                "node", "schedule", "add", "Light", "--name", "Evening", "--at", "21:30", "--days", "daily",
                "Light.Power=off")
            let schedules = try await scene.done("node", "schedule", "list", "Light").standardOutput
            #expect(schedules.contains("Evening"), "\(schedules)")
            try await scene.done("node", "schedule", "remove", "Light", "Evening")
            #expect(try await !scene.done("node", "schedule", "list", "Light").standardOutput.contains("Evening"))
        }
    }

    @Test("groups and their members; what Neo does not have is refused by name")
    func groups() async throws {
        try await with { scene in
            let board = try await scene.provisioned()
            defer { board.process.kill() }
            #expect(try await scene.done("group", "list").standardOutput.contains("Home"))
            try await scene.done("group", "add", "Kitchen", "--parent", "Home", "--nodes", "Light")
            #expect(try await scene.done("group", "show", "Kitchen").standardOutput.contains("Light"))
            // Its shadow has another name now, and the board follows.
            try await scene.done("node", "params", "set", "Light", "Light.Power=off", "--wait")
            try await scene.done("group", "edit", "Kitchen", "--name", "Galley")
            for (user, says) in [("bob", "an e-mail address"), (SimulatedNeo.user, "is the signed-in user")] {
                let refused = try await scene.maker.rainctl("group", "share", "add", "Home", "--with", user, "--json")
                #expect(refused.status != 0 && refused.standardOutput.contains(says), "\(refused.standardOutput)")
            }
            let unknown = try await scene.maker.rainctl("group", "share", "accept", "nonsense", "--json")
            #expect(unknown.standardOutput.contains("There is no open offer nonsense"), "\(unknown.standardOutput)")
            try await scene.done("group", "share", "add", "Home", "--with", SimulatedNeo.friend)

            let folder = scene.maker.folder
            let home = ["XDG_STATE_HOME": folder.file("friend-state"), "XDG_CONFIG_HOME": folder.file("friend-config")]
            try folder.write("battery-staple", to: "friend-password")
            func asFriend(_ arguments: String...) async throws -> Maker.Outcome {
                let outcome = try await scene.maker.rainctl(arguments, environment: home)
                #expect(outcome.status == 0, "\(arguments): \(outcome.standardOutput)\(outcome.standardError)")
                return outcome
            }
            _ = try await asFriend("profile", "add", "home", "--neo", scene.neo.outputs)
            _ = try await asFriend("profile", "use", "home")
            _ = try await asFriend("login", SimulatedNeo.friend, "--password-file", folder.file("friend-password"))
            let requests = try await asFriend("group", "share", "requests", "--json").document
            let id = try #require(
                requests?["requests"]?.array?.first?["request_id"]?.string, "\(String(describing: requests))")
            _ = try await asFriend("group", "share", "accept", id)
            #expect(try await asFriend("node", "list").standardOutput.contains(SimulatedNeo.node))
            try await scene.done("group", "share", "remove", "Home", "--with", SimulatedNeo.friend)

            for arguments in [
                ["node", "command", "send", "Light", "1"], ["automation", "list"], ["node", "share", "list"],
                ["node", "tags", "add", "Light", "a:b"],
            ] {
                let outcome = try await scene.maker.rainctl(arguments + ["--json"])
                #expect(outcome.failure?["reason"]?.string == "unsupported", "\(arguments): \(outcome.standardOutput)")
                #expect(
                    outcome.failure?["message"]?.string?.contains("RainMaker Neo") == true, "\(outcome.standardOutput)")
            }
        }
    }

    @Test("a 403 gets new credentials once; a fault that stays is reported")
    func renewal() async throws {
        try await with { scene in
            try await scene.done("group", "add", "Home")
            let rule: JSONValue = ["path": "/prod/v1/groups", "action": "status", "status": 403, "count": 1]
            try await scene.neo.control("faults", ["rules": [rule]])
            try await scene.done("group", "list")
            let issued = try scene.neo.journal.entries(where: ["event": "request", "path": "/prod/v1/user/credentials"])
            // One for each command, and one for the refusal.
            #expect(issued.count == 3)
            let always: JSONValue = ["path": "/prod/v1/groups", "action": "status", "status": 403]
            try await scene.neo.control("faults", ["rules": [always]])
            #expect(try await scene.failure("group", "list")["reason"]?.string == "forbidden")
        }
    }

    @Test("a wrong answer burns the challenge, and the next run gets another")
    func burntChallenge() async throws {
        try await with { scene in
            let other = "00000000-0000-4000-8000-00000000ffff"
            // A board whose key is not the registered one.
            let stranger = try await SimulatedBoard.start(
                [
                    "--http", "127.0.0.1:0", "--security", "1", "--mapping", "ch-resp", "--node-id", SimulatedNeo.node,
                    "--key",
                    try await strangeKey(in: scene.maker.folder, other),
                ], in: scene.maker.folder)
            let refused = try await scene.maker.provision(stranger, ["--json"])
            #expect(refused.status == 13, "\(refused.standardOutput)")
            #expect(refused.failure?["message"]?.string?.contains("signature") == true, "\(refused.standardOutput)")
            // Nothing of its Wi-Fi was sent.
            #expect(try stranger.journal.entries(where: ["change": "challenge_signed"]).count == 1)
            #expect(try stranger.journal.entries(where: ["change": "credentials_received"]).isEmpty)
            let board = try await scene.provisioned()
            #expect(try board.journal.entries(where: ["change": "credentials_received"]).count == 1)
            let requests = try scene.neo.journal.entries(where: ["event": "request", "method": "POST"])
            let associations = requests.filter { $0["path"]?.string?.hasSuffix("/node-assoc-requests") == true }
            #expect(associations.count == 2)
        }
    }

    @Test("a board that the deployment does not know gets no Wi-Fi, and the message says what it lacks")
    func unknownBoard() async throws {
        try await with { scene in
            let stranger = try await SimulatedBoard.start(
                [
                    "--http", "127.0.0.1:0", "--security", "1", "--mapping", "ch-resp", "--node-id", "node-nobody",
                    "--key",
                    try #require(scene.neo.boardOptions().last),
                ], in: scene.maker.folder)
            let refused = try await scene.maker.provision(stranger, ["--json"])
            #expect(refused.status == 13, "\(refused.standardOutput)")
            let message = refused.failure?["message"]?.string ?? ""
            #expect(message.contains("no certificate") && message.contains("node-nobody"), "\(message)")
            #expect(!message.lowercased().contains("try again"), "\(message)")
            #expect(try stranger.journal.entries(where: ["change": "credentials_received"]).isEmpty)
            // The challenge was answered once.
            let requests = try scene.neo.journal.entries(where: ["event": "request", "method": "POST"])
            #expect(requests.filter { $0["path"]?.string?.hasSuffix("/verify") == true }.count == 1)
        }
    }

    @Test(
        "an answer whose reply is lost is followed by another challenge, and Wi-Fi comes after that",
        .timeLimit(.minutes(10)))
    func lostReply() async throws {
        try await with { scene in
            let board = try await scene.board()
            try await scene.done("group", "add", "Home")
            let passes: JSONValue = [
                "path": "/prod/v1/groups/*", "method": "POST", "action": "delay", "delay_ms": 1, "count": 1,
            ]
            let fault: JSONValue = [
                "path": "/prod/v1/groups/*", "method": "POST", "action": "status", "status": 503, "count": 1,
            ]
            try await scene.neo.control("faults", ["rules": [passes, fault]])
            let outcome = try await scene.maker.provision(board, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(try board.journal.entries(where: ["change": "challenge_signed"]).count == 2)
            #expect(try board.journal.entries(where: ["change": "credentials_received"]).count == 1)
            let requests = try scene.neo.journal.entries(where: ["event": "request", "method": "POST"])
            let verified = requests.compactMap { $0["path"]?.string }.filter { $0.hasSuffix("/verify") }
            #expect(verified.count == 2 && Set(verified).count == 2, "\(verified)")
        }
    }

    @Test("a wrong clock on either side does not matter", arguments: [90_000, -90_000])
    func wrongClock(offset: Int64) async throws {
        try await with { scene in
            try await scene.neo.control("clock", ["offset": .integer(offset)])
            try await scene.done("group", "add", "Home")
            #expect(try await scene.done("group", "list").standardOutput.contains("Home"))
        }
    }

    @Test("what RainKit does not use is not called absent, and local control is refused before any search")
    func notUsed() async throws {
        try await with { scene in
            for (arguments, words) in [
                (["automation", "list"], "RainKit does not support automations of RainMaker Neo yet"),
                (["node", "share", "requests"], "offers of groups"),
                (["node", "params", "get", "n1", "--local"], "local control of RainMaker Neo"),
                (["node", "params", "set", "n1", "Light.Power=on", "--local"], "local control of RainMaker Neo"),
                (["on", "n1", "--local"], "local control of RainMaker Neo"),
                (["login", SimulatedNeo.user, "--one-time-code"], "one-time codes"),
            ] {
                let outcome = try await scene.maker.rainctl(arguments + ["--json"])
                #expect(outcome.failure?["reason"]?.string == "unsupported", "\(arguments): \(outcome.standardOutput)")
                #expect(outcome.failure?["message"]?.string?.contains(words) == true, "\(outcome.standardOutput)")
            }
        }
    }

    @Test("the page's commands put a simulated board into the account", .timeLimit(.minutes(10)))
    func page() async throws {
        let page = try readFile(Repository.path("docs/neo.md"))
        let section = try #require(page.firstRange(of: "## Simulated\n")).upperBound
        let block = String(try #require(page[section...].firstMatch(of: /\n```sh\n((?:[^`]+\n)+)```\n/)).1)
        // Other tests run at the same time: any port that is free.
        #expect(block.matches(of: /127\.0\.0\.1:8080/).count == 2)
        let script =
            "set -e\ntrap 'kill $(jobs -p)' EXIT\n"
            + block.replacing("--http 127.0.0.1:8080", with: "--http 127.0.0.1:0").replacing(
                "--device-host 127.0.0.1:8080",
                with: #"--device-host "$(sed 's/.*"http":"\([^"]*\)".*/\1/' board.json)""#)
        try await withTemporaryFolder { folder in
            let programs = try Executables.path("rainctl").split(separator: "/").dropLast().joined(separator: "/")
            let finished = try await run(
                "bash", ["-c", script],
                environment: try Maker(folder).environment.merging(["PATH": "/\(programs):/usr/sbin:/usr/bin:/bin"]) {
                    $1
                },
                directory: folder.path)
            #expect(finished.status == .exited(0), "\(finished.standardError)\(finished.standardOutput)")
            #expect(
                finished.standardOutput.contains("00000000-0000-4000-8000-000000000001  online"),
                "\(finished.standardOutput)")
        }
    }

    @Test("a request that is older than five minutes is refused, and nothing reached the board's Wi-Fi")
    func expiredRequest() async throws {
        try await with { scene in
            let board = try await scene.board()
            try await scene.done("group", "add", "Home")
            // The first POST below a group is the request itself, and passes. The second is the answer.
            let passes: JSONValue = [
                "path": "/prod/v1/groups/*", "method": "POST", "action": "delay", "delay_ms": 1, "count": 1,
            ]
            let refusal: JSONValue = [
                "path": "/prod/v1/groups/*", "method": "POST", "action": "status", "status": 400, "count": 1,
                "body": ["message": "Invalid request ID"],
            ]
            try await scene.neo.control("faults", ["rules": [passes, refusal]])
            let outcome = try await scene.maker.provision(board, ["--json"])
            #expect(outcome.status == 13, "\(outcome.standardOutput)")
            #expect(outcome.failure?["message"]?.string?.contains("five minutes") == true, "\(outcome.standardOutput)")
            #expect(try board.journal.entries(where: ["change": "credentials_received"]).isEmpty)
        }
    }

    @Test("a node without a report has no values yet, and is offline")
    func noShadow() async throws {
        try await with { scene in
            // On Wi-Fi, but without a broker: it is associated and never reports.
            let options = try scene.neo.boardOptions()
            let key = try #require(options.firstIndex(of: "--key"))
            let silent = try await SimulatedBoard.start(
                [
                    "--http", "127.0.0.1:0", "--security", "1", "--mapping", "ch-resp", "--node-id", SimulatedNeo.node,
                    "--key",
                    options[key + 1],
                ], in: scene.maker.folder)
            let folder = scene.maker.folder
            let provisioning = try await scene.maker.start(
                ["provision"] + Maker.way(to: silent) + [
                    "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    folder.file("wifi"),
                ])
            defer { provisioning.kill() }
            _ = try await scene.neo.journal.entry(where: ["what": "associated"])
            let list = try await scene.document("node", "list")
            #expect(list["nodes"]?.array?.first?["connected"]?.bool == false, "\(list)")
            let values = try await scene.maker.rainctl(["node", "params", "get", SimulatedNeo.node, "--json"])
            #expect(values.failure?["message"]?.string?.contains("not reported") == true, "\(values.standardOutput)")
        }
    }

    /// The key file of another node.
    private func strangeKey(in folder: TemporaryFolder, _ node: String) async throws -> String {
        let finished = try await run(
            "/usr/bin/openssl",
            ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", folder.file("\(node).pem")],
            within: .waitLimit)
        guard finished.status == .exited(0) else { throw ProcessError("no key: \(finished.standardError)") }
        return folder.file("\(node).pem")
    }
}
