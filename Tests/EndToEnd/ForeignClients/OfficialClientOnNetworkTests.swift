// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Espressif's own client puts our simulated board, which is on the network already, into an account by its address.
@Suite("The official client maps over the network")
struct OfficialClientOnNetworkTests {
    private func run(
        _ options: [String], _ more: [String], _ body: (SimulatedBoard, SimulatedCloud) async throws -> Void
    ) async throws {
        try await pastShortPublicKeys {
            try await withTemporaryFolder { folder in
                let cloud = try await SimulatedCloud.start(nodes: ["node1"], in: folder)
                let board = try await SimulatedBoard.start(
                    ["--on-network", "127.0.0.1:0", "--mapping", "ch-resp"] + options
                        + cloud.boardOptions(node: "node1"),
                    in: folder)
                let port = String((board.onNetwork ?? "").split(separator: ":").last ?? "")
                let client = try await OfficialClient(api: cloud.api, in: folder)
                try await client.logIn()
                let finished = try await client.run(
                    ["provision", "--transport", "on-network", "--device-ip", "127.0.0.1", "--device-port", port] + more
                )
                guard try !board.journal.hasShortPublicKey() else { return false }
                do {
                    try await body(board, cloud)
                } catch {
                    throw ProcessError("\(error)\n\(finished.standardOutput)\n\(finished.standardError)")
                }
                return true
            }
        }
    }

    private func changes(_ board: SimulatedBoard) throws -> [String] {
        try board.journal.entries(where: ["event": "state"]).compactMap { $0["change"]?.string }
            .filter { !$0.hasPrefix("mqtt_") && $0 != "on_network_stopped" }
    }

    // Of Security 2 it speaks patch version 0 alone here, whatever the board has.
    @Test(
        "a board of each security scheme, and disables it", .serialized,
        arguments: [(0, []), (1, ["--pop", SimulatedBoard.proofOfPossession]), (2, ["--patch-0"])])
    func maps(security: Int, more: [String]) async throws {
        let isSecond = security == 2
        try await run(
            ["--security", "\(security)"] + (isSecond ? ["--patch", "0"] : []),
            // Its help calls that the default over the network; 1.14.1 does it only on request.
            ["--disable-chal-resp", "--sec_ver", "\(security)"]
                + (isSecond
                    ? ["--sec2_username", "wifiprov", "--sec2_password", SimulatedBoard.proofOfPossession] : more)
        ) { board, cloud in
            _ = try await cloud.journal.entry(where: [
                "event": "mapping", "state": "confirmed", "node": "node1", "user": .string(SimulatedCloud.user),
            ])
            _ = try await board.journal.entry(where: ["event": "state", "change": "on_network_disabled"])
            let changes = try changes(board)
            #expect(
                changes == [
                    "joined", "on_network_started", "session_opened", "session_established", "challenge_signed",
                    "on_network_disabled",
                ])
        }
    }

    @Test("nothing with a wrong proof of possession")
    func wrongProof() async throws {
        try await run(["--security", "1"], ["--sec_ver", "1", "--pop", "wrong"]) { board, cloud in
            let changes = try changes(board)
            #expect(changes == ["joined", "on_network_started", "session_opened", "on_network_proof_refused"])
            let mappings = try cloud.journal.entries(where: ["event": "mapping", "state": "confirmed"])
            #expect(mappings.isEmpty)
        }
    }
}
