// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// A board that is lost after it started to join, and what may be reported about it then.
@Suite("rainctl provision: boards that vanish")
struct VanishedBoardTests {
    struct Bench {
        var cloud: SimulatedCloud
        var maker: Maker
        var board: SimulatedBoard

        func nodeIsConnected(_ node: String) async throws -> Bool? {
            let list = try await maker.rainctl("node", "list", "--json")
            let nodes = list.document?["nodes"]?.array ?? []
            return nodes.first { $0["node_id"]?.string == node }?["connected"]?.bool
        }
    }

    private func bench(
        _ options: [String], node: String = "node-vanishing", _ body: (Bench) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: [node], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1"] + options + cloud.boardOptions(node: node), in: folder)
            try await body(Bench(cloud: cloud, maker: maker, board: board))
        }
    }

    /// The steps that some line of the stream calls finished.
    private func finished(_ outcome: Maker.Outcome) throws -> [String] {
        try outcome.standardOutput.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
            .filter { $0["state"] == "finished" }.compactMap { $0["step"]?.string }
    }

    @Test(
        "one that signed its challenge and lost its power is in the account, and on no network: 14",
        arguments: ["power=0", "power=0.5"])
    func power(vanish: String) async throws {
        try await bench(["--mapping", "ch-resp", "--join-delay", "1.4", "--vanish", vanish]) { bench in
            let outcome = try await bench.maker.provision(bench.board, ["--events", "ndjson"])
            let last = try JSONValue(
                parsing: Array((outcome.standardOutput.split(separator: "\n").last ?? "").utf8))
            #expect(outcome.status == 14, "\(outcome.standardOutput)")
            #expect(last["code"] == "device_lost")
            let message = last["message"]?.string ?? ""
            #expect(message.contains("it is not known whether it is on the network"), "\(message)")
            #expect(message.contains("in your account"), "\(message)")
            #expect(last["node_id"] == "node-vanishing")
            let untrue = try finished(outcome).filter { ["connect", "confirm"].contains($0) }
            #expect(untrue.isEmpty, "\(outcome.standardOutput)")
            #expect(try await bench.nodeIsConnected("node-vanishing") == false)
        }
    }

    @Test("one whose link was lost is set up once the cloud sees it", arguments: ["link=0", "link=0.5"])
    func link(vanish: String) async throws {
        try await bench(["--mapping", "ch-resp", "--join-delay", "1.4", "--vanish", vanish]) { bench in
            let outcome = try await bench.maker.provision(bench.board, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["mapping"] == "confirmed")
            #expect(try await bench.nodeIsConnected("node-vanishing") == true)
        }
    }

    @Test("a wrong password behind a lost link is no success: 14")
    func wrongPassword() async throws {
        try await bench(["--mapping", "ch-resp", "--join-delay", "1.4", "--vanish", "link=0.5"]) { bench in
            let outcome = try await bench.maker.provision(bench.board, passphrase: "wrong", ["--json"])
            outcome.expectFailure(14, "device_lost", says: "it is not known whether it is on the network")
            #expect(try bench.board.journal.entries(where: ["change": "join_failed"]).count > 0)
        }
    }

    @Test("with a mapping by secret the cloud's word is enough: only a board on its network gives the secret away")
    func secret() async throws {
        try await bench(["--mapping", "user", "--join-delay", "1.4", "--vanish", "link=0.5"]) { bench in
            let outcome = try await bench.maker.provision(bench.board, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        }
    }
}
