// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainKit
import RainMaker
import Testing

@Suite("Boards that report nothing of their Wi-Fi")
struct SilentBoardTests {
    @Test("the cloud's confirmation is enough for a board whose log is off")
    func confirmedByCloud() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.neverEnds])
        let cloud = ScriptedCloud(statuses: [.requested, .confirmed])
        let node = try await scene.run(board, cloud).get()
        #expect(node.mapping == .confirmed)
        #expect(node.network == nil)
        #expect(node.elapsed < .seconds(10), "\(node.elapsed)")
        #expect(scene.finishedSteps.suffix(2) == [.connect, .confirm])
        #expect(scene.pending.all().isEmpty)
    }

    @Test("a board that reports a little later than the cloud is heard")
    func lastWord() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.joins(after: .seconds(4))])
        let node = try await scene.run(board, ScriptedCloud()).get()
        #expect(node.network?.address == "192.168.1.20")
        #expect(node.elapsed == .seconds(4))
    }

    @Test("a signature proves nothing about Wi-Fi")
    func signature() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, association: .challengeResponse, watches: [.neverEnds])
        let failure = await scene.run(
            board, ScriptedCloud(), OnboardingRequest(network: .given(Scene.home), deadline: .seconds(20))
        ).failure
        guard case .deadline? = failure?.cause else { return #expect(Bool(false), "\(String(describing: failure))") }
        #expect(failure?.step == .connect)
    }

    @Test("a mapping that the cloud will not confirm does not end the watch")
    func discarded() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.joins(after: .seconds(8))])
        let failure = await scene.run(board, ScriptedCloud(statuses: [.discarded])).failure
        guard case .mappingRefused(.discarded)? = failure?.cause else {
            return #expect(Bool(false), "\(String(describing: failure))")
        }
        #expect(failure?.step == .confirm)
        #expect(scene.told.contains { if case .progress(.connected) = $0.state { true } else { false } })
    }

    @Test(
        "a lost board has its twenty seconds from the time when the cloud can be reached, whatever happened before",
        arguments: [true, false])
    func cloudAwayMeanwhile(isTold: Bool) async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.fails(.deviceLost)])
        // With the current pauses this is an outage of some 25 seconds.
        let outage = [AccountError.Code](repeating: .network, count: 20)
        let cloud = ScriptedCloud(
            statuses: [MappingStatus](repeating: .requested, count: 5) + [.confirmed],
            faults: [isTold ? "status" : "add": outage])
        let node = try await scene.run(board, cloud).get()
        #expect(node.mapping == .confirmed)
        #expect(node.elapsed > .seconds(20), "\(node.elapsed)")
    }
}
