// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainKit
import RainKitTesting
import RainMaker
import Testing

@Suite("Boards that are away for long")
struct AbsentBoardTests {
    private static func told(_ clock: any WallClock, node: String = "node-9", ago seconds: Double = 0) -> PendingMapping
    {
        PendingMapping(
            node: NodeID(node), user: UserID("user-1"),
            proof: .secret(
                MappingSecret(randomBytes: [UInt8](repeating: 1, count: 16)), request: RequestID("over")),
            stage: .online, peer: "board-under-test", since: clock.now + -seconds)
    }

    @Test("a cloud that gave up waiting for a board gets the same secret again")
    func askedAgain() async throws {
        let scene = Scene()
        let left = Self.told(scene.civil)
        scene.pending.save(left)
        let absent = ScriptedBoard(scene.clock, faults: ["identify": [.unavailable]])
        let cloud = ScriptedCloud(statuses: [.timedOut, .requested, .confirmed])
        let node = try await scene.run(absent, cloud).get()
        #expect(node.nodeID == NodeID("node-9"))
        #expect(await cloud.calls == ["user", "status", "add", "status", "status"])
        #expect(left.proof == .secret(try #require(await cloud.secret), request: RequestID("over")))
        #expect(scene.pending.all().isEmpty)
    }

    @Test("if the board does not come in this run either, the mapping is kept for the next")
    func keptAgain() async throws {
        let scene = Scene()
        scene.pending.save(Self.told(scene.civil, ago: 6 * 24 * 3600))
        let absent = ScriptedBoard(
            scene.clock, faults: ["identify": [BoardError.Code](repeating: .unavailable, count: 1000)])
        let failure = await scene.run(absent, ScriptedCloud(statuses: [.timedOut, .requested])).failure
        #expect(failure?.isPendingKept == true)
        let kept = try #require(scene.pending.all().first)
        guard case .secret(_, RequestID("request-1")) = kept.proof else { return #expect(Bool(false), "\(kept.proof)") }
        #expect(kept.since == scene.civil.now + -6 * 24 * 3600)
    }

    @Test("a mapping that an earlier version kept has a week from now on")
    func withoutDate() async throws {
        let scene = Scene()
        var left = Self.told(scene.civil)
        left.since = nil
        scene.pending.save(left)
        let cloud = ScriptedCloud(statuses: [.timedOut, .requested])
        _ = await scene.run(ScriptedBoard(scene.clock, name: NodeID("node-1")), cloud)
        #expect(scene.pending.all().first { $0.node == NodeID("node-9") }?.since == scene.civil.now)
    }

    @Test("the mapping of a board that has not come for a week is given up")
    func givenUp() async throws {
        let scene = Scene()
        scene.pending.save(Self.told(scene.civil, ago: 7 * 24 * 3600))
        let cloud = ScriptedCloud(statuses: [.timedOut, .confirmed])
        _ = try await scene.run(ScriptedBoard(scene.clock), cloud).get()
        #expect(await cloud.calls == ["user", "status", "add", "status"])
        #expect(scene.pending.all().isEmpty)
        #expect(
            scene.told.contains {
                if case .progress(.abandoned(NodeID("node-9"), _)) = $0.state { true } else { false }
            })
    }

    @Test("a run that takes longer than the cloud waits sends the secret again")
    func withinOneRun() async throws {
        let scene = Scene()
        let cloud = ScriptedCloud(statuses: [.requested, .timedOut, .timedOut, .requested, .confirmed])
        let node = try await scene.run(ScriptedBoard(scene.clock), cloud).get()
        #expect(node.mapping == .confirmed)
        #expect(await cloud.calls.filter { $0 == "add" }.count == 3)
    }
}
