// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Espressif's own client finds and provisions a board of the simulated radio, through bleak and D-Bus as on any Linux machine.
///
/// It finds out the security scheme itself. What happened is read in the two simulators' journals alone: the client's exit status says
/// nothing. Each run takes it some 13 seconds, most of which it sleeps.
@Suite("The official client over Bluetooth")
struct OfficialClientBluetoothTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let security: Int
        var mapping = "user"
        var proof = SimulatedBoard.proofOfPossession
        var passphrase = SimulatedBoard.passphrase

        var testDescription: String {
            "Security \(security), mapping \(mapping)"
                + (proof == SimulatedBoard.proofOfPossession ? "" : ", wrong proof of possession")
                + (passphrase == SimulatedBoard.passphrase ? "" : ", wrong Wi-Fi password")
        }
    }

    struct Run {
        let radio: SimulatedBluetooth
        let cloud: Journal
        let output: String

        /// The changes of the board, in order, without its own link to the broker and without changes over time.
        func changes() throws -> [String] {
            try radio.journal.entries(where: ["event": "state"]).compactMap { $0["change"]?.string }
                .filter { !$0.hasPrefix("mqtt_") && $0 != "service_stopped" && $0 != "link_down" }
        }

        func requests() throws -> [String] {
            try radio.journal.entries(where: ["event": "request"]).map {
                "\($0["endpoint"]?.string ?? "") \($0["outcome"]?.string ?? "")"
            }
        }

        func cloudWrites() throws -> [String] {
            try cloud.entries(where: ["event": "request"]).filter { $0["method"] != "GET" }.map {
                "\($0["method"]?.string ?? "") \($0["path"]?.string ?? "") \($0["status"]?.integer ?? 0)"
            }
        }
    }

    private static let node = "node1"
    private static let name = "PROV_b1e55e"

    private static func provision(_ tried: Case, _ body: (Run) async throws -> Void) async throws {
        try await pastShortPublicKeys { try await attempt(tried, body) }
    }

    private static func attempt(_ tried: Case, _ body: (Run) async throws -> Void) async throws -> Bool {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: [node], in: folder)
            let radio = try await SimulatedBluetooth.start(
                ["--name", name, "--security", "\(tried.security)", "--mapping", tried.mapping]
                    + cloud.boardOptions(node: node), in: folder)
            let client = try await OfficialClient(api: cloud.api, in: folder, environment: radio.environment)
            try await client.logIn()
            let finished = try await client.run(
                [
                    "provision", "--transport", "ble", "--device_name", name, "--pop", tried.proof, "--ssid",
                    SimulatedBoard.ssid, "--passphrase", tried.passphrase, "--no-retry",
                ])
            guard try !radio.journal.hasShortPublicKey() else { return false }
            try await body(Run(radio: radio, cloud: cloud.journal, output: finished.standardOutput))
            try await radio.process.terminate()
            try await cloud.process.terminate()
            return true
        }
    }

    @Test("provisions a board of each security scheme, which maps the user itself", .serialized, arguments: 1...2)
    func byUserMapping(security: Int) async throws { try await expectSuccess(Case(security: security)) }

    @Test("provisions a board of each security scheme by challenge and response", .serialized, arguments: 1...2)
    func byChallenge(security: Int) async throws {
        try await expectSuccess(Case(security: security, mapping: "ch-resp"))
    }

    private func expectSuccess(_ tried: Case) async throws {
        try await Self.provision(tried) { run in
            _ = try await run.cloud.entry(where: [
                "event": "mapping", "state": "confirmed", "node": .string(Self.node),
                "user": .string(SimulatedCloud.user),
            ])
            _ = try await run.cloud.entry(where: ["event": "node", "what": "config", "node": .string(Self.node)])
            let byChallenge = tried.mapping == "ch-resp"
            let changes = try run.changes()
            #expect(
                changes == [
                    "link_up", "session_opened", "session_established",
                    byChallenge ? "challenge_signed" : "user_mapping_received", "credentials_received", "joined",
                    "service_stopping",
                ])
            let requests = try run.requests()
            #expect(requests.allSatisfy { $0.hasSuffix(" reply") }, "\(requests)")
            let writes = try run.cloudWrites()
            #expect(
                writes == ["POST /v1/login2 200"]
                    + (byChallenge
                        ? ["POST /v1/user/nodes/mapping/initiate 200", "POST /v1/user/nodes/mapping/verify 200"]
                        : ["PUT /v1/user/nodes/mapping 200"]))
            // It falls back to guessed ids where descriptors cannot be read, which would hide a fault of ours.
            #expect(run.output.contains("Discovered endpoints via user descriptors"))
        }
    }

    @Test("is refused with a wrong proof of possession, and leaves the link up")
    func wrongProof() async throws {
        try await Self.provision(Case(security: 2, proof: "wrong")) { run in
            let changes = try run.changes()
            #expect(changes == ["link_up", "session_opened", "wrong_proof"])
            let sessions = try run.requests().filter { $0.hasPrefix("prov-session ") }
            #expect(sessions == ["prov-session reply", "prov-session refused"])
            try Self.expectNoMapping(run)
            // Its process is gone, and BlueZ keeps a link that nobody ends: the board does not advertise until somebody does.
            let down = try run.radio.journal.entries(where: ["event": "state", "change": "link_down"])
            #expect(down.isEmpty)
            #expect(try await run.radio.busctl(run.radio.boards[0].path, "Device1", "Disconnect") != nil)
            _ = try await run.radio.journal.entry(where: ["event": "state", "change": "link_down"])
        }
    }

    @Test("tells the board to be ready for another Wi-Fi password after a wrong one")
    func wrongPassphrase() async throws {
        try await Self.provision(Case(security: 1, passphrase: "planted-but-wrong")) { run in
            let changes = try run.changes()
            #expect(
                changes == [
                    "link_up", "session_opened", "session_established", "user_mapping_received",
                    "credentials_received", "join_failed",
                ])
            let requests = try run.requests()
            #expect(requests.last == "prov-ctrl reply")
            try Self.expectNoMapping(run)
        }
    }

    private static func expectNoMapping(_ run: Run) throws {
        let writes = try run.cloudWrites()
        #expect(writes == ["POST /v1/login2 200"])
        let mappings = try run.cloud.entries(where: ["event": "mapping"])
        #expect(mappings.isEmpty)
        let nodes = try run.cloud.entries(where: ["event": "node"])
        #expect(nodes.isEmpty)
    }
}
