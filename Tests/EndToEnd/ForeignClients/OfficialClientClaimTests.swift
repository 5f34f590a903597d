// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Espressif's own client claims for a board with our claim service. It refuses our unclaimed board as it refuses a real one, because it cannot
/// claim for a board that must be claimed by its client.
@Suite("The official client and claiming")
struct OfficialClientClaimTests {
    private static let mac = "7CDFA100033B"

    /// Tells the client of the claim service: a key that its built-in profiles have, and `profile add` leaves out.
    private func useClaimService(_ url: String, _ client: OfficialClient) async throws {
        let edit = """
            import json, sys
            path = sys.argv[1] + "/profiles/profiles.json"
            profiles = json.load(open(path))
            profiles["custom_profiles"]["sim"]["claim_base_url"] = sys.argv[2] + "/"
            json.dump(profiles, open(path, "w"))
            """
        let edited = try await run("python3", ["-c", edit, client.configuration, url])
        try #require(edited.status == .exited(0), "\(edited.standardError)")
    }

    @Test(
        "its claim is served, and openssl and the broker believe the certificate that it gets",
        arguments: ["ecdsa", "rsa"])
    func hostClaim(keyType: String) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let client = try await OfficialClient(api: cloud.api, in: folder)
            try await useClaimService(cloud.claim, client)
            try await client.logIn()
            let output = try await client.run([
                "claim", "--mac", Self.mac, "--platform", "esp32c3", "--outdir", folder.file("claimed"), "--key_type",
                keyType,
            ])
            // It writes both hosts into the image for the board, and fails without one of them. It ends with 1 at its best, too: there is
            // no port here to flash the image through.
            let words = output.standardOutput + output.standardError
            #expect(words.contains("Created NVS binary") && words.contains("please provide the <port>"), "\(words)")
            #expect(!words.contains("[ERROR]"), "\(words)")
            let claims = try cloud.journal.entries(where: ["event": "claim"])
            #expect(
                claims.compactMap { $0["what"]?.string } == ["initiated", "verified"],
                "\(output.standardOutput)\(output.standardError)")
            let node = try #require(claims.first?["node"]?.string)
            let found = try await run("find", [folder.file("claimed"), "-name", "node.*", "-path", "*\(Self.mac)*"])
            let files = found.standardOutput.split(separator: "\n").map(String.init)
            let certificate = try #require(files.first { $0.hasSuffix("node.crt") }, "\(files)")
            let key = try #require(files.first { $0.hasSuffix("node.key") }, "\(files)")
            let judged = try await run("openssl", ["verify", "-CAfile", cloud.ca, certificate])
            #expect(judged.status == .exited(0), "\(judged.standardError)")
            // A foreign node with it: only the owner of the name may publish there.
            let (host, port) = (cloud.mqtt.split(separator: ":")[0], cloud.mqtt.split(separator: ":")[1])
            let published = try await run(
                "mosquitto_pub",
                [
                    "-h", String(host), "-p", String(port), "--cafile", cloud.ca, "--cert", certificate, "--key", key,
                    "-q",
                    "1", "-t", "node/\(node)/config", "-m", #"{"node_id":"\#(node)","info":{"name":"Claimed"}}"#,
                ])
            #expect(published.status == .exited(0), "\(published.standardError)")
            _ = try await cloud.journal.entry(where: ["event": "node", "node": .string(node), "what": "config"])
        }
    }

    @Test("an unclaimed board is one to it, too")
    func unclaimedBoard() async throws {
        try await withTemporaryFolder { folder in
            let namespace = try await NetworkNamespace(addresses: ["192.168.4.1"])
            let cloud = try await SimulatedCloud.start(in: folder, namespace: namespace)
            let board = try await SimulatedBoard.start(
                ["--http", "192.168.4.1:80", "--name", "PROV_c1a1m0"] + cloud.unclaimedBoardOptions, in: folder,
                namespace: namespace)
            let client = try await OfficialClient(api: cloud.api, in: folder, namespace: namespace)
            try await client.logIn()
            // The line answers its request to join the board's Wi-Fi.
            let finished = try await client.run(
                [
                    "provision", "--transport", "softap", "--pop", SimulatedBoard.proofOfPossession, "--ssid",
                    SimulatedBoard.ssid, "--passphrase", SimulatedBoard.passphrase, "--no-retry",
                ], input: .text("\n"))
            #expect(
                (finished.standardOutput + finished.standardError).contains("Please claim the node"),
                "\(finished.standardOutput)\(finished.standardError)")
            let endpoints = try board.journal.entries(where: ["event": "request"]).compactMap { $0["endpoint"]?.string }
            #expect(endpoints.contains("proto-ver") && !endpoints.contains("prov-config"))
        }
    }
}
