// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Over SoftAP the challenge is fetched before the board is asked anything, as its network has no internet.
@Suite("rainctl provision: a cloud that gives no challenge")
struct ProvisioningEarlyChallengeTests {
    /// A private or older deployment refuses; the others are faults.
    static let faults: [JSONValue] =
        [400, 403, 404, 500, 503].map { ["action": "status", "status": .integer($0)] } + [["action": "reset"]]

    @Test("a board that signs nothing is set up and mapped over its access point", arguments: faults)
    func unneeded(fault: JSONValue) async throws {
        let outcome = try await provision("user", fault)
        #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        #expect(outcome.document?["mapping"]?.string == "confirmed", "\(outcome.standardOutput)")
    }

    @Test("a board that signs a challenge ends the run with what the cloud said, before its session is opened")
    func needed() async throws {
        let refused = try await provision("ch-resp", ["action": "status", "status": 403])
        refused.expectFailure(1, "other", says: "the challenge that the board has to sign")
        #expect(refused.failure?["step"]?.string == "challenge", "\(refused.standardOutput)")
        let down = try await provision("ch-resp", ["action": "status", "status": 503])
        down.expectFailure(75, "temporary", says: "the challenge that the board has to sign")
    }

    private func provision(_ mapping: String, _ fault: JSONValue) async throws -> Maker.Outcome {
        try await withTemporaryFolder { folder in
            let node = "node-early"
            let cloud = try await SimulatedCloud.start(nodes: [node], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            guard case .object(let members) = fault else { throw ProcessError("no rule: \(fault)") }
            let rule = JSONValue.object([.init("path", "/v1/user/nodes/mapping/initiate")] + members)
            try await cloud.control("faults", ["rules": .array([rule])])
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1", "--mapping", mapping, "--join-delay", "0.4"]
                    + cloud.boardOptions(node: node), in: folder)
            return try await maker.provision(board, ["--json"])
        }
    }
}
