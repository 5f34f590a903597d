// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

/// The cloud's two entries, HTTP and MQTT, take mutated input: no crash, no slow input, no growing
/// memory, and an answer of the API's own to whatever is a request.
@Suite("The cloud's entries, fuzzed")
struct APIFuzzTests {
    @Test("HTTP, through the parser to the router")
    func http() async throws {
        try await withOwnProcessInSoak {
            let cloud = try TestCloud(isForgetful: true, nodes: ["node1"])
            let token = try cloud.signIn().access
            let report = fuzz("HTTP", from: Examples.requests(token: token), seed: 21) { input in
                var parser = RequestParser()
                parser.append(input)
                while case .request(let request) = parser.next() {
                    let status = cloud.api.respond(to: request).status
                    #expect([200, 207, 400, 401, 404].contains(status))
                }
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("bodies of every endpoint")
    func bodies() async throws {
        try await withOwnProcessInSoak {
            let cloud = try TestCloud(isForgetful: true, nodes: ["node1"])
            let token = try cloud.signIn().access
            var turn = 0
            let targets = Examples.targets
            let report = fuzz("bodies", from: Examples.bodies, seed: 22) { input in
                let (method, target) = targets[turn % targets.count]
                turn += 1
                let reply = cloud.api.respond(
                    to: Request(method: method, target: target, headers: [.init("Authorization", token)], body: input))
                // A mutant may sign the session out, by whatever luck; nothing else may fail inside.
                #expect([200, 207, 400, 401, 404].contains(reply.status))
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("what nodes publish")
    func messages() async throws {
        try await withOwnProcessInSoak {
            let cloud = try TestCloud(isForgetful: true, nodes: ["node1"])
            var turn = 0
            let topics = [
                "config", "params/local", "params/local/init", "user/mapping", "tsdata", "simple_tsdata",
            ].map { "node/node1/\($0)" }
            let report = fuzz("messages", from: Examples.messages, seed: 23) { input in
                cloud.api.receive(topic: topics[turn % topics.count], payload: input)
                turn += 1
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("tokens")
    func tokens() async throws {
        try await withOwnProcessInSoak {
            let cloud = try TestCloud(isForgetful: true)
            let session = try cloud.signIn()
            let examples = [session.access, session.id, session.refresh].map { Array($0.utf8) }
            let report = fuzz("tokens", from: examples, seed: 24) { input in
                let text = String(decoding: input, as: UTF8.self)
                let accepted = cloud.api.issuer.access(text, at: cloud.api.now) != nil
                #expect(!accepted || text == session.access)
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("a socket that mutants are thrown at still answers the next client")
    func socket() async throws {
        let cloud = try TestCloud(isForgetful: true, nodes: ["node1"])
        let token = try cloud.signIn().access
        let api = cloud.api
        let listener = try HTTPListener(
            address: ListenAddress(host: "127.0.0.1", port: 0), refusal: { api.refuse(status: $0, reason: $1) },
            handler: { api.respond(to: $0) })
        listener.start()
        defer { listener.stop() }
        var mutator = Mutator(seed: 25)
        let examples = Examples.requests(token: token)
        for _ in 0..<200 {
            let connection = try RawConnection(port: listener.port)
            connection.send(mutator.next(from: examples))
            connection.endSending()
            #expect(connection.readToEnd() != nil)
        }
        let connection = try RawConnection(port: listener.port)
        connection.send("GET /apiversions HTTP/1.1\r\nConnection: close\r\n\r\n")
        #expect(connection.readToEnd()?.hasPrefix("HTTP/1.1 200 OK\r\n") == true)
    }
}

private enum Examples {
    static let targets = [
        ("POST", "/v1/login2"), ("PUT", "/v1/user2"), ("PUT", "/v1/user/nodes/mapping"),
        ("POST", "/v1/user/nodes/mapping/initiate"), ("POST", "/v1/user/nodes/mapping/verify"),
        ("PUT", "/v1/user/nodes/params?node_id=node1"),
    ]

    static let bodies = [
        #"{"user_name":"dev@example.com","password":"Passw0rd"}"#, #"{"refreshtoken":"session.random"}"#,
        #"{"node_id":"node1","secret_key":"7b8c1f1e-0000-4000-8000-000000000000","operation":"add","tags":["a:b"]}"#,
        #"{"node_id":"node1","operation":"remove","secret_key":""}"#, #"{"timeout":360}"#,
        #"{"request_id":"r","node_id":"node1","challenge_response":"3045022100abcdef","tags":["a:b"]}"#,
        #"[{"node_id":"node1","payload":{"Lamp":{"Power":true}}}]"#, #"{"name":"Ada","mfa":null,"tags":[]}"#,
    ].map { Array($0.utf8) }

    static let messages = [
        #"{"node_id":"node1","config_version":"2020","info":{"name":"L"},"devices":[{"name":"L","params":[]}]}"#,
        #"{"Lamp":{"Power":true,"Hue":1,"Name":"x"},"Fan":{"Speed":1.5}}"#,
        #"{"node_id":"node1","user_id":"u","secret_key":"s","reset":true}"#,
        #"{"ts_data":[{"name":"Lamp.Hue","dt":"int","records":[{"t":1700000000,"v":1}]}]}"#,
        #"{"name":"Lamp.Hue","dt":"float","t":1700000000,"v":1.5,"d":3}"#,
        #"{"node_id":"node1","user_id":"esp-rmaker","secret_key":"failed","reset":true}"#,
    ].map { Array($0.utf8) }

    static func requests(token: String) -> [[UInt8]] {
        let heads =
            targets.map { ($0.0, $0.1) } + [
                ("GET", "/v1/user/nodes?node_details=true&num_records=3&start_id=a%20b"), ("GET", "/apiversions"),
                ("GET", "/v1/user/nodes/mapping?&request_id=r"), ("DELETE", "/v1/user/nodes/node1"),
            ]
        return heads.enumerated().map { index, head in
            let body = bodies[index % bodies.count]
            let text =
                "\(head.0) \(head.1) HTTP/1.1\r\nHost: x\r\nAuthorization: \(token)\r\nContent-Length: \(body.count)\r\n\r\n"
            return Array(text.utf8) + body
        }
    }
}
