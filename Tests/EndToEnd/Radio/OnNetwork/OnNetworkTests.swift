// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Boards that are on the maker's network already, reached by their address.
@Suite("rainctl provision --transport on-network")
struct OnNetworkTests {
    @Test("a board of each security scheme comes into the account, and takes no challenge afterwards", arguments: 0...2)
    func association(security: Int) async throws {
        try await OnNetworkScene.run { scene in
            let board = try await scene.board(["--security", "\(security)"])
            let outcome = try await scene.provision(board)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["mapping"] == "confirmed")
            #expect(outcome.document?["node_id"] == "node1")
            #expect(outcome.document?["ssid"]?.string == nil)
            try await scene.expectConfirmed()
            let changes = try scene.changes(of: board)
            #expect(changes.prefix(2) == ["joined", "on_network_started"])
            #expect(changes.contains("challenge_signed") && changes.contains("on_network_disabled"), "\(changes)")
            #expect(!changes.contains("on_network_proof_refused") && !changes.contains("credentials_received"))
            // Two seconds later, as the firmware has it.
            _ = try await board.journal.entry(where: ["event": "state", "change": "on_network_stopped"])
            let again = try await scene.provision(board)
            #expect(again.status == 69, "\(again.standardOutput)")
        }
    }

    @Test("Security 2 of a protocomm from before patch versions")
    func olderPatch() async throws {
        try await OnNetworkScene.run { scene in
            let board = try await scene.board(["--security", "2", "--patch", "0"])
            let outcome = try await scene.provision(board)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            try await scene.expectConfirmed()
            let changes = try scene.changes(of: board)
            #expect(changes.contains("on_network_disabled"))
        }
    }

    @Test("a board that wants no proof of possession is not asked for one")
    func noProof() async throws {
        try await OnNetworkScene.run { scene in
            let board = try await scene.board(["--security", "1", "--no-pop"])
            let outcome = try await scene.provision(board, pop: nil)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            try await scene.expectConfirmed()
        }
    }

    @Test("a wrong proof of possession is refused before the board signs anything", arguments: [1, 2])
    func wrongProof(security: Int) async throws {
        try await OnNetworkScene.run { scene in
            let board = try await scene.board(["--security", "\(security)"])
            let outcome = try await scene.provision(board, pop: "wrong")
            #expect(outcome.status == 10, "\(outcome.standardOutput)")
            let changes = try scene.changes(of: board)
            #expect(changes.contains("on_network_proof_refused") && !changes.contains("challenge_signed"))
            let mappings = try scene.cloud.journal.entries(where: ["event": "mapping", "state": "confirmed"])
            #expect(mappings.isEmpty)
            // The board goes on: nobody counts wrong proofs there.
            #expect(try await scene.provision(board).status == 0)
        }
    }

    @Test("steps are those of a board that is on its network: none is about Wi-Fi")
    func steps() async throws {
        try await OnNetworkScene.run { scene in
            let board = try await scene.board(["--security", "1"])
            let outcome = try await scene.provision(board, ["--events", "ndjson"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)")
            let steps = try outcome.events().filter { $0["state"] == "finished" }.compactMap { $0["step"]?.string }
            #expect(
                steps == ["account", "resume", "identify", "challenge", "secure", "associate", "verify", "confirm"],
                "\(steps)")
        }
    }

    @Test("a network cannot be given to a board that has one")
    func network() async throws {
        try await OnNetworkScene.run { scene in
            let board = try await scene.board(["--security", "1"])
            let outcome = try await scene.provision(board, ["--ssid", "Home", "--open", "--json"])
            #expect(outcome.status == 64, "\(outcome.standardOutput)")
            #expect(try scene.changes(of: board) == ["joined", "on_network_started"])
        }
    }

    @Test("a board that is still to be provisioned is not taken for one on its network")
    func provisioningBoard() async throws {
        try await OnNetworkScene.run { scene in
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1"] + scene.cloud.boardOptions(node: "node1"), in: scene.folder
            )
            let outcome = try await scene.maker.rainctl(
                "provision", "--transport", "on-network", "--device-host", board.http ?? "", "--timeout", "120s",
                "--json",
                "--pop-file", scene.folder.file("pop"))
            #expect(outcome.status != 0)
            #expect(
                outcome.failure?["message"]?.string?.contains("is not on a network yet") == true,
                "\(outcome.standardOutput)"
            )
        }
    }

    @Test("the service comes up once a board that is provisioned in another way is on its network")
    func afterProvisioning() async throws {
        try await OnNetworkScene.run { scene in
            let board = try await scene.board([
                "--http", "127.0.0.1:0", "--on-network", "127.0.0.1:0", "--security", "1",
            ])
            let early = try await scene.provision(board)
            #expect(early.status == 69, "\(early.standardOutput)")
            let wifi = try await scene.maker.provision(board, ["--no-mapping", "--json"])
            #expect(wifi.status == 0, "\(wifi.standardOutput)")
            let outcome = try await scene.provision(board)
            #expect(outcome.status == 0, "\(outcome.standardOutput)")
            try await scene.expectConfirmed()
        }
    }

    @Test("over IPv6")
    func version6() async throws {
        try await OnNetworkScene.run { scene in
            let board = try await scene.board(["--on-network", "[::1]:0", "--security", "1"])
            let outcome = try await scene.provision(board)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        }
    }
}
