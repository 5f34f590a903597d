// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport

/// What rows of the table share that change nothing: a cloud with a board that is online, and the identity systems.
final class FaultBench: Sendable {
    static let friend = "friend@example.com"

    let folder: TemporaryFolder
    let maker: Maker
    let cloud: SimulatedCloud
    let identity: SimulatedIdentity
    private let board: SimulatedBoard

    init() async throws {
        let folder = try TemporaryFolder()
        let maker = try Maker(folder)
        for (name, text) in Self.secrets { folder.writePrivately(Array(text.utf8), to: name) }
        let cloud = try await SimulatedCloud.start(
            nodes: ["n1", "n2"], arguments: ["--user", "\(Self.friend):\(SimulatedCloud.password)"], in: folder)
        identity = try await SimulatedIdentity.start(in: folder)
        try await maker.signIn(to: cloud)
        board = try await SimulatedBoard.start(
            ["--http", "127.0.0.1:0", "--security", "1", "--mapping", "user", "--join-delay", "0"]
                + cloud.boardOptions(node: "n1"), in: folder)
        let outcome = try await maker.provision(board, ["--json"])
        guard outcome.status == 0 else { throw ProcessError("not provisioned: \(outcome.standardOutput)") }
        for what in ["config", "params"] {
            _ = try await cloud.journal.entry(where: [
                "event": "node", "what": .string(what), "node": "n1",
            ])
        }
        (self.folder, self.maker, self.cloud) = (folder, maker, cloud)
    }

    /// Passwords and secrets of docs/simulated-identity.md, by the files that they are in.
    private static let secrets = [
        "good": SimulatedIdentity.password, "app-1": "app-1-secret", "wskey-1": "wskey-1-secret",
        "web-1": "web-1-secret", "other-secret": "other-secret",
        "values.json": "{", "rule.json": #"{"event_type":"node_params"}"#, "hello.bin": "hello", "empty.bin": "",
    ]
}
