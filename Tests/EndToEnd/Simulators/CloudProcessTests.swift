// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// cloud-sim as a program: how it starts, what it says, and that it leaves nothing behind.
@Suite struct CloudProcessTests {
    /// The broker that a cloud-sim with this temporary or data folder runs.
    private static func brokers(in folder: String) async throws -> [pid_t] {
        // pgrep matches the configuration's path, which no other broker has.
        let found = try await run("pgrep", ["-f", "mosquitto -c \(folder)/"])
        return found.standardOutput.split(separator: "\n").compactMap { pid_t($0) }
    }

    private static func ready(_ child: ChildProcess) async throws -> JSONValue {
        try JSONValue(parsing: Array(try await child.readyLine().utf8))
    }

    private static func dataFolder(_ ready: JSONValue) -> String {
        (ready["ca"]?.string ?? "").split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
    }

    @Test("the ready line tells where everything is, and everything is there")
    func readyLine() async throws {
        try await withChildProcess(
            try Executables.path("cloud-sim"), ["--user", "a@b.c:p:w", "--node", "node1", "--node", "node2:rsa"]
        ) { child in
            let line = try await child.readyLine()
            let ready = try JSONValue(parsing: Array(line.utf8))
            #expect(ready.members?.map(\.name) == ["ready", "api", "claim", "mqtt", "ca", "nodes"])
            #expect(ready["ready"] == true)
            #expect(ready["api"]?.string?.hasPrefix("http://127.0.0.1:") == true)
            #expect(ready["mqtt"]?.string?.hasPrefix("127.0.0.1:") == true)
            #expect(ready["nodes"]?.members?.map(\.name) == ["node1", "node2"])
            for node in ready["nodes"]?.members ?? [] {
                for file in ["cert", "key"] { #expect(access(node.value[file]?.string ?? "", R_OK) == 0) }
            }
            // A password may hold a colon.
            let client = APIClient(base: try #require(ready["api"]?.string))
            try await client.signIn("a@b.c", "p:w")
            let status = try await client.send("GET", "/mqtt_host")
            #expect(status.body["mqtt_host"] == ready["mqtt"])
            try await child.terminate()
        }
    }

    @Test("a signal ends it and its broker, and no file stays", arguments: [SIGTERM, SIGINT, SIGHUP])
    func ends(signal: Int32) async throws {
        try await withChildProcess(try Executables.path("cloud-sim"), ["--node", "node1"]) { child in
            let folder = Self.dataFolder(try await Self.ready(child))
            let broker = try await Self.brokers(in: folder)
            #expect(broker.count == 1)
            let time = try await ContinuousClock().measure {
                let status = try await child.terminate(signal)
                #expect(status == .exited(0))
            }
            #expect(time < Timings.limit(.seconds(4)))
            #expect(try await Self.brokers(in: folder).isEmpty)
            #expect(access(folder, F_OK) == -1)
            #expect(child.standardError == "")
        }
    }

    @Test("a certificate request under a pass phrase is refused, and nobody is asked for that")
    func passPhrase() async throws {
        try await withChildProcess(
            try Executables.path("cloud-sim"), ["--user", "a@b.c:Passw0rd"], input: .open
        ) { child in
            let client = APIClient(base: try #require(try await Self.ready(child)["api"]?.string))
            try await client.signIn("a@b.c", "Passw0rd")
            let request = """
                -----BEGIN CERTIFICATE REQUEST-----
                Proc-Type: 4,ENCRYPTED
                DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF

                AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
                -----END CERTIFICATE REQUEST-----

                """
            let reply = try await client.send("POST", "/claim/verify", ["csr": .string(request)])
            #expect(reply.status == 400)
            #expect(!child.standardError.contains("pass phrase"))
            try await child.terminate()
        }
    }

    @Test("when it is killed its broker goes, too")
    func killed() async throws {
        try await withTemporaryFolder { folder in
            try await withChildProcess(try Executables.path("cloud-sim"), ["--data", folder.file("data")]) { child in
                _ = try await child.readyLine()
                let broker = try #require(try await Self.brokers(in: folder.file("data")).first)
                // Only this process, not its group: the kernel must see to the rest.
                try await child.terminate(SIGKILL)
                var isThere = true
                let end = ContinuousClock.now + .waitLimit
                while isThere, ContinuousClock.now < end {
                    isThere = kill(broker, 0) == 0
                    if isThere { try await Task.sleep(for: .milliseconds(10)) }
                }
                #expect(!isThere)
            }
        }
    }

    @Test("when its broker dies it does not pretend: it ends with 70 and says why")
    func brokerDied() async throws {
        try await withChildProcess(try Executables.path("cloud-sim")) { child in
            let folder = Self.dataFolder(try await Self.ready(child))
            let broker = try #require(try await Self.brokers(in: folder).first)
            kill(broker, SIGKILL)
            let status = try await child.wait()
            #expect(status == .exited(70))
            #expect(child.standardError.contains("mosquitto"))
            #expect(access(folder, F_OK) == -1)
        }
    }

    @Test("with a data folder a second run has the same accounts, nodes, keys and broker port")
    func restart() async throws {
        try await withTemporaryFolder { folder in
            let program = try Executables.path("cloud-sim")
            let data = ["--data", folder.file("data")]
            let first = try await withChildProcess(program, data + ["--user", "a@b.c:Passw0rd", "--node", "node1"]) {
                child in
                let ready = try await Self.ready(child)
                try await child.terminate()
                return ready
            }
            let certificate = try readFile(first["nodes"]?["node1"]?["cert"]?.string ?? "")
            try await withChildProcess(program, data) { child in
                let ready = try await Self.ready(child)
                #expect(ready["mqtt"] == first["mqtt"])
                #expect(ready["nodes"] == first["nodes"])
                #expect(try readFile(ready["nodes"]?["node1"]?["cert"]?.string ?? "") == certificate)
                try await APIClient(base: ready["api"]?.string ?? "").signIn("a@b.c", "Passw0rd")
            }
        }
    }

    @Test("codes are in the mailbox, which only its owner reads even where it was there before")
    func mailbox() async throws {
        try await withTemporaryFolder { folder in
            try folder.write("", to: "mailbox")
            chmod(folder.file("mailbox"), 0o644)
            let arguments = ["--mailbox", folder.file("mailbox"), "--journal", folder.file("journal")]
            try await withChildProcess(try Executables.path("cloud-sim"), arguments) { child in
                let client = APIClient(base: try await Self.ready(child)["api"]?.string ?? "")
                let body: JSONValue = ["user_name": "new@example.com", "password": "Passw0rd"]
                #expect(try await client.send("POST", "/v1/user2", body).status == 201)
                let mail = try #require(try TestSupport.Journal(path: folder.file("mailbox")).entries().first)
                #expect(mail.members?.map(\.name) == ["time", "to", "kind", "code"])
                #expect(mail["to"] == "new@example.com" && mail["kind"] == "signup")
                #expect(mail["code"]?.string?.count == 6)
                var status = stat()
                #expect(stat(folder.file("mailbox"), &status) == 0 && status.st_mode & 0o777 == 0o600)
                let confirmation: JSONValue = [
                    "user_name": "new@example.com", "verification_code": mail["code"] ?? .null,
                ]
                #expect(try await client.send("POST", "/v1/user2", confirmation).status == 201)
                try await client.signIn("new@example.com", "Passw0rd")
                try await child.terminate()
            }
        }
    }

    @Test(
        "options that make no sense end it with 64, before anything starts",
        arguments: [
            ["--listen", "nowhere"], ["--user", "nopassword"], ["--user", ":p"], ["--node", "a/b"],
            ["--node", "n:dsa"],
            ["--refresh-grace", "-1"], ["--oauth-client", "x"], ["--code-ttl", "0"], ["--access-ttl", "0"],
            ["--access-ttl", "x"], ["--nonsense"], ["stray"],
        ])
    func usage(arguments: [String]) async throws {
        let finished = try await run(try Executables.path("cloud-sim"), arguments)
        #expect(finished.status == .exited(64))
        #expect(finished.standardOutput.isEmpty)
        #expect(!finished.standardError.isEmpty)
    }

    @Test("a port that is taken, or no mosquitto, is 69 and one sentence that says what to try")
    func unavailable() async throws {
        let program = try Executables.path("cloud-sim")
        try await withChildProcess(program) { child in
            let api = try await Self.ready(child)["api"]?.string?.dropFirst("http://".count) ?? ""
            let second = try await run(program, ["--listen", String(api)])
            #expect(second.status == .exited(69))
            #expect(second.standardError.contains("--listen"))
            try await child.terminate()
        }
        // Without root the mount needs a user namespace.
        let withoutBroker = try await run(
            "unshare",
            namespacePrivileges + ["--mount", "sh", "-c", "mount -t tmpfs none /usr/sbin && exec \"$0\"", program])
        #expect(withoutBroker.status == .exited(69))
        #expect(withoutBroker.standardError.contains("apt-get install mosquitto"))
        let withoutHelper = try await run(program, environment: ["PATH": "/usr/sbin"])
        #expect(withoutHelper.status == .exited(69))
        #expect(withoutHelper.standardError.contains("setpriv"), "\(withoutHelper.standardError)")
    }

    @Test("a data folder that cannot be made, or holds something else, is 74")
    func storage() async throws {
        try await withTemporaryFolder { folder in
            let program = try Executables.path("cloud-sim")
            let missing = try await run(program, ["--data", folder.file("a/b/c")])
            #expect(missing.status == .exited(74))
            try folder.write("not ours", to: "state.json")
            let foreign = try await run(program, ["--data", folder.path])
            #expect(foreign.status == .exited(74))
            #expect(foreign.standardError.contains("--data"))
        }
    }

    @Test("a data folder that another simulator uses is 69, and is free when that has ended")
    func dataInUse() async throws {
        try await withTemporaryFolder { folder in
            let program = try Executables.path("cloud-sim")
            let data = ["--data", folder.file("data")]
            try await withChildProcess(program, data) { child in
                _ = try await Self.ready(child)
                let second = try await run(program, data)
                #expect(second.status == .exited(69))
                #expect(second.standardError.contains("another simulator uses the data"), "\(second.standardError)")
                try await child.terminate()
            }
            try await withChildProcess(program, data) { child in _ = try await Self.ready(child) }
        }
    }

    @Test("the folder of one that was killed is removed by the next, and no other")
    func abandoned() async throws {
        try await withTemporaryFolder { folder in
            let program = try Executables.path("cloud-sim")
            let environment = ["TMPDIR": folder.path]
            // Somebody else's, of which nothing says that it was left behind.
            let strange = folder.file("cloud-sim-strange")
            #expect(mkdir(strange, 0o700) == 0)
            try await withChildProcess(program, environment: environment) { living in
                let kept = Self.dataFolder(try await Self.ready(living))
                var left = ""
                try await withChildProcess(program, environment: environment) { killed in
                    left = Self.dataFolder(try await Self.ready(killed))
                    killed.kill()
                    _ = try await killed.wait()
                }
                #expect(access(left, F_OK) == 0)
                try await withChildProcess(program, environment: environment) { next in
                    _ = try await Self.ready(next)
                    #expect(access(left, F_OK) != 0)
                    #expect(access(kept, F_OK) == 0)
                    #expect(access(strange, F_OK) == 0)
                }
            }
        }
    }
}
