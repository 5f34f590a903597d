// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Espressif's own client against our simulated cloud, the account part.
@Suite("The official client's account")
struct OfficialClientAccountTests {
    private static func with(
        _ arguments: [String] = [], nodes: [String] = [], _ body: (SimulatedCloud, OfficialClient) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: nodes, arguments: arguments, in: folder)
            let client = try await OfficialClient(api: cloud.api, in: folder)
            try await body(cloud, client)
            try await cloud.process.terminate()
        }
    }

    /// `METHOD path status` of each request, in order.
    private static func requests(_ journal: Journal) throws -> [String] {
        try journal.entries(where: ["event": "request"]).map { entry in
            "\(entry["method"]?.string ?? "") \(entry["path"]?.string ?? "") \(entry["status"]?.integer ?? 0)"
        }
    }

    @Test("signs in, asks who it is and what it has, and signs out")
    func journey() async throws {
        try await Self.with { cloud, client in
            try await client.logIn()
            let info = try await client.run(["getuserinfo"])
            try await client.run(["getnodes"])
            let broker = try await client.run(["getmqtthost"])
            try await client.run(["logout"])
            let requests = try Self.requests(cloud.journal)
            #expect(
                requests == [
                    "POST /v1/login2 200", "GET /v1/user 200", "GET /v1/user/nodes 200", "GET /mqtt_host 200",
                    "POST /v1/logout2 200",
                ])
            // Those with a token were made as our user.
            let asUser = try cloud.journal.entries(where: ["event": "request", "user": .string(SimulatedCloud.user)])
            #expect(asUser.count == 3)
            #expect(info.standardOutput.contains(SimulatedCloud.user))
            #expect(broker.standardOutput.contains(cloud.mqtt))
        }
    }

    private static let newcomer = "newcomer@example.com"

    /// Types an answer when the question is there.
    private static func answer(_ question: String, _ text: String, _ child: ChildProcess) async throws {
        try await child.output(containing: question)
        child.write(text + "\n")
    }

    @Test("signs up, signs in, resets a forgotten password and deletes the account")
    func account() async throws {
        try await Self.with { cloud, client in
            try await client.converse(["signup", Self.newcomer]) { child in
                try await Self.answer("Password : ", "Planted1first", child)
                try await Self.answer("Confirm Password : ", "Planted1first", child)
                try await child.output(containing: "Verification Code : ")
                child.write(try cloud.code("signup", to: Self.newcomer) + "\n")
            }
            try await client.logIn(Self.newcomer, "Planted1first")
            let info = try await client.run(["getuserinfo"])
            #expect(info.standardOutput.contains(Self.newcomer))
            try await client.run(["logout"])

            try await client.converse(["forgotpassword", Self.newcomer]) { child in
                try await child.output(containing: "Verification Code : ")
                child.write(try cloud.code("password_reset", to: Self.newcomer) + "\n")
                try await Self.answer("Password : ", "Planted2second", child)
                try await Self.answer("Confirm Password : ", "Planted2second", child)
            }
            try await client.logIn(Self.newcomer, "Planted1first")
            try await client.logIn(Self.newcomer, "Planted2second")

            try await client.converse(["deleteuser"]) { child in
                try await Self.answer("(Y/N)? :", "Y", child)
                try await child.output(containing: "verification code from your email: ")
                child.write(try cloud.code("delete", to: Self.newcomer) + "\n")
                try await Self.answer("account deletion: ", "DELETE", child)
            }
            try await client.logIn(Self.newcomer, "Planted2second")

            let requests = try Self.requests(cloud.journal)
            #expect(
                requests == [
                    "POST /v1/user2 201", "POST /v1/user2 201", "POST /v1/login2 200", "GET /v1/user 200",
                    "POST /v1/logout2 200", "PUT /v1/forgotpassword2 200", "PUT /v1/forgotpassword2 200",
                    "POST /v1/login2 400", "POST /v1/login2 200", "DELETE /v1/user2 200", "DELETE /v1/user2 200",
                    "POST /v1/login2 400",
                ])
            let account = try cloud.journal.entries(where: ["event": "account", "user": .string(Self.newcomer)])
            #expect(
                account.map { $0["what"] } == [
                    "signed_up", "code_sent", "confirmed", "code_sent", "password_reset", "code_sent", "deleted",
                ])
            let journal = try readFile(cloud.journal.path)
            for mail in try cloud.mailbox.entries() { #expect(!journal.contains("\"\(mail["code"]?.string ?? "?")\"")) }
            #expect(!journal.contains("Planted"))
        }
    }

    @Test("signs in through the hosted page, an identity provider and the relay, and refreshes what it got")
    func hostedSignIn() async throws {
        let lifetime = 8
        try await Self.with(["--access-ttl", "\(lifetime)"]) { cloud, client in
            try await client.useHostedSignIn(of: cloud.api, as: "ada@example.com")
            let shown = try await client.run(["login"])
            #expect(shown.standardOutput.contains("Login successful"))
            try await Task.sleep(for: .seconds(lifetime))
            try await client.run(["getuserinfo"])
            let requests = try Self.requests(cloud.journal)
            #expect(
                requests == [
                    "POST /oauth2/authorize 302", "GET /welcome.html 200", "POST /oauth2/token 200",
                    "GET /apiversions 200", "POST /v1/login2 200", "GET /v1/user 200",
                ])
            let logins = try cloud.journal.entries(where: ["event": "login", "by": "GitHub"])
            #expect(logins.map { $0["user"] } == ["ada@example.com"])
        }
    }

    @Test("brings the code of a second step, once a wrong one was refused")
    func secondStep() async throws {
        try await Self.with { cloud, client in
            let mfa = #"{"user":"\#(SimulatedCloud.user)","on":true}"#
            try await run("curl", ["-s", "-d", mfa, "\(cloud.api)/_sim/mfa"])
            let arguments = ["login", "--user_name", SimulatedCloud.user, "--password", SimulatedCloud.password]
            try await client.converse(arguments) { child in
                try await child.output(containing: "Enter verification code: ")
                let code = try cloud.code("mfa")
                child.write((code == "000000" ? "000001" : "000000") + "\n")
            }
            try await client.converse(arguments) { child in
                try await child.output(containing: "Enter verification code: ")
                child.write(try cloud.code("mfa") + "\n")
            }
            try await client.run(["getnodes"])
            let requests = try Self.requests(cloud.journal)
            #expect(
                requests == [
                    "POST /v1/login2 200", "POST /v1/login2 400", "POST /v1/login2 200", "POST /v1/login2 200",
                    "GET /v1/user/nodes 200",
                ])
        }
    }

    @Test("a wrong password is refused, and there is no session")
    func wrongPassword() async throws {
        try await Self.with { cloud, client in
            try await client.logIn(SimulatedCloud.user, "wrong")
            let refused = try cloud.journal.entries(where: ["event": "request", "path": "/v1/login2"])
            #expect(refused.map { $0["status"] } == [400] && refused.map { $0["error_code"] } == [101009])
            try await client.run(["getnodes"])
            let requests = try Self.requests(cloud.journal)
            #expect(requests == ["POST /v1/login2 400"])
        }
    }

    @Test("refreshes a session whose access token has expired, and goes on", arguments: [false, true])
    func refresh(rotating: Bool) async throws {
        // Long enough that the new token lives through the request that follows it.
        let lifetime = 8
        try await Self.with(["--access-ttl", "\(lifetime)"] + (rotating ? ["--rotate-refresh"] : [])) { cloud, client in
            try await client.logIn()
            // The client looks at its clock and the token, and nothing tells it when; so does this.
            try await Task.sleep(for: .seconds(lifetime))
            try await client.run(["getnodes"])
            let requests = try Self.requests(cloud.journal)
            #expect(
                requests == [
                    "POST /v1/login2 200", "GET /apiversions 200", "POST /v1/login2 200", "GET /v1/user/nodes 200",
                ])
            let refreshes = try cloud.journal.entries(where: ["event": "refresh"])
            #expect(refreshes.map { $0["outcome"] } == [rotating ? "rotated" : "accepted"])
        }
    }

    @Test("lists the nodes that a board has confirmed, and reads what they said")
    func nodes() async throws {
        try await Self.with(nodes: ["node1"]) { cloud, client in
            try await client.logIn()
            let session = try JSONValue(parsing: Array(try readFile(client.sessionFile).utf8))
            let secret = "7d0b7f5a-8a52-4a52-9a38-6a4f3f0c0001"
            // The client's half, as its `provision` sends it; the board's half comes over MQTT.
            let api = ["-s", "-H", "Authorization: \(session["accesstoken"]?.string ?? "")", "\(cloud.api)/v1/user"]
            let profile = try JSONValue(parsing: Array(try await run("curl", api).standardOutput.utf8))
            let user = try #require(profile["user_id"]?.string)
            let put =
                "{\"node_id\":\"node1\",\"secret_key\":\"\(secret)\",\"operation\":\"add\",\"user_id\":\"\(user)\"}"
            try await client.run(["raw-api", "--method", "PUT", "--api", "user/nodes/mapping", "--body", put])
            let board = try cloud.boardOptions(node: "node1")
            let place = cloud.mqtt.split(separator: ":").map(String.init)
            let message = "{\"node_id\":\"node1\",\"user_id\":\"\(user)\",\"secret_key\":\"\(secret)\"}"
            let config =
                #"{"node_id":"node1","config_version":"2020-03-20","info":{"name":"Lamp","type":"Lightbulb"},"devices":[]}"#
            for (suffix, payload) in [("config", config), ("user/mapping", message)] {
                let sent = try await run(
                    "mosquitto_pub",
                    ["-h", place[0], "-p", place[1], "-q", "1", "-t", "node/node1/\(suffix)", "-m", payload]
                        + ["--cafile", cloud.ca] + board.suffix(4))
                #expect(sent.status == .exited(0))
            }
            _ = try await cloud.journal.entry(where: [
                "event": "mapping", "state": "confirmed", "node": "node1",
            ])
            let listed = try await client.run(["getnodes"])
            #expect(listed.standardOutput.contains("node1"))
            let read = try await client.run(["getnodeconfig", "node1"])
            #expect(read.standardOutput.contains("Lightbulb"))
            try await client.run(["removenode", "node1"])
            let removed = try cloud.journal.entries(where: ["event": "mapping", "state": "removed", "node": "node1"])
            #expect(removed.count == 1)
        }
    }
}
