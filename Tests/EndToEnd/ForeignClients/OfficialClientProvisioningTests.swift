// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Espressif's own client provisions our simulated board into our simulated cloud, on the address of a real SoftAP.
///
/// It finds out the security scheme itself. What happened is read in the two simulators' journals alone: the client's
/// exit status says nothing.
@Suite("The official client provisions")
struct OfficialClientProvisioningTests {
    /// One board and the client's options for it.
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

    /// The two journals of a run of `provision` that has ended.
    struct Journals {
        let board: Journal
        let cloud: Journal
        /// Still signed in.
        let client: OfficialClient

        /// What the client made of the board, in order. The board's own link to the broker comes when it comes.
        func changes() throws -> [String] {
            try board.entries(where: ["event": "state"]).compactMap { $0["change"]?.string }
                .filter { !$0.hasPrefix("mqtt_") }
        }

        /// `endpoint outcome` of each request to the board, in order.
        func boardRequests() throws -> [String] {
            try board.entries(where: ["event": "request"]).map {
                "\($0["endpoint"]?.string ?? "") \($0["outcome"]?.string ?? "")"
            }
        }

        /// `METHOD path status` of each request to the cloud that changes something, in order.
        func cloudWrites() throws -> [String] {
            try cloud.entries(where: ["event": "request"]).filter { $0["method"] != "GET" }.map {
                "\($0["method"]?.string ?? "") \($0["path"]?.string ?? "") \($0["status"]?.integer ?? 0)"
            }
        }
    }

    static let node = "node1"

    /// Runs one case in a network of its own and hands over the journals while the simulators still run.
    static func provision(_ tried: Case, _ body: (Journals) async throws -> Void) async throws {
        try await pastShortPublicKeys { try await attempt(tried, body) }
    }

    private static func attempt(_ tried: Case, _ body: (Journals) async throws -> Void) async throws -> Bool {
        try await withTemporaryFolder { folder in
            let network = try await NetworkNamespace(addresses: ["192.168.4.1"])
            let cloud = try await SimulatedCloud.start(nodes: [node], in: folder, namespace: network)
            let board = try await SimulatedBoard.start(
                ["--http", "192.168.4.1:80", "--security", "\(tried.security)", "--mapping", tried.mapping]
                    + cloud.boardOptions(node: node), in: folder, namespace: network)
            let client = try await OfficialClient(api: cloud.api, in: folder, namespace: network)
            try await client.logIn()
            // The line answers its request to join the board's Wi-Fi.
            let finished = try await client.run(
                [
                    "provision", "--transport", "softap", "--pop", tried.proof, "--ssid", SimulatedBoard.ssid,
                    "--passphrase", tried.passphrase, "--no-retry",
                ], input: .text("\n"))
            guard try !board.journal.hasShortPublicKey() else { return false }
            do {
                try await body(Journals(board: board.journal, cloud: cloud.journal, client: client))
            } catch {
                let told =
                    try [finished.standardOutput, finished.standardError].map { String($0.suffix(4000)) }
                    + [board.journal.path, cloud.journal.path].map(readFile)
                throw ProcessError("\(error)\n" + told.joined(separator: "\n"))
            }
            try await board.process.terminate()
            try await cloud.process.terminate()
            return true
        }
    }

    @Test("a board of each security scheme, which maps the user itself", .serialized, arguments: 0...2)
    func byUserMapping(security: Int) async throws { try await expectSuccess(Case(security: security)) }

    @Test("a board of each security scheme, by challenge and response", .serialized, arguments: 0...2)
    func byChallenge(security: Int) async throws {
        try await expectSuccess(Case(security: security, mapping: "ch-resp"))
    }

    private func expectSuccess(_ tried: Case) async throws {
        try await Self.provision(tried) { journals in
            let user = JSONValue.string(SimulatedCloud.user)
            _ = try await journals.cloud.entry(where: [
                "event": "mapping", "state": "confirmed", "node": .string(Self.node), "user": user,
            ])
            // The board came to the cloud with the node's certificate.
            _ = try await journals.cloud.entry(where: [
                "event": "node", "what": "config", "node": .string(Self.node),
            ])

            let byChallenge = tried.mapping == "ch-resp"
            // A second later the service is gone; whether this is read before or after that is chance.
            let changes = try journals.changes().filter { $0 != "service_stopped" }
            #expect(
                changes == [
                    "session_opened", "session_established",
                    byChallenge ? "challenge_signed" : "user_mapping_received", "credentials_received", "joined",
                    "service_stopping",
                ])
            let requests = try journals.boardRequests()
            #expect(requests.allSatisfy { $0.hasSuffix(" reply") }, "\(requests)")
            // Security 0 has one step, the others two.
            #expect(requests.count { $0.hasPrefix("prov-session ") } == (tried.security == 0 ? 1 : 2))
            let joined = try journals.board.entries(where: ["event": "state", "change": "joined"])
            #expect(joined.map { $0["ssid"] } == [.string(SimulatedBoard.ssid)])

            let writes = try journals.cloudWrites()
            #expect(
                writes == ["POST /v1/login2 200"]
                    + (byChallenge
                        ? ["POST /v1/user/nodes/mapping/initiate 200", "POST /v1/user/nodes/mapping/verify 200"]
                        : ["PUT /v1/user/nodes/mapping 200"]))
        }
    }

    @Test(
        "nothing with a wrong proof of possession: the board refuses the session", .serialized,
        arguments: [1, 2].map { Case(security: $0, proof: "wrong") })
    func wrongProof(_ tried: Case) async throws {
        try await Self.provision(tried) { journals in
            let changes = try journals.changes()
            #expect(changes == ["session_opened", "wrong_proof"])
            let sessions = try journals.boardRequests().filter { $0.hasPrefix("prov-session ") }
            #expect(sessions == ["prov-session reply", "prov-session refused"])
            try Self.expectNoMapping(journals)
        }
    }

    @Test("nothing with a wrong Wi-Fi password: the board reports it, and is made ready for another")
    func wrongPassphrase() async throws {
        let tried = Case(security: 1, passphrase: "planted-but-wrong")
        try await Self.provision(tried) { journals in
            let changes = try journals.changes()
            #expect(
                changes == [
                    "session_opened", "session_established", "user_mapping_received", "credentials_received",
                    "join_failed",
                ])
            let failed = try journals.board.entries(where: ["event": "state", "change": "join_failed"])
            #expect(failed.map { $0["failure"] } == ["auth"])
            let requests = try journals.boardRequests()
            #expect(requests.last == "prov-ctrl reply")
            try Self.expectNoMapping(journals)
        }
    }

    /// The client was signed in, and neither half of a mapping reached the cloud, nor did the board.
    private static func expectNoMapping(_ journals: Journals) throws {
        let writes = try journals.cloudWrites()
        #expect(writes == ["POST /v1/login2 200"])
        let mappings = try journals.cloud.entries(where: ["event": "mapping"])
        #expect(mappings.isEmpty)
        let nodes = try journals.cloud.entries(where: ["event": "node"])
        #expect(nodes.isEmpty)
    }
}
