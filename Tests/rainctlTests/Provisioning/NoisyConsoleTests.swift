// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl provision over a console that logs in the middle of its answers")
struct NoisyConsoleTests {
    @Test("ends as over a quiet one", arguments: [1, 2])
    func provision(seed: Int) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-noisy"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                [
                    "--console", folder.file("tty"), "--security", "1", "--console-noise", "inside", "--seed",
                    "\(seed)",
                ] + cloud.boardOptions(node: "node-noisy"), in: folder)
            let outcome = try await maker.provision(board, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["mapping"]?.string == "confirmed")
        }
    }
}
