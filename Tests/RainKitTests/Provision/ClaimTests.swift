// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainKit
import RainMaker
import Testing

/// The claim of a board during a run: the order of the steps, and what each side gets when the other fails.
@Suite("Onboarding an unclaimed board")
struct ClaimTests {
    private static let claimCalls = ["startClaim", "requestCertificate", "storeCertificate"]

    @Test(
        "the claim comes first, and the board is mapped by its new name",
        arguments: [AssociationMethod.userMapping, .challengeResponse])
    func success(association: AssociationMethod) async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, association: association, needsClaim: true)
        let cloud = ScriptedCloud()
        let node = try await scene.run(board, cloud).get()
        #expect(node.nodeID == NodeID("node-1") && node.claimed && node.mapping == .confirmed)
        let middle: [OnboardingStep] = association == .userMapping ? [] : [.verify]
        #expect(
            scene.finishedSteps
                == [.account, .resume, .identify] + (association == .userMapping ? [] : [.challenge])
                + [.secure, .claim, .associate] + middle + [.join, .connect, .confirm])
        #expect(
            await board.calls
                == ["identify", "secure"] + Self.claimCalls + ["identify", "associate", "join", "watch", "close"])
        #expect(await board.replies == [Array("invitation".utf8), Array("certificate".utf8)])
        #expect(await cloud.claimed == [Array("introduction".utf8), Array("request".utf8)])
    }

    @Test("without a claim service the board is not changed, and neither is one for which only Wi-Fi is wanted")
    func noService() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, needsClaim: true)
        let failure = await scene.run(board, ScriptedCloud(), hasClaimService: false).failure
        guard case .claimNeeded? = failure?.cause else { return #expect(Bool(false), "\(String(describing: failure))") }
        #expect(await board.calls == ["identify", "close"])

        let other = ScriptedBoard(scene.clock, needsClaim: true)
        let node = try await Scene().run(
            other, ScriptedCloud(), OnboardingRequest(network: .given(Scene.home), mapsToUser: false)
        ).get()
        #expect(!node.claimed)
        #expect(await other.calls == ["identify", "secure", "join", "watch", "close"])
    }

    struct Fault: Sendable {
        var board: [String: [BoardError.Code]] = [:]
        var cloud: [String: [AccountError.Code]] = [:]
        var calls: Int
        /// Whether this board cannot be claimed as things are.
        var isFinal: Bool
    }

    static let faults = [
        Fault(board: ["startClaim": [.claimFailed]], calls: 1, isFinal: true),
        Fault(cloud: ["initiate": [.rejected]], calls: 1, isFinal: true),
        Fault(cloud: ["initiate": [.limitReached]], calls: 1, isFinal: true),
        Fault(board: ["requestCertificate": [.claimFailed]], calls: 2, isFinal: true),
        Fault(cloud: ["certify": [.rejected]], calls: 2, isFinal: true),
        Fault(board: ["storeCertificate": [.claimFailed]], calls: 3, isFinal: true),
        Fault(board: ["storeCertificate": [.deviceLost]], calls: 3, isFinal: false),
        Fault(board: ["startClaim": [.cancelled]], calls: 1, isFinal: false),
        Fault(cloud: ["initiate": [.expired]], calls: 1, isFinal: false),
        Fault(cloud: ["initiate": [.tls]], calls: 1, isFinal: false),
        Fault(cloud: ["certify": [.rateLimited]], calls: 2, isFinal: false),
    ]

    @Test(
        "the claim is aborted on the board if another try would end the same way, and then the message includes it",
        arguments: faults)
    func failures(fault: Fault) async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, needsClaim: true, faults: fault.board)
        let cloud = ScriptedCloud(faults: fault.cloud)
        let failure = await scene.run(board, cloud).failure
        #expect(failure?.step == .claim)
        #expect(
            await board.calls
                == ["identify", "secure"] + Self.claimCalls.prefix(fault.calls) + (fault.isFinal ? ["abortClaim"] : [])
                + ["close"])
        if case .account(let error)? = failure?.cause {
            #expect(error.message.contains("estart") == fault.isFinal)
            #expect(failure?.message == error.message)
        }
        #expect(scene.pending.all().isEmpty)
        #expect(try await scene.run(board, cloud).get().claimed)
    }

    @Test("a service that cannot be reached is asked again for a while, then the board is released")
    func outage() async throws {
        let scene = Scene()
        let cloud = ScriptedCloud(faults: ["initiate": [.network, .serverFault], "certify": [.timeout]])
        #expect(try await scene.run(ScriptedBoard(scene.clock, needsClaim: true), cloud).get().claimed)

        let other = Scene()
        let board = ScriptedBoard(other.clock, needsClaim: true)
        let down = ScriptedCloud(faults: ["initiate": Array(repeating: .network, count: 100)])
        let failure = await other.run(board, down).failure
        guard case .account(let error)? = failure?.cause else {
            return #expect(Bool(false), "\(String(describing: failure))")
        }
        #expect(error.code == .network)
        #expect(await board.calls.suffix(2) == ["startClaim", "close"])
        #expect(await down.calls.filter { $0 == "initiate" }.count < 20)
    }

    @Test("a claim interrupted by the connection restarts at once, but not forever")
    func interrupted() async throws {
        let scene = Scene()
        let board = ScriptedBoard(
            scene.clock, needsClaim: true,
            faults: ["requestCertificate": [.claimInterrupted], "storeCertificate": [.claimInterrupted]])
        #expect(try await scene.run(board, ScriptedCloud()).get().claimed)
        #expect(await board.calls.filter { $0 == "startClaim" }.count == 3)
        #expect(await !board.calls.contains("abortClaim"))

        let other = ScriptedBoard(
            scene.clock, needsClaim: true, faults: ["startClaim": Array(repeating: .claimInterrupted, count: 100)])
        #expect(await Scene().run(other, ScriptedCloud()).failure?.step == .claim)
        #expect(await other.calls.filter { $0 == "startClaim" }.count == 5)
        #expect(await !other.calls.contains("abortClaim"))
    }

    @Test("a board that answers by its old name is not mapped")
    func oldName() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, needsClaim: true)
        let cloud = ScriptedCloud(claimedNode: NodeID("another"))
        let failure = await scene.run(board, cloud).failure
        #expect(failure?.step == .associate)
        guard case .board(let error)? = failure?.cause else {
            return #expect(Bool(false), "\(String(describing: failure))")
        }
        #expect(error.code == .claimFailed)
        #expect(scene.pending.all().isEmpty)
    }

    @Test(
        "a board that an earlier run claimed is not claimed again, although it asks for it until it restarts",
        arguments: [AssociationMethod.userMapping, .challengeResponse])
    func claimedBefore(association: AssociationMethod) async throws {
        let scene = Scene()
        let board = ScriptedBoard(
            scene.clock, association: association, needsClaim: true,
            watches: [.fails(.wifiAuthenticationFailed), .joins(after: .zero)])
        let cloud = ScriptedCloud()
        #expect(await scene.run(board, cloud).failure?.step == .connect)
        #expect(scene.claimed.all() == [NodeID("node-1")])
        let node = try await scene.run(board, cloud).get()
        #expect(node.nodeID == NodeID("node-1") && !node.claimed && node.mapping == .confirmed)
        #expect(await board.calls.filter { $0 == "startClaim" }.count == 1)
        // The board is on its network, so it need not be remembered any more.
        #expect(scene.claimed.all().isEmpty)
    }

    @Test("a claimed board is recognized when it is reached over another transport")
    func claimedElsewhere() async throws {
        let scene = Scene()
        let cloud = ScriptedCloud()
        let byName = ScriptedBoard(
            scene.clock, needsClaim: true, peer: "PROV_a1b2c3", watches: [.fails(.wifiAuthenticationFailed)])
        #expect(await scene.run(byName, cloud).failure?.step == .connect)
        let byAddress = ScriptedBoard(scene.clock, needsClaim: true, peer: "AA:BB:CC:DD:EE:FF")
        let node = try await scene.run(byAddress, cloud).get()
        #expect(node.nodeID == NodeID("node-1") && !node.claimed && node.mapping == .confirmed)
        #expect(await !byAddress.calls.contains("startClaim"))
    }

    @Test(
        "another board at the same address is claimed, and so is one that does not report its name",
        arguments: [false, true])
    func samePlace(refuses: Bool) async throws {
        let scene = Scene()
        scene.claimed.save(NodeID("node-1"))
        let board = ScriptedBoard(
            scene.clock, name: NodeID("node-2"), needsClaim: true, faults: refuses ? ["associate": [.rejected]] : [:])
        #expect(try await scene.run(board, ScriptedCloud(claimedNode: NodeID("node-2"))).get().claimed)
        #expect(scene.claimed.all() == [NodeID("node-1")])
    }

    @Test("a board whose claim restarts does not count as claimed if the new claim fails")
    func begunAgain() async throws {
        let scene = Scene()
        let request = OnboardingRequest.claim()
        scene.claimed.save(NodeID("node-1"))
        let board = ScriptedBoard(scene.clock, needsClaim: true, faults: ["requestCertificate": [.claimFailed]])
        #expect(await scene.run(board, ScriptedCloud(), request).failure?.step == .claim)
        #expect(scene.claimed.all().isEmpty)
    }

    @Test("the claim alone has three steps, and no claim for a board that has its certificate")
    func alone() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, needsClaim: true)
        let node = try await scene.run(board, ScriptedCloud(), .claim()).get()
        #expect(node.claimed && node.nodeID == NodeID("node-1") && node.mapping == .skipped)
        #expect(scene.finishedSteps == [.account, .identify, .secure, .claim])

        let claimed = ScriptedBoard(scene.clock)
        #expect(try await Scene().run(claimed, ScriptedCloud(), .claim()).get().claimed == false)
    }

    @Test("a board without RainMaker does not count as claimed")
    func withoutRainMaker() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, faults: ["associate": [.notRainMaker]])
        let failure = await scene.run(board, ScriptedCloud(), .claim()).failure
        guard case .board(let cause)? = failure?.cause else {
            return #expect(Bool(false), "\(String(describing: failure))")
        }
        #expect(cause.code == .notRainMaker && cause.message.contains("no RainMaker endpoint"))
    }
}
