// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct MappingEndpointTests {
    private static let path = "/v1/user/nodes/mapping"

    @Test("the status of a request follows what user and node say")
    func status() throws {
        let cloud = try TestCloud(nodes: ["node1"])
        let token = try cloud.signIn().access
        let user = cloud.send("GET", "/v1/user2", token: token).body["user_id"]?.string ?? ""
        let reply = cloud.send(
            "PUT", Self.path, ["user_id": "whoever", "node_id": "node1", "secret_key": "s3cret", "operation": "add"],
            token: token)
        let id = try #require(reply.body["request_id"]?.string)
        func status() -> JSONValue { cloud.send("GET", "\(Self.path)?&request_id=\(id)", token: token).body }
        #expect(status()["request_status"] == "requested")
        #expect(status()["user_id"]?.string == user, "the user is who holds the token")
        cloud.report("node1", user: user, secret: "s3cret")
        #expect(status()["request_status"] == "confirmed")
        #expect(status()["confirm_timestamp"] == "1700000000000")
        #expect(status()["node_id"] == "node1")
        #expect(cloud.send("GET", "/v1/user/nodes", token: token).body["nodes"] == ["node1"])
    }

    @Test("a request that nobody answers times out")
    func timeout() throws {
        let cloud = try TestCloud { $0.mappingPatience = .seconds(30) }
        let token = try cloud.signIn().access
        let reply = cloud.send(
            "PUT", Self.path, ["node_id": "nobody-has-it", "secret_key": "s", "operation": "add"], token: token)
        let id = try #require(reply.body["request_id"]?.string)
        cloud.pass(.seconds(30))
        #expect(
            cloud.send("GET", "\(Self.path)?request_id=\(id)", token: token).body["request_status"] == "timedout")
        #expect(try cloud.journal.entries(where: ["event": "mapping", "state": "timedout"]).count == 1)
    }

    @Test(
        "what is wrong with a mapping is said by code",
        arguments: [
            (#"{"secret_key":"s","operation":"add"}"#, 100009), (#"{"node_id":"","operation":"add"}"#, 100009),
            (#"{"node_id":"\#(String(repeating: "n", count: 65))","operation":"add"}"#, 103005),
            (#"{"node_id":"n","secret_key":"s"}"#, 103003),
            (#"{"node_id":"n","secret_key":"s","operation":"steal"}"#, 103003),
            (#"{"node_id":"n","operation":"add"}"#, 103004),
            (#"{"node_id":"n","secret_key":"","operation":"add"}"#, 103004),
            (#"{"node_id":"n","secret_key":"\#(String(repeating: "s", count: 65))","operation":"add"}"#, 103006),
            (#"{"node_id":"n","secret_key":"s","operation":"add","tags":["untagged"]}"#, 105046),
            (#"{"node_id":"n","secret_key":"s","operation":"add","tags":"a:b"}"#, 100006),
            (#"{"node_id":"n","operation":"remove"}"#, 103013), (#"{"node_id":7,"operation":"add"}"#, 100006),
            ("", 100006), ("[]", 100006),
        ] as [(String, Int64)])
    func refused(body: String, code: Int64) throws {
        let cloud = try TestCloud()
        let reply = cloud.send("PUT", Self.path, text: body, token: try cloud.signIn().access)
        #expect(reply.status == 400)
        #expect(reply.errorCode == code)
    }

    @Test("a request of another user is as unknown as one that never was")
    func foreignRequest() throws {
        let cloud = try TestCloud()
        try cloud.api.addUser(name: "eve@example.com", password: "Passw0rd")
        let token = try cloud.signIn().access
        let eve = try cloud.signIn("eve@example.com").access
        let reply = cloud.send("PUT", Self.path, ["node_id": "n", "secret_key": "s", "operation": "add"], token: token)
        let id = try #require(reply.body["request_id"]?.string)
        #expect(cloud.send("GET", "\(Self.path)?request_id=\(id)", token: eve).errorCode == 103018)
        #expect(cloud.send("GET", "\(Self.path)?request_id=nonsense", token: token).errorCode == 103018)
        #expect(cloud.send("GET", Self.path, token: token).errorCode == 103016)
    }

    @Test("a signed challenge maps at once, by P-256 and by RSA", arguments: ["node1", "node1:rsa"])
    func challenge(specification: String) throws {
        let cloud = try TestCloud(nodes: [specification])
        let token = try cloud.signIn().access
        let initiated = cloud.send("POST", "\(Self.path)/initiate", ["timeout": 360], token: token).body
        let request = try #require(initiated["request_id"]?.string)
        let challenge = try #require(initiated["challenge"]?.string)
        let key = try PrivateKey(pem: Array(try readFile(cloud.api.nodeFiles[0].key).utf8))
        let signature = try key.sign(Array(challenge.utf8), algorithm: key.isElliptic ? .ecdsa : .rsaPSS)
        let answer: JSONValue = [
            "request_id": .string(request), "node_id": "node1", "challenge_response": .string(hexString(signature)),
            "tags": ["room:kitchen"],
        ]
        #expect(cloud.send("POST", "\(Self.path)/verify", answer, token: token).status == 200)
        #expect(cloud.send("GET", "/v1/user/nodes", token: token).body["nodes"] == ["node1"])
        #expect(cloud.send("POST", "\(Self.path)/verify", answer, token: token).errorCode == 103033)
        let status = cloud.send("GET", "\(Self.path)?request_id=\(request)", token: token).body
        #expect(status["request_status"] == "confirmed")
        let details = cloud.send("GET", "/v1/user/nodes?node_details=true", token: token).body
        #expect(details["node_details"]?.array?.first?["tags"] == ["room:kitchen"])
    }

    @Test("a wrong signature is refused, and spends the challenge")
    func wrongSignature() throws {
        let cloud = try TestCloud(nodes: ["node1", "node2"])
        let token = try cloud.signIn().access
        let stranger = try PrivateKey(pem: Array(try readFile(cloud.api.nodeFiles[1].key).utf8))
        for make: (String) throws -> String in [
            { hexString(try stranger.sign(Array($0.utf8), algorithm: .ecdsa)) }, { _ in "" }, { _ in "zz" },
            { _ in "0" },
            { _ in "3006020101020101" },
        ] {
            let initiated = cloud.send("POST", "\(Self.path)/initiate", [:], token: token).body
            let answer: JSONValue = [
                "request_id": initiated["request_id"] ?? .null, "node_id": "node1",
                "challenge_response": .string(try make(initiated["challenge"]?.string ?? "")),
            ]
            #expect(cloud.send("POST", "\(Self.path)/verify", answer, token: token).errorCode == 103031)
            #expect(cloud.send("POST", "\(Self.path)/verify", answer, token: token).errorCode == 103034)
        }
        #expect(cloud.send("GET", "/v1/user/nodes", token: token).body["nodes"] == [])
    }

    @Test("a challenge lasts as long as was asked, in seconds; 0 is for ever, the absurd is refused")
    func challengeTimeout() throws {
        let cloud = try TestCloud(nodes: ["node1"])
        let key = try PrivateKey(pem: Array(try readFile(cloud.api.nodeFiles[0].key).utf8))
        for (timeout, code) in [(2, 103011), (0, nil), (4, nil)] as [(Int64, Int64?)] {
            let before = try cloud.signIn().access
            let initiated = cloud.send("POST", "\(Self.path)/initiate", ["timeout": .integer(timeout)], token: before)
                .body
            cloud.pass(.seconds(timeout == 0 ? 1_000_000 : 3))
            let token = try cloud.signIn().access
            let signature = try key.sign(Array((initiated["challenge"]?.string ?? "").utf8), algorithm: .ecdsa)
            let answer: JSONValue = [
                "request_id": initiated["request_id"] ?? .null, "node_id": "node1",
                "challenge_response": .string(hexString(signature)),
            ]
            #expect(cloud.send("POST", "\(Self.path)/verify", answer, token: token).errorCode == code)
        }
        let token = try cloud.signIn().access
        for timeout in [-1, .max] as [Int64] {
            let reply = cloud.send("POST", "\(Self.path)/initiate", ["timeout": .integer(timeout)], token: token)
            #expect(reply.errorCode == 103029)
        }
    }
}
