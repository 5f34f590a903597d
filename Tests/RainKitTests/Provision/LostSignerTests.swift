// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainKit
import RainKitTesting
import RainMaker
import Testing

/// Boards that have signed their challenge and are therefore in the account, but are lost before they are seen on their network.
@Suite("Lost boards that are in the account")
struct LostSignerTests {
    private static let offline = Node.Connectivity(isConnected: false, since: UnixTime(seconds: 0))
    private static let online = Node.Connectivity(isConnected: true, since: UnixTime(seconds: 1000))

    private func run(
        _ cloud: ScriptedCloud, watch: ScriptedBoard.Watch = .fails(.deviceLost),
        faults: [String: [BoardError.Code]] = [:]
    ) async -> (result: Result<OnboardedNode, RainKitError>, scene: Scene) {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, association: .challengeResponse, watches: [watch], faults: faults)
        return (await scene.run(board, cloud), scene)
    }

    @Test("are set up when the cloud sees them come online, and no unfinished step is reported as finished")
    func seen() async throws {
        let (result, scene) = await run(ScriptedCloud(connections: [Self.offline, Self.offline, Self.online]))
        let node = try result.get()
        #expect(node.mapping == .confirmed && node.network == nil)
        #expect(!scene.finishedSteps.contains(.connect) && scene.finishedSteps.last == .confirm)
    }

    @Test("are also set up if they fell silent while they got their Wi-Fi settings")
    func silentInJoin() async throws {
        let cloud = ScriptedCloud(connections: [Self.offline, Self.online])
        let (result, scene) = await run(cloud, faults: ["join": [.mayBeJoining]])
        #expect(try result.get().mapping == .confirmed)
        #expect(scene.finishedSteps.filter { [.join, .connect].contains($0) }.isEmpty)
    }

    static let clouds: [ScriptedCloud] = [
        ScriptedCloud(connections: [offline]), ScriptedCloud(connections: [online]), ScriptedCloud(),
        ScriptedCloud(faults: ["connectivity": [.rejected]], connections: [online]),
        ScriptedCloud(faults: ["connectivity": [AccountError.Code](repeating: .network, count: 1000)]),
    ]

    @Test("otherwise the run reports what is known and what is not", arguments: 0..<5)
    func notSeen(cloud index: Int) async throws {
        let (result, scene) = await run(Self.clouds[index])
        guard case .board(let cause)? = result.failure?.cause else {
            return #expect(Bool(false), "\(String(describing: result))")
        }
        #expect(cause.code == .deviceLost)
        #expect(cause.message.contains("in your account, but it is not known whether it is on the network"))
        #expect(result.failure?.step == .confirm && result.failure?.isPendingKept == false)
        #expect(scene.finishedSteps.last == .verify || scene.finishedSteps.last == .join)
    }

    @Test("a signature that an earlier run left does not show where an absent board is", arguments: [true, false])
    func leftOver(isSeen: Bool) async throws {
        let scene = Scene()
        scene.pending.save(
            PendingMapping(
                node: NodeID("node-9"), user: UserID("user-1"), proof: .signature([1], request: RequestID("r")),
                stage: .applied, peer: "board-under-test", since: scene.civil.now))
        let absent = ScriptedBoard(
            scene.clock, faults: ["identify": [BoardError.Code](repeating: .unavailable, count: 1000)])
        let cloud = ScriptedCloud(connections: isSeen ? [Self.offline, Self.online] : [Self.offline])
        let result = await scene.run(absent, cloud)
        if isSeen {
            #expect(try result.get().resumed)
        } else {
            guard case .board(let cause)? = result.failure?.cause else {
                return #expect(Bool(false), "\(String(describing: result))")
            }
            #expect(cause.code == .unavailable)
        }
    }
}
