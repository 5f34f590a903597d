// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("Whose a board becomes")
struct UserIDTests {
    @Test(
        "the user id of the profile is what the board asks the cloud to be mapped to",
        arguments: ["user", "ch-resp"])
    func profile(mapping: String) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-of-mine"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let who = try await maker.rainctl("whoami", "--json")
            let id = try #require(who.document?["user_id"]?.string)
            #expect(!id.isEmpty && id != who.document?["user_name"]?.string)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1", "--join-delay", "0.1", "--mapping", mapping]
                    + cloud.boardOptions(node: "node-of-mine"), in: folder)
            let outcome = try await maker.provision(board, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            let mappings = try cloud.journal.entries(where: ["event": "mapping", "node": "node-of-mine"])
            #expect(!mappings.isEmpty)
            #expect(mappings.allSatisfy { $0["user_id"]?.string == id }, "\(mappings)")
        }
    }
}
