// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

/// The claim service, with requests that the openssl command made, and certificates that it judges.
@Suite("The claim service")
struct ClaimEndpointTests {
    private static let mac = "7CDFA100033B"
    private static let board: JSONValue = ["mac_addr": .string(mac), "platform": "esp32c3"]

    private func initiate(_ cloud: TestCloud, _ token: String, _ body: JSONValue = board) throws -> String {
        let reply = cloud.send("POST", "/claim/initiate", body, token: token)
        return try #require(reply.body["node_id"]?.string, "\(reply)")
    }

    /// A new key's request, by openssl.
    private func request(
        _ name: String, in folder: TemporaryFolder, kind: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    ) async throws -> String {
        let finished = try await run(
            "openssl",
            ["req", "-new", "-newkey"] + kind + [
                "-nodes", "-keyout", folder.file("node.key"), "-out", folder.file("csr"), "-subj", "/CN=\(name)",
            ])
        try #require(finished.status == .exited(0), "\(finished.standardError)")
        return try readFile(folder.file("csr"))
    }

    @Test("a board gets one node id however often its user claims it, and another user another one")
    func idempotent() throws {
        let cloud = try TestCloud()
        try cloud.api.addUser(name: "eve@example.com", password: "Passw0rd")
        let (ours, eves) = (try cloud.signIn().access, try cloud.signIn("eve@example.com").access)
        let first = try initiate(cloud, ours)
        #expect(first.utf8.count == 22)
        #expect(try initiate(cloud, ours) == first)
        #expect(try initiate(cloud, eves) != first)
        #expect(try initiate(cloud, ours, ["mac_addr": "7CDFA100033C", "platform": "esp32c3"]) != first)
    }

    @Test(
        "the certificate is by the cloud's authority, for the key and the name of the request",
        arguments: [false, true])
    func certificate(isRSA: Bool) async throws {
        let folder = try TemporaryFolder()
        let cloud = try TestCloud()
        let token = try cloud.signIn().access
        let node = try initiate(cloud, token)
        let csr = try await request(
            node, in: folder, kind: isRSA ? ["rsa:2048"] : ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
        let reply = cloud.send("POST", "/claim/verify", ["csr": .string(csr), "send_mqtt_host": true], token: token)
        #expect(reply.status == 200)
        #expect(reply.body["mqtt_host"] != nil)
        try folder.write(try #require(reply.body["certificate"]?.string), to: "crt")
        let judged = try await run(
            "openssl", ["verify", "-CAfile", cloud.api.keys.authorityFile, folder.file("crt")])
        #expect(judged.status == .exited(0), "\(judged.standardError)")
        let subject = try await run("openssl", ["x509", "-in", folder.file("crt"), "-noout", "-subject"]).standardOutput
        #expect(subject == "subject=CN = \(node)\n")
        let certified = try await run("openssl", ["x509", "-in", folder.file("crt"), "-noout", "-pubkey"])
            .standardOutput
        let own = try await run("openssl", ["pkey", "-in", folder.file("node.key"), "-pubout"]).standardOutput
        #expect(certified == own)
        // A board holds 3072 bytes, NUL included.
        #expect(JSONValue.object(try #require(reply.body.members)).serialized().count < 3072)
        #expect(cloud.api.readState { $0.nodes[node]?.keyKind } == (isRSA ? .rsa : .p256))
        #expect(cloud.api.nodeFiles.isEmpty, "the key is the board's own")
        let events = try cloud.journal.entries(where: ["event": "claim", "node": .string(node)])
        #expect(events.compactMap { $0["what"]?.string } == ["initiated", "verified"])
    }

    @Test("the claimed node's signature is believed")
    func challenge() async throws {
        let folder = try TemporaryFolder()
        let cloud = try TestCloud()
        let token = try cloud.signIn().access
        let node = try initiate(cloud, token)
        let csr = try await request(node, in: folder)
        #expect(cloud.send("POST", "/claim/verify", ["csr": .string(csr)], token: token).status == 200)
        let path = "/v1/user/nodes/mapping"
        let challenge = cloud.send("POST", "\(path)/initiate", [:], token: token).body
        try folder.write(try #require(challenge["challenge"]?.string), to: "challenge")
        let signed = try await run(
            "openssl",
            ["dgst", "-sha256", "-hex", "-r", "-sign", folder.file("node.key"), folder.file("challenge")])
        let signature = String(try #require(signed.standardOutput.split(separator: " ").first))
        let reply = cloud.send(
            "POST", "\(path)/verify",
            [
                "request_id": challenge["request_id"] ?? .null, "node_id": .string(node),
                "challenge_response": .string(signature),
            ], token: token)
        #expect(reply.status == 200)
        #expect(cloud.send("GET", "/v1/user/nodes", token: token).body["nodes"] == [.string(node)])
    }

    @Test(
        "what is no board is refused in a sentence, without a number",
        arguments: [
            (#"{"mac_addr":"7CDFA100033B","platform":"esp8266"}"#, "Platform is invalid"),
            (#"{"mac_addr":"7CDFA100033B"}"#, "Platform is invalid"),
            (#"{"mac_addr":"7cdfa100033b","platform":"esp32c3"}"#, "MAC address is invalid"),
            (#"{"mac_addr":"7C:DF:A1:00:03:3B","platform":"esp32c3"}"#, "MAC address is invalid"),
            (#"{"mac_addr":7,"platform":"esp32c3"}"#, "MAC address is invalid"), ("{}", "MAC address is invalid"),
            ("", "Request body is invalid"), ("[]", "Request body is invalid"),
            (#"{"mac_addr":"\#(String(repeating: "A", count: 20_000))"}"#, "Request body is invalid"),
        ])
    func refused(body: String, description: String) throws {
        let cloud = try TestCloud()
        let reply = cloud.send("POST", "/claim/initiate", text: body, token: try cloud.signIn().access)
        #expect(reply.status == 400)
        #expect(reply.body == ["status": "failure", "description": .string(description)])
    }

    @Test("a request that is broken, for another node, or by a weak key is refused")
    func requests() async throws {
        let folder = try TemporaryFolder()
        let cloud = try TestCloud()
        try cloud.api.addUser(name: "eve@example.com", password: "Passw0rd")
        let (token, eves) = (try cloud.signIn().access, try cloud.signIn("eve@example.com").access)
        let node = try initiate(cloud, token)
        let good = try await request(node, in: folder)
        // A line within the signature, backwards.
        var lines = good.split(separator: "\n").map(String.init)
        lines[lines.count - 3] = String(lines[lines.count - 3].reversed())
        let cases = [
            (lines.joined(separator: "\n") + "\n", token, "CSR is invalid"), ("", token, "CSR is invalid"),
            ("-----BEGIN CERTIFICATE REQUEST-----\n", token, "CSR is invalid"),
            (good, eves, "Node id of the CSR is invalid"),
            (try await request("someone-else", in: folder), token, "Node id of the CSR is invalid"),
            (
                try await request(node, in: folder, kind: ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"]), token,
                "Key of the CSR is invalid"
            ), (try await request(node, in: folder, kind: ["rsa:1024"]), token, "Key of the CSR is invalid"),
        ]
        for (csr, who, description) in cases {
            let reply = cloud.send("POST", "/claim/verify", ["csr": .string(csr)], token: who)
            #expect(reply.status == 400)
            #expect(reply.body["description"]?.string == description)
        }
        #expect(cloud.send("POST", "/claim/verify", ["csr": .string(good)], token: token).status == 200)
    }

    @Test("who has claimed as many as there may be gets no more, and keeps what there is")
    func quota() throws {
        let cloud = try TestCloud { $0.claimQuota = 1 }
        let token = try cloud.signIn().access
        let first = try initiate(cloud, token)
        let reply = cloud.send(
            "POST", "/claim/initiate", ["mac_addr": "7CDFA100033C", "platform": "esp32c3"], token: token)
        #expect(reply.status == 400)
        #expect(reply.body["description"] == "Claim quota of the user is exceeded")
        #expect(try initiate(cloud, token) == first)
    }

    @Test("nobody claims without being signed in, and the service has no versions")
    func authorization() throws {
        let cloud = try TestCloud()
        for path in ["/claim/initiate", "/claim/verify"] {
            #expect(cloud.send("POST", path, Self.board).status == 401)
            #expect(cloud.send("POST", path, Self.board, token: "nonsense").status == 401)
            #expect(cloud.send("POST", "/v1\(path)", Self.board, token: try cloud.signIn().access).status == 404)
        }
    }

    @Test("claims survive a restart")
    func persistence() throws {
        let folder = try TemporaryFolder()
        let before = try TestCloud(folder: folder)
        let node = try initiate(before, try before.signIn().access)
        let after = try TestCloud(folder: folder)
        #expect(try initiate(after, try after.signIn().access) == node)
    }

    @Test("bodies, fuzzed")
    func fuzzed() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let cloud = try TestCloud(isForgetful: true) { $0.claimQuota = 20 }
            let token = try cloud.signIn().access
            let node = try ClaimEndpointTests().initiate(cloud, token)
            let csr = try await ClaimEndpointTests().request(node, in: folder)
            let examples = [
                Self.board.serialized(),
                JSONValue.object([.init("csr", .string(csr)), .init("send_mqtt_host", true)]).serialized(),
                Array(#"{"csr":"-----BEGIN CERTIFICATE REQUEST-----\n"}"#.utf8),
            ]
            var turn = 0
            let report = fuzz("claim bodies", from: examples, seed: 26) { input in
                turn += 1
                let reply = cloud.api.respond(
                    to: Request(
                        method: "POST", target: turn % 2 == 0 ? "/claim/initiate" : "/claim/verify",
                        headers: [.init("Authorization", token)], body: input))
                #expect([200, 400].contains(reply.status))
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
