// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainKit
import RainMaker
import Testing

@Suite("Firewalls, proxies and limits between the run and the cloud")
struct CloudInTheWayTests {
    private static var firewall: AccountError {
        var error = AccountError(.forbidden, message: "scripted", status: 403)
        error.isFromGateway = true
        return error
    }

    private static func busy(_ rest: Duration) -> AccountError {
        var error = AccountError(.rateLimited, message: "scripted", status: 429)
        error.retryAfter = rest
        return error
    }

    private static func told(_ peer: String = "board-under-test") -> PendingMapping {
        PendingMapping(
            node: NodeID("node-9"), user: UserID("user-1"),
            proof: .secret(
                MappingSecret(randomBytes: [UInt8](repeating: 1, count: 16)), request: RequestID("told")),
            stage: .online, peer: peer)
    }

    @Test("a firewall's refusal does not end a mapping, since the cloud has not been asked")
    func mappingStays() async throws {
        let scene = Scene()
        let failure = await scene.run(
            ScriptedBoard(scene.clock), ScriptedCloud(errors: ["status": [Self.firewall]])
        ).failure
        guard case .account(let cause)? = failure?.cause else { return #expect(Bool(false)) }
        #expect(cause.code == .forbidden)
        #expect(failure?.isPendingKept == true)
        #expect(scene.pending.all().map(\.stage) == [.online])
    }

    @Test("a firewall's refusal does not end a mapping of an earlier run, and this run's board is set up")
    func leftOverStays() async throws {
        let scene = Scene(pending: [Self.told("elsewhere")])
        let node = try await scene.run(
            ScriptedBoard(scene.clock), ScriptedCloud(errors: ["status": [Self.firewall]])
        ).get()
        #expect(node.nodeID == NodeID("node-1"))
        #expect(scene.pending.all() == [Self.told("elsewhere")])
    }

    @Test("a firewall's refusal does not end a claim: the board would have to be restarted")
    func claimStays() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, needsClaim: true)
        let failure = await scene.run(board, ScriptedCloud(errors: ["initiate": [Self.firewall]])).failure
        #expect(failure?.step == .claim)
        #expect(await !board.calls.contains("abortClaim"))
    }

    @Test("the cloud's own refusal ends the mapping")
    func refused() async throws {
        let scene = Scene()
        let failure = await scene.run(
            ScriptedBoard(scene.clock), ScriptedCloud(errors: ["status": [AccountError(.forbidden, message: "no")]])
        ).failure
        #expect(failure?.isPendingKept == false)
        #expect(scene.pending.all().isEmpty)
    }

    @Test("a cloud that asks for no requests for a while gets none")
    func leftAlone() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock)
        let cloud = ScriptedCloud(errors: ["status": [Self.busy(.seconds(60))]])
        let node = try await scene.run(board, cloud).get()
        #expect(node.mapping == .confirmed)
        #expect(await cloud.calls == ["user", "add", "status", "status"])
        #expect(node.elapsed >= .seconds(60) && node.elapsed < .seconds(61), "\(node.elapsed)")
    }

    @Test("if it asks for longer than the run has, the mapping is kept")
    func leftAloneForLong() async throws {
        let scene = Scene()
        let cloud = ScriptedCloud(errors: ["status": [Self.busy(.seconds(600))]])
        let failure = await scene.run(ScriptedBoard(scene.clock), cloud).failure
        guard case .account(let cause)? = failure?.cause else {
            return #expect(Bool(false), "\(String(describing: failure))")
        }
        #expect(cause.code == .rateLimited)
        #expect(failure?.isPendingKept == true)
        #expect(await cloud.calls == ["user", "add", "status"])
    }

    @Test("it gets none while a board is searched for, either")
    func leftAloneWhileSearching() async throws {
        let scene = Scene(pending: [Self.told()])
        let absent = ScriptedBoard(
            scene.clock, faults: ["identify": [BoardError.Code](repeating: .unavailable, count: 1000)])
        let cloud = ScriptedCloud(errors: ["status": [Self.busy(.seconds(60))]])
        _ = await scene.run(
            absent, cloud,
            OnboardingRequest(network: .given(Scene.home), deadline: .seconds(50), waitsForBoard: true))
        #expect(await cloud.calls == ["user", "status"])
    }
}
