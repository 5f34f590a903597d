// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import Synchronization
import TestSupport
import Testing

/// `rainctl serve` as a process, with a client that keeps its answers apart by their ids.
private final class ServeClient: Sendable {
    let process: ChildProcess
    private let kept = Mutex<[JSONValue]>([])
    private let numbers = Atomic<Int64>(0)

    init(_ maker: Maker, _ options: [String] = []) async throws {
        process = try await maker.start(["serve"] + options, input: .open)
    }

    deinit { process.kill() }

    @discardableResult
    func send(_ method: String, _ params: JSONValue = [:]) -> JSONValue {
        let id = JSONValue.integer(numbers.add(1, ordering: .relaxed).newValue)
        let request: JSONValue = ["jsonrpc": "2.0", "id": id, "method": .string(method), "params": params]
        process.write(request.serialized() + [0x0A])
        return id
    }

    /// The next message like that; others are kept. One caller at a time.
    func message(_ isMeant: (JSONValue) -> Bool) async throws -> JSONValue {
        while true {
            let found = kept.withLock { kept in
                kept.firstIndex(where: isMeant).map { kept.remove(at: $0) }
            }
            if let found { return found }
            guard let line = try await process.line() else {
                throw ProcessError("serve has ended: \(process.standardError)")
            }
            let message = try JSONValue(parsing: Array(line.utf8))
            kept.withLock { $0.append(message) }
        }
    }

    func answer(to id: JSONValue) async throws -> JSONValue { try await message { $0["id"] == id } }

    func event(of id: JSONValue, _ isMeant: (JSONValue) -> Bool) async throws -> JSONValue {
        try await message { $0["params"]?["id"] == id && isMeant($0) }["params"] ?? .null
    }

    func result(_ method: String, _ params: JSONValue = [:]) async throws -> JSONValue {
        let answer = try await answer(to: send(method, params))
        return try #require(answer["result"], "\(answer)")
    }
}

@Suite("rainctl serve")
struct ServeTests {
    @Test("provisions a board with events, and keeps its secrets to itself")
    func provisions() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-served"], in: folder)
            let maker = try Maker(folder)
            try await maker.use(cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1"] + cloud.boardOptions(node: "node-served"), in: folder)
            let log = folder.file("serve.log")
            let client = try await ServeClient(maker, ["-vv", "--log-file", log])

            let refused = try await client.answer(
                to: client.send("login", ["user": .string(SimulatedCloud.user), "password": "planted-but-wrong"]))
            #expect(refused["error"]?["code"] == 77, "\(refused)")
            #expect(refused["error"]?["data"]?["error"]?["reason"] == "invalid_credentials")
            let signedIn = try await client.result(
                "login", ["user": .string(SimulatedCloud.user), "password": .string(SimulatedCloud.password)])
            #expect(signedIn["user_name"]?.string == SimulatedCloud.user)

            let run = client.send(
                "provision",
                [
                    "transport": "softap", "device_host": .string(board.http ?? ""), "events": true,
                    "pop": .string(SimulatedBoard.proofOfPossession), "ssid": .string(SimulatedBoard.ssid),
                    "passphrase": .string(SimulatedBoard.passphrase),
                ])
            // Other requests are answered meanwhile.
            let whoami = client.send("whoami", ["offline": true])
            let event = try await client.event(of: run) { $0["params"]?["event"]?["step"] == "associate" }
            #expect(event["event"]?["run"]?.string?.isEmpty == false)
            #expect(try await client.answer(to: whoami)["result"]?["user_name"]?.string == SimulatedCloud.user)
            let done = try await client.answer(to: run)
            #expect(done["result"]?["node_id"] == "node-served", "\(done)")
            #expect(done["result"]?["mapping"] == "confirmed")
            #expect(done["result"]?["warnings"] == nil)
            let nodes = try await client.result("node.list")
            #expect(nodes["nodes"]?.array?.first?["node_id"] == "node-served")

            client.process.write("not json\n")
            let unread = try await client.message { $0["id"] == JSONValue.null }
            client.process.closeInput()
            #expect(try await client.process.wait() == .exited(0))
            let planted = [
                SimulatedCloud.password, "planted-but-wrong", SimulatedBoard.proofOfPossession,
                SimulatedBoard.passphrase,
            ]
            let shown = try client.process.standardOutput + client.process.standardError + readFile(log)
            for secret in planted { #expect(!shown.contains(secret), "\(secret)") }
            #expect(shown.contains("node.list"))

            let validator = ForeignValidator(folder: folder)
            let lines = client.process.standardOutput.split(separator: "\n").map(String.init)
            let notices = lines.filter { $0.contains("\"method\":") }
            #expect(notices.count > 5)
            #expect(try await validator.complaints(notices, against: "rpc-notification.json", isClosed: false) == "")
            let answers = lines.filter { !$0.contains("\"method\":") }
            #expect(try await validator.complaints(answers, against: "rpc-response.json", isClosed: false) == "")
            #expect(unread["error"]?["code"] == -32700)
        }
    }

    @Test("watches while other requests run; a request and the server can be ended at any time")
    func watches() async throws {
        try await OnlineBoards.with { scene in
            let client = try await ServeClient(scene.maker)
            let watch = client.send("node.watch", ["nodes": "nodelight"])
            _ = try await client.event(of: watch) { $0["method"] == "note" }
            let lists = (0..<10).map { _ in client.send("node.list") }
            let set = client.send("node.params.set", ["nodes": "nodelight", "values": ["Light.Power": false]])
            for id in lists {
                #expect(try await client.answer(to: id)["result"]?["nodes"]?.array?.count == 1)
            }
            #expect(try await client.answer(to: set)["result"] != nil)
            let change = try await client.event(of: watch) { $0["method"] == "event" }
            #expect(change["event"]?["path"] == "Light.Power" && change["event"]?["value"] == false, "\(change)")

            #expect(try await client.result("cancel", ["id": watch])["cancelled"] == true)
            let cancelled = try await client.answer(to: watch)
            #expect(cancelled["error"]?["data"]?["error"]?["code"] == "cancelled", "\(cancelled)")

            let counted = client.send("node.watch", ["nodes": "nodelight", "count": 1])
            _ = try await client.event(of: counted) { $0["method"] == "note" }
            client.send("node.params.set", ["nodes": "nodelight", "values": ["Light.Power=on"]])
            #expect(try await client.answer(to: counted)["result"]?["schema_version"] == 1)

            let last = client.send("node.watch", ["nodes": "nodelight"])
            _ = try await client.event(of: last) { $0["method"] == "note" }
            client.process.signal(SIGTERM)
            #expect(try await client.answer(to: last)["error"]?["code"] == 130)
            #expect(try await client.process.wait() == .exited(0))
        }
    }

    @Test("requests share a connection to the cloud, and each has its own account, warnings and errors")
    func sharesConnections() async throws {
        try await withTemporaryFolder { folder in
            let connections = Atomic(0)
            let server = try LoopbackServer(remembersRequests: false) { peer in
                connections.add(1, ordering: .relaxed)
                while let request = peer.readRequest() {
                    let call = request.requestLine
                    if call.hasPrefix("POST /v1/login2 ") {
                        peer.respond("200 OK", CannedCloud.tokens.body)
                    } else if call.hasPrefix("GET /v1/user2 ") {
                        peer.respond("200 OK", CannedCloud.profile.body)
                    } else {
                        peer.respond("200 OK", #"{"nodes":[],"node_details":[],"total":0}"#)
                    }
                }
            }
            let maker = try Maker(folder)
            try maker.point(at: String(server.url.dropLast()))
            let client = try await ServeClient(maker)
            _ = try await client.result(
                "login", ["user": .string(SimulatedCloud.user), "password": .string(SimulatedCloud.password)])
            for _ in 0..<5 { #expect(try await client.result("node.list")["nodes"] == []) }
            #expect(connections.load(ordering: .relaxed) == 1)

            let stranger = client.send("node.list", ["account": "stranger"])
            let spid = client.send("whoami", ["provider": "spid"])
            let own = client.send("node.list")
            let failure = try await client.answer(to: stranger)["error"]
            #expect(failure?["message"]?.string?.contains("stranger") == true, "\(failure ?? .null)")
            #expect(try await client.answer(to: spid)["error"]?["message"]?.string?.contains("--provider spid") == true)
            #expect(try await client.answer(to: own)["result"]?["nodes"] == [])
            let lacking = try await client.answer(to: client.send("device.send", ["endpoint": "x"]))
            #expect(lacking["error"]?["data"]?["error"]?["reason"] == "missing_data", "\(lacking)")
            let list = try await client.result("methods")
            #expect(list["methods"]?.array?.contains { $0["name"] == "provision" } == true)
        }
    }

    @Test("a session in memory is renewed and lasts until the server ends, and no other program has it")
    func sessionInMemory() async throws {
        try await withTemporaryFolder { folder in
            // A refresh token that is used twice ends the session.
            let cloud = try await SimulatedCloud.start(
                arguments: [
                    "--rotate-refresh", "--refresh-grace", "0", "--user",
                    "\(OnlineBoards.friend):\(SimulatedCloud.password)",
                ], in: folder)
            let maker = try Maker(folder)
            try await maker.use(cloud)
            let client = try await ServeClient(maker)
            let account: JSONValue = [
                "user": .string(SimulatedCloud.user), "password": .string(SimulatedCloud.password), "store": "memory",
            ]
            #expect(try await client.result("login", account)["store"] == "memory")
            for _ in 0..<3 {
                _ = try await client.result("account.refresh")
                #expect(try await client.result("whoami")["user_name"]?.string == SimulatedCloud.user)
                #expect(try await client.result("node.list")["nodes"] == [])
            }
            #expect(try cloud.journal.entries(where: ["event": "refresh"]).count == 3)
            #expect(try await client.result("account.list")["accounts"]?.array?.first?["current"] == true)
            #expect(try await maker.rainctl("whoami", "--offline").status == 77)

            // What another process stores counts from the next request on.
            folder.writePrivately(Array(SimulatedCloud.password.utf8), to: "password")
            let friend = OnlineBoards.friend
            for command in [
                ["login", friend, "--password-file", folder.file("password")], ["account", "use", friend],
            ] {
                let user = try await client.result("whoami", ["offline": true])["user_name"]?.string
                #expect(user == SimulatedCloud.user)
                let outcome = try await maker.rainctl(command)
                #expect(outcome.status == 0, "\(outcome.standardError)")
            }
            #expect(try await client.result("whoami", ["offline": true])["user_name"]?.string == friend)
            _ = try await client.result("account.use", ["name": .string(SimulatedCloud.user)])

            // A tested password does not change the account in use.
            var test = account
            test = .object((test.members ?? []).filter { $0.name != "store" } + [.init("no_save", true)])
            #expect(try await client.result("logout")["schema_version"] == 1)
            #expect(try await client.result("login", test)["signed_in"] == true)
            #expect(try await client.result("whoami", ["offline": true])["user_name"]?.string == friend)

            _ = try await client.result("login", account)
            let user = try await client.result("whoami", ["offline": true])["user_name"]?.string
            #expect(user == SimulatedCloud.user)
            client.process.closeInput()
            #expect(try await client.process.wait() == .exited(0))
            let next = try await ServeClient(maker)
            #expect(try await next.result("whoami", ["offline": true])["user_name"]?.string == friend)
        }
    }

    @Test("at a socket, several programs of the same user are answered, and no others")
    func socket() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            try folder.makeFolder("open")
            chmod(folder.file("open"), 0o755)
            let refused = try await maker.rainctl("serve", "--socket", folder.file("open/s"), "--json")
            #expect(refused.status == 69)
            #expect(refused.failure?["reason"] == "cannot_listen", "\(refused.standardOutput)")

            let path = folder.file("private/rainctl.sock")
            let killed = try await maker.start(["serve", "--socket", path])
            #expect(try await killed.readyLine() == "Listening at \(path).")
            killed.kill()
            _ = try await killed.wait()
            let server = try await maker.start(["serve", "--socket", path])
            defer { server.kill() }
            _ = try await server.readyLine()
            let second = try await maker.rainctl("serve", "--socket", path, "--json")
            #expect(second.failure?["reason"] == "cannot_listen", "\(second.standardOutput)")
            var status = stat()
            #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)

            let script = """
                import json, socket
                def client():
                    peer = socket.socket(socket.AF_UNIX)
                    peer.connect("\(path)")
                    return peer, peer.makefile("r")
                clients = [client(), client()]
                for peer, _ in clients:
                    peer.sendall(b'{"jsonrpc":"2.0","id":1,"method":"profile.list"}\\n')
                try:
                    print([json.loads(file.readline())["result"]["profiles"][0]["profile"] for _, file in clients])
                except ValueError:
                    print("no answer")
                """
            let own = try await run("/usr/bin/python3", ["-c", script])
            #expect(own.standardOutput == "['global', 'global']\n", "\(own.standardError)")
            if geteuid() == 0 {
                for open in [folder.path, folder.file("private")] { chmod(open, 0o755) }
                chmod(path, 0o777)
                let foreign = try await run(
                    "setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", script])
                let isRefused = foreign.standardOutput == "no answer\n" || foreign.standardError.contains("Error")
                #expect(isRefused && !foreign.standardOutput.contains("global"), "\(foreign)")
            }
            #expect(try await server.terminate() == .exited(0))
            #expect(lstat(path, &status) != 0)
        }
    }

    @Test("the client of docs/from-any-language.md starts a killed server again")
    func documentedClient() async throws {
        let page = try readFile(Repository.path("docs/from-any-language.md"))
        let section = try #require(page.firstRange(of: "## If the server ends\n"))
        let block = page[section.upperBound...].split(separator: "```python\n", maxSplits: 1).last ?? ""
        let client = String(block.prefix(upTo: try #require(block.firstRange(of: "\n```")).lowerBound))
        let program = """
            \(client)
            rainctl = Rainctl()
            for _ in range(2):
                print(rainctl.call("profile.list")["profiles"][0]["profile"])
                rainctl.server.kill()
            try: rainctl.call("whoami")
            except RuntimeError as error: print(error.args[1])
            """
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let path = try Executables.path("rainctl").split(separator: "/").dropLast().joined(separator: "/")
            let finished = try await run(
                "/usr/bin/python3", ["-c", program],
                environment: maker.environment.merging(["PATH": "/\(path):/usr/bin:/bin"]) { $1 })
            #expect(finished.standardOutput == "global\nglobal\nnot_signed_in\n", "\(finished.standardError)")
        }
    }

    @Test("the programs of docs/from-any-language.md run as they are", arguments: ["python", "js"])
    func documentedPrograms(language: String) async throws {
        let page = try readFile(Repository.path("docs/from-any-language.md"))
        let block = page.split(separator: "```\(language)\n", maxSplits: 1).last ?? ""
        let program = String(block.prefix(upTo: try #require(block.firstRange(of: "\n```")).lowerBound))
        try await OnlineBoards.with { scene in
            let path = try Executables.path("rainctl").split(separator: "/").dropLast().joined(separator: "/")
            let environment = scene.maker.environment.merging(
                ["PATH": "/\(path):/usr/bin:/bin"]) { $1 }
            let finished = try await run(
                language == "js" ? "/usr/bin/node" : "/usr/bin/python3", [language == "js" ? "-e" : "-c", program],
                environment: environment)
            #expect(finished.status == .exited(0), "\(finished.standardError)")
            let lines = finished.standardOutput.split(separator: "\n")
            #expect(lines.first == "signed in as \(SimulatedCloud.user)")
            #expect(lines.dropFirst().first == "nodelight Light", "\(lines)")
            // It toggles the lamp, so a change arrives whatever its state was.
            #expect(lines.last?.lowercased().hasPrefix("light.power is ") == true, "\(lines)")
        }
    }
}
