// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("Mapping a node by a signature of openssl's")
struct MappingSignatureTests {
    @Test("ECDSA in DER is accepted, and PSS with any salt", arguments: ["node1", "node1:rsa"])
    func opensslSigns(specification: String) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: [specification], in: folder)
            let client = APIClient(base: cloud.api)
            try await client.signIn(SimulatedCloud.user, SimulatedCloud.password)
            let initiated = try await client.send("POST", "/v1/user/nodes/mapping/initiate", [:]).body
            try folder.write(try #require(initiated["challenge"]?.string), to: "challenge")
            let padding =
                specification.hasSuffix("rsa")
                ? ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:20"] : []
            let key = try #require(cloud.boardOptions(node: "node1").last)
            let signed = try await run(
                "openssl",
                ["dgst", "-sha256", "-sign", key] + padding + ["-hex", folder.file("challenge")])
            let hex = try #require(signed.standardOutput.split(separator: " ").last).filter(\.isHexDigit)
            let reply = try await client.send(
                "POST", "/v1/user/nodes/mapping/verify",
                [
                    "request_id": initiated["request_id"] ?? .null, "node_id": "node1",
                    "challenge_response": .string(hex),
                ])
            #expect(reply.status == 200)
        }
    }
}
