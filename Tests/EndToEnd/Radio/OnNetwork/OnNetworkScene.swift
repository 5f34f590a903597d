// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport

/// A cloud, a maker who is signed in, and boards that are on the maker's network already.
struct OnNetworkScene {
    let folder: TemporaryFolder
    let cloud: SimulatedCloud
    let maker: Maker

    static func run(nodes: [String] = ["node1"], _ body: (OnNetworkScene) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: nodes, in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            try await body(OnNetworkScene(folder: folder, cloud: cloud, maker: maker))
            try await cloud.process.terminate()
        }
    }

    /// A board that has its network, serving at a port of the system's choice.
    func board(_ more: [String] = [], node: String = "node1") async throws -> SimulatedBoard {
        var options = ["--mapping", "ch-resp"]
        if !more.contains("--on-network") { options += ["--on-network", "127.0.0.1:0"] }
        return try await SimulatedBoard.start(options + more + cloud.boardOptions(node: node), in: folder)
    }

    func provision(
        _ board: SimulatedBoard, pop: String? = "pop", _ more: [String] = ["--json"]
    ) async throws -> Maker.Outcome {
        let proof = pop.map { ["--pop-file", folder.file($0)] } ?? []
        return try await maker.rainctl(
            ["provision", "--transport", "on-network", "--device-host", board.onNetwork ?? "", "--timeout", "120s"]
                + proof
                + board.consent + more)
    }

    /// Whether the cloud has the node in the maker's account.
    func expectConfirmed(_ node: String = "node1") async throws {
        _ = try await cloud.journal.entry(where: [
            "event": "mapping", "state": "confirmed", "node": .string(node), "user": .string(SimulatedCloud.user),
        ])
    }

    func changes(of board: SimulatedBoard) throws -> [String] {
        try board.journal.entries(where: ["event": "state"]).compactMap { $0["change"]?.string }
            .filter { !$0.hasPrefix("mqtt_") }
    }
}
