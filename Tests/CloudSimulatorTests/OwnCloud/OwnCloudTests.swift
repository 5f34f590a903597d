// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite("The simulated backend of one's own")
struct OwnCloudTests {
    private let spid: TestIdentity
    private let api: OwnCloudAPI

    init() throws {
        let spid = try TestIdentity(.spid)
        self.spid = spid
        let journal = try CloudSimulator.Journal(path: spid.folder.file("own"))
        api = OwnCloudAPI(systems: [spid.api], journal: journal) { spid.api.now }
    }

    private func send(_ method: String, _ path: String, _ body: JSONValue = [:], token: String? = nil) -> Response {
        api.respond(
            to: Request(
                method: method, target: path, headers: token.map { [.init("Authorization", "Bearer \($0)")] } ?? [],
                body: body.serialized()))
    }

    private func half(_ user: String = "1001", secret: String = "planted-secret") -> JSONValue {
        ["user_id": .string(user), "secret_key": .string(secret)]
    }

    private func states() throws -> [String] {
        try TestSupport.Journal(path: spid.folder.file("own")).entries(where: ["event": "node_mapping"])
            .compactMap { $0["state"]?.string }
    }

    @Test("who may: the user whose token it is, and nobody else")
    func access() throws {
        let token = spid.passwordTokens().access
        let path = "/nodes/n1/owner"
        #expect(send("PUT", path, half(), token: token).status == 200)
        #expect(send("PUT", path, half("1003"), token: token).status == 403)
        for wrong in [nil, "nonsense", spid.clientToken()] {
            let refusal = send("PUT", path, half(), token: wrong)
            #expect(refusal.status == 401 && refusal.has("WWW-Authenticate", "invalid_token"))
        }
        #expect(spid.control("expire", ["user": "ada@example.com"]) == 200)
        #expect(send("PUT", path, half(), token: token).status == 401)
        #expect(!(try readFile(spid.folder.file("own"))).contains("planted"))
    }

    /// A one-time code of SPiD for that client, which `app-1` asks for in Ada's name.
    private func code(for client: String) -> String {
        spid.post(
            "/oauth/exchange", ["clientId": client, "type": "code", "oauth_token": spid.passwordTokens().access]
        ).body["data"]?["code"]?.string ?? ""
    }

    @Test("a code of SPiD signs its user in, once: the user is registered, and has a token until it is signed out of")
    func sessions() throws {
        let code = code(for: "backend-1")
        let session = send("POST", "/sessions", ["code": .string(code)])
        #expect(session.status == 200 && session.body["user_id"] == "1001")
        let token = try #require(session.body["token"]?.string)
        #expect(send("PUT", "/nodes/n1/owner", half(), token: token).status == 200)
        #expect(send("PUT", "/nodes/n1/owner", half("1003"), token: token).status == 403)
        #expect(send("POST", "/sessions", ["code": .string(code)]).status == 400)
        #expect(send("DELETE", "/sessions/current", token: token).status == 200)
        #expect(send("PUT", "/nodes/n1/owner", half(), token: token).status == 401)
        #expect(send("DELETE", "/sessions/current", token: token).status == 401)
        #expect(send("POST", "/sessions", ["code": .string(self.code(for: "backend-1"))]).status == 200)
        let journal = TestSupport.Journal(path: spid.folder.file("own"))
        #expect(
            try journal.entries(where: ["event": "backend_session"]).compactMap { $0["state"]?.string } == [
                "registered", "signed_in", "signed_out", "signed_in",
            ])
        #expect(!(try readFile(spid.folder.file("own"))).contains(token))
    }

    @Test("a code that is too old, or is not one, is refused, and a token ends after an hour")
    func refusedCodes() throws {
        let late = code(for: "backend-1")
        spid.pass(.seconds(31))
        for code in [late, "nonsense"] {
            let refusal = send("POST", "/sessions", ["code": .string(code)])
            #expect(refusal.status == 400 && refusal.body["error"] == "invalid_grant", "\(refusal)")
        }
        #expect(send("POST", "/sessions", [:]).status == 400)
        let session = send("POST", "/sessions", ["code": .string(code(for: "backend-1"))])
        #expect(send("POST", "/_sim/clock", ["offset": 3601]).status == 200)
        #expect(send("GET", "/nodes", token: session.body["token"]?.string).status == 401)
        // SPiD's own tokens are not sessions of the backend.
        #expect(send("DELETE", "/sessions/current", token: spid.passwordTokens().access).status == 404)
    }

    @Test("a mapping is confirmed at once, at the second query, or by the node's own report")
    func confirmations() throws {
        let token = spid.passwordTokens().access
        func ask(_ id: String) -> String? { send("GET", "/requests/\(id)", token: token).body["status"]?.string }
        func add(_ node: String) -> String {
            send("PUT", "/nodes/\(node)/owner", half(), token: token).body["request_id"]?.string ?? ""
        }
        #expect(ask(add("n1")) == "confirmed")
        #expect(send("POST", "/_sim/settings", ["confirmation": "second_query"]).status == 200)
        let second = add("n2")
        #expect(ask(second) == "requested" && ask(second) == "confirmed" && ask(second) == "confirmed")
        #expect(send("POST", "/_sim/settings", ["confirmation": "node_report"]).status == 200)
        let third = add("n3")
        #expect(ask(third) == "requested" && ask(third) == "requested")
        #expect(send("POST", "/nodes/n3/report", half()).status == 200)
        #expect(ask(third) == "confirmed")
        let fourth = add("n4")
        #expect(send("POST", "/nodes/n4/report", half(secret: "another")).status == 200)
        #expect(ask(fourth) == "discarded")
        #expect(send("GET", "/nodes", token: token).body["nodes"] == ["n1", "n2", "n3"])
        #expect(try states().count { $0 == "confirmed" } == 3)
        // Another user asks for what is not hers to know.
        #expect(send("GET", "/requests/nothing", token: token).status == 404)
    }

    @Test("a request that nobody confirms is given up after five minutes")
    func patience() throws {
        #expect(send("POST", "/_sim/settings", ["confirmation": "node_report"]).status == 200)
        let token = spid.passwordTokens().access
        let id = send("PUT", "/nodes/n1/owner", half(), token: token).body["request_id"]?.string ?? ""
        #expect(send("POST", "/_sim/clock", ["offset": 301]).status == 200)
        #expect(send("GET", "/requests/\(id)", token: token).body["status"] == "timedout")
    }

    @Test("faults that were asked for are worded as the backend words them")
    func faults() {
        let rule: JSONValue = ["path": "/nodes/*", "action": "status", "status": 503, "retry_after": 2, "count": 1]
        #expect(send("POST", "/_sim/faults", ["rules": [rule]]).status == 200)
        let failure = send("PUT", "/nodes/n1/owner")
        #expect(failure.status == 503 && failure.body["error"] == "server_error" && failure.has("Retry-After", "2"))
        #expect(send("PUT", "/nodes/n1/owner").status == 401)
    }

    @Test(
        "what makes no sense is refused",
        arguments: [
            ("PUT", "/nodes/n1/owner", ["user_id": "1001"], 400),
            ("PUT", "/nodes//owner", ["user_id": "1001", "secret_key": "s"], 400),
            ("POST", "/nodes/n1/report", ["user_id": "1001"], 400), ("POST", "/nodes/n1/report", [], 400),
            ("POST", "/challenges", ["user_id": "1001", "lifetime": 0], 400),
            ("POST", "/challenges/x/answer", ["user_id": "1001", "node_id": "n1", "signature": "x"], 400),
            ("POST", "/challenges/x/answer", ["user_id": "1001", "node_id": "n1", "signature": "00"], 409),
            ("DELETE", "/nodes/n1/owner", [:], 404), ("POST", "/_sim/settings", ["confirmation": "never"], 400),
            ("POST", "/_sim/nodes", ["node": "n1", "public_key": "none"], 400), ("GET", "/_sim/clock", [:], 400),
            ("POST", "/_sim/nothing", [:], 404),
        ] as [(String, String, JSONValue, Int)])
    func nonsense(method: String, path: String, body: JSONValue, status: Int) {
        #expect(send(method, path, body, token: spid.passwordTokens().access).status == status)
    }
}
