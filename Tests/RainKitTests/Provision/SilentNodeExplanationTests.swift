// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainMaker
import Testing

@testable import RainKit

@Suite("Boards that are online and do not come to this cloud")
struct SilentNodeExplanationTests {
    @Test("the error explains them after a minute, long before the deadline, and the mapping is kept")
    func notReported() async throws {
        let scene = Scene()
        let failure = await scene.run(
            ScriptedBoard(scene.clock), ScriptedCloud(statuses: [.requested]),
            OnboardingRequest(network: .given(Scene.home), deadline: .seconds(600))
        ).failure
        guard case .notReported? = failure?.cause else {
            return #expect(Bool(false), "\(String(describing: failure))")
        }
        #expect(failure?.message.contains("belongs to a deployment other than this deployment") == true)
        #expect(failure?.isPendingKept == true && scene.pending.all().map(\.stage) == [.online])
        #expect(scene.told.last.map { $0.elapsed < .seconds(70) } == true)
    }

    @Test("the board's description of itself is included, in one line")
    func word() {
        let identity = BoardIdentity(
            association: .userMapping, version: "netprov-v1.2", rainMakerVersion: "1.0",
            capabilities: ["rmaker.camera", "prov.wifi_scan"])
        let message = SilentNodeExplanation(board: IdentifiedBoard(identity: identity), cloud: "acme").notReported
            .message
        #expect(message.contains("than acme (the board says: rmaker 1.0, rmaker.camera)."), "\(message)")
    }

    @Test("the error mentions that a board may never have been claimed")
    func unknownClaim() {
        let identity = BoardIdentity(
            association: .userMapping, needsClaim: nil, nodeID: NodeID("7CDFA100033B"), version: "rainmaker-console")
        let failure = SilentNodeExplanation(board: IdentifiedBoard(identity: identity), cloud: "acme").notReported
        guard case .board(let cause) = failure.cause else { return #expect(Bool(false), "\(failure)") }
        #expect(cause.code == .claimFailed && cause.remedies == [.otherTransport, .claimOverCable])
    }

    @Test(
        "brokers are compared by host, and by port if both have one",
        arguments: [
            ("a1.example.com", "A1.example.com", true), ("a1.example.com", "a1.example.com:8883", true),
            ("127.0.0.1:1", "127.0.0.1:2", false), ("a1.example.com", "a2.example.com", false),
            ("[::1]:1", "[::1]:1", true), ("::1", "::2", false), ("127..0.1:8883", "127.0.0.1:8883", true),
            ("127.00.0.1:8883", "127.0.0.1:8883", true), ("a.example.com", "a.example.co", true),
            ("127..1:8883", "127.0.0.1:8883", false),
        ])
    func brokers(one: String, other: String, isSame: Bool) {
        #expect(SilentNodeExplanation.isSame(one, other) == isSame)
    }
}
