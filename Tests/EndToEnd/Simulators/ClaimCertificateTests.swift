// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// The claim service, with requests that the openssl command made, and certificates that it judges.
@Suite("The claim service, by openssl")
struct ClaimCertificateTests {
    private static let mac = "7CDFA100033B"
    private static let board: JSONValue = ["mac_addr": .string(mac), "platform": "esp32c3"]

    private func initiate(_ client: APIClient) async throws -> String {
        let reply = try await client.send("POST", "/claim/initiate", Self.board)
        return try #require(reply.body["node_id"]?.string, "\(reply)")
    }

    /// A running cloud and its client, signed in.
    private func start(in folder: TemporaryFolder, _ arguments: [String] = []) async throws
        -> (cloud: SimulatedCloud, client: APIClient)
    {
        let cloud = try await SimulatedCloud.start(arguments: arguments, in: folder)
        let client = APIClient(base: cloud.api)
        try await client.signIn(SimulatedCloud.user, SimulatedCloud.password)
        return (cloud, client)
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

    @Test(
        "the certificate is by the cloud's authority, for the key and the name of the request",
        arguments: [false, true])
    func certificate(isRSA: Bool) async throws {
        let folder = try TemporaryFolder()
        let (cloud, client) = try await start(in: folder)
        let node = try await initiate(client)
        let csr = try await request(
            node, in: folder, kind: isRSA ? ["rsa:2048"] : ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
        let reply = try await client.send("POST", "/claim/verify", ["csr": .string(csr), "send_mqtt_host": true])
        #expect(reply.status == 200)
        #expect(reply.body["mqtt_host"] != nil)
        try folder.write(try #require(reply.body["certificate"]?.string), to: "crt")
        let judged = try await run(
            "openssl", ["verify", "-CAfile", cloud.ca, folder.file("crt")])
        #expect(judged.status == .exited(0), "\(judged.standardError)")
        let subject = try await run("openssl", ["x509", "-in", folder.file("crt"), "-noout", "-subject"]).standardOutput
        #expect(subject == "subject=CN = \(node)\n")
        let certified = try await run("openssl", ["x509", "-in", folder.file("crt"), "-noout", "-pubkey"])
            .standardOutput
        let own = try await run("openssl", ["pkey", "-in", folder.file("node.key"), "-pubout"]).standardOutput
        #expect(certified == own)
        // A board holds 3072 bytes, NUL included.
        #expect(JSONValue.object(try #require(reply.body.members)).serialized().count < 3072)
        let events = try cloud.journal.entries(where: ["event": "claim", "node": .string(node)])
        #expect(events.compactMap { $0["what"]?.string } == ["initiated", "verified"])
    }

    @Test("the claimed node's signature is believed")
    func challenge() async throws {
        let folder = try TemporaryFolder()
        let (cloud, client) = try await start(in: folder)
        // A simulator that nobody holds is ended.
        defer { withExtendedLifetime(cloud) {} }
        let node = try await initiate(client)
        let csr = try await request(node, in: folder)
        #expect(try await client.send("POST", "/claim/verify", ["csr": .string(csr)]).status == 200)
        let path = "/v1/user/nodes/mapping"
        let challenge = try await client.send("POST", "\(path)/initiate", [:]).body
        try folder.write(try #require(challenge["challenge"]?.string), to: "challenge")
        let signed = try await run(
            "openssl",
            ["dgst", "-sha256", "-hex", "-r", "-sign", folder.file("node.key"), folder.file("challenge")])
        let signature = String(try #require(signed.standardOutput.split(separator: " ").first))
        let reply = try await client.send(
            "POST", "\(path)/verify",
            [
                "request_id": challenge["request_id"] ?? .null, "node_id": .string(node),
                "challenge_response": .string(signature),
            ])
        #expect(reply.status == 200)
        #expect(try await client.send("GET", "/v1/user/nodes").body["nodes"] == [.string(node)])
    }

    @Test("a request that is broken, for another node, or by a weak key is refused")
    func requests() async throws {
        let folder = try TemporaryFolder()
        let (cloud, own) = try await start(in: folder, ["--user", "eve@example.com:Passw0rd-of-eve"])
        let eves = APIClient(base: cloud.api)
        try await eves.signIn("eve@example.com", "Passw0rd-of-eve")
        let node = try await initiate(own)
        let good = try await request(node, in: folder)
        // A line within the signature, backwards.
        var lines = good.split(separator: "\n").map(String.init)
        lines[lines.count - 3] = String(lines[lines.count - 3].reversed())
        let cases = [
            (lines.joined(separator: "\n") + "\n", own, "CSR is invalid"), ("", own, "CSR is invalid"),
            ("-----BEGIN CERTIFICATE REQUEST-----\n", own, "CSR is invalid"),
            (good, eves, "Node id of the CSR is invalid"),
            (try await request("someone-else", in: folder), own, "Node id of the CSR is invalid"),
            (
                try await request(node, in: folder, kind: ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"]), own,
                "Key of the CSR is invalid"
            ), (try await request(node, in: folder, kind: ["rsa:1024"]), own, "Key of the CSR is invalid"),
        ]
        for (csr, client, description) in cases {
            let reply = try await client.send("POST", "/claim/verify", ["csr": .string(csr)])
            #expect(reply.status == 400)
            #expect(reply.body["description"]?.string == description)
        }
        #expect(try await own.send("POST", "/claim/verify", ["csr": .string(good)]).status == 200)
    }
}
