// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainKit
import RainKitTesting
import RainMaker
import Testing

/// The network is chosen from those that the board hears, and the board has joined one before.
@Suite("Boards that do not scan because they are on a network")
struct ConnectedBoardTests {
    private static let online = Node.Connectivity(isConnected: true)
    private static let offline = Node.Connectivity(isConnected: false)

    private func run(
        _ board: ScriptedBoard, _ cloud: ScriptedCloud, in scene: Scene, mapsToUser: Bool = true
    ) async -> Result<OnboardedNode, RainKitError> {
        let request = OnboardingRequest(network: .chosen({ _ in .cancel }), mapsToUser: mapsToUser)
        return await scene.run(board, cloud, request)
    }

    @Test(
        "nothing is left to do if the board is online in the account",
        arguments: [AssociationMethod.userMapping, .challengeResponse])
    func online(association: AssociationMethod) async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, association: association)
        // A board that signs challenges names itself when it signs.
        await board.isOnNetwork(nodeID: association == .userMapping ? NodeID("node-1") : nil)
        let node = try await run(board, ScriptedCloud(connections: [Self.online]), in: scene).get()
        #expect(node.nodeID == NodeID("node-1") && node.mapping == .confirmed && node.resumed)
        #expect(
            scene.told.contains {
                if case .progress(.alreadyOnline(NodeID("node-1"))) = $0.state { true } else { false }
            })
        let calls = await board.calls
        #expect(!calls.contains("join"))
        #expect(calls.contains("associate") == (association == .challengeResponse))
        #expect(scene.pending.all().isEmpty)
    }

    @Test("otherwise the run ends with the board's refusal", arguments: [0, 1, 2])
    func other(kind: Int) async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock)
        // Without its name, the cloud is not asked about the board.
        await board.isOnNetwork(nodeID: kind == 0 ? nil : NodeID("node-1"))
        let cloud = ScriptedCloud(connections: kind == 1 ? [Self.offline] : [Self.online])
        let failure = await run(board, cloud, in: scene, mapsToUser: kind != 2).failure
        #expect(failure?.board?.code == .rejected && failure?.step == .scan)
        #expect(await cloud.calls.contains("connectivity") == (kind == 1))
        #expect(await board.calls.contains("associate") == false)
    }
}
