// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite("The claim service")
struct ClaimEndpointTests {
    private static let mac = "7CDFA100033B"
    private static let board: JSONValue = ["mac_addr": .string(mac), "platform": "esp32c3"]

    private func initiate(_ cloud: TestCloud, _ token: String, _ body: JSONValue = board) throws -> String {
        let reply = cloud.send("POST", "/claim/initiate", body, token: token)
        return try #require(reply.body["node_id"]?.string, "\(reply)")
    }

    /// A new key's request for a certificate of that name.
    private static func request(_ name: String, _ kind: PrivateKey.Kind = .p256) throws -> String {
        String(
            decoding: try PrivateKey(generating: kind).certificateRequest(commonName: Array(name.utf8)), as: UTF8.self)
    }

    @Test("the cloud knows the kind of the board's key, and writes no key of its own", arguments: [false, true])
    func key(isRSA: Bool) throws {
        let cloud = try TestCloud()
        let token = try cloud.signIn().access
        let node = try initiate(cloud, token)
        let csr = try Self.request(node, isRSA ? .rsa2048 : .p256)
        #expect(cloud.send("POST", "/claim/verify", ["csr": .string(csr)], token: token).status == 200)
        #expect(cloud.api.readState { $0.nodes[node]?.keyKind } == (isRSA ? .rsa : .p256))
        #expect(cloud.api.nodeFiles.isEmpty)
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
        "a request that is not from a board is refused with a sentence, without a number",
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
    func fuzzed() async throws {
        try await withOwnProcessInSoak {
            let cloud = try TestCloud(isForgetful: true) { $0.claimQuota = 20 }
            let token = try cloud.signIn().access
            let node = try ClaimEndpointTests().initiate(cloud, token)
            let csr = try Self.request(node)
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
