// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainKit
import RainMaker
import Synchronization
import Testing

@Suite("What earlier runs left")
struct LeftOverTests {
    @Test("the next run finishes a kept mapping, although the board is gone")
    func resumes() async throws {
        let kept = PendingMapping(
            node: NodeID("node-9"), user: UserID("user-1"),
            proof: .secret(MappingSecret(randomBytes: [UInt8](repeating: 1, count: 16)), request: nil), stage: .online,
            peer: "board-under-test")
        let scene = Scene(pending: [kept])
        let board = ScriptedBoard(scene.clock, faults: ["identify": [.unavailable]])
        let node = try await scene.run(board, ScriptedCloud(statuses: [.requested, .confirmed])).get()
        #expect(node.nodeID == NodeID("node-9"))
        #expect(node.resumed)
        #expect(scene.pending.all().isEmpty)
    }

    private static func kept(
        _ node: String, _ stage: PendingMapping.Stage = .applied, peer: String = "board-under-test",
        request: RequestID? = nil, notes: MappingNotes = MappingNotes()
    ) -> PendingMapping {
        PendingMapping(
            node: NodeID(node), user: UserID("user-1"),
            proof: .secret(MappingSecret(randomBytes: [UInt8](repeating: 1, count: 16)), request: request),
            stage: stage, peer: peer, notes: notes)
    }

    @Test("a mapping that another run is working on is left to it, and matches no board")
    func othersAtWork() async throws {
        let scene = Scene(pending: [Self.kept("node-9")])
        let hold = try #require(scene.pending.hold(node: NodeID("node-9")))
        let cloud = ScriptedCloud()
        let absent = ScriptedBoard(scene.clock, faults: ["identify": [.unavailable]])
        let failure = await scene.run(absent, cloud).failure
        guard case .board(let cause)? = failure?.cause else { return #expect(Bool(false)) }
        #expect(cause.code == .unavailable)
        #expect(await cloud.calls == ["user"])
        #expect(scene.pending.all() == [Self.kept("node-9")])
        withExtendedLifetime(hold) {}
    }

    @Test("while a run is working on a board, its mapping is held; afterwards it is not")
    func holds() async throws {
        let scene = Scene()
        let isHeld = Mutex(false)
        let board = ScriptedBoard(scene.clock, watches: [.fails(.wifiAuthenticationFailed)])
        _ = await scene.run(
            board, ScriptedCloud(),
            OnboardingRequest(
                network: .given(Scene.home),
                otherNetwork: { _ in
                    isHeld.withLock { $0 = scene.pending.hold(node: NodeID("node-1")) == nil }
                    return nil
                }))
        #expect(isHeld.withLock { $0 })
        #expect(
            scene.pending.hold(node: NodeID("a mapping of an earlier run is finished with the notes of its own board"))
                != nil)
    }

    @Test("what was left is finished with the notes of its own board")
    func notes() async throws {
        let notes = MappingNotes(tags: ["room:kitchen"], metadata: "{}")
        let scene = Scene(pending: [Self.kept("node-9", peer: "elsewhere", notes: notes)])
        let cloud = ScriptedCloud()
        _ = try await scene.run(
            ScriptedBoard(scene.clock), cloud,
            OnboardingRequest(network: .given(Scene.home), notes: MappingNotes(tags: ["room:hall"]))
        ).get()
        #expect(await cloud.notes == [notes, MappingNotes(tags: ["room:hall"])])
        // After these steps the events are about this run's board.
        let others = scene.told.drop { $0.step == .account || $0.step == .resume }.filter {
            $0.nodeID == NodeID("node-9")
        }
        #expect(others.isEmpty, "\(others)")
    }

    @Test("a run takes its board as soon as the other run releases it, and keeps the mapping that a later run needs")
    func handedOver() async throws {
        let scene = Scene()
        let hold = Mutex(scene.pending.hold(node: NodeID("node-1")))
        #expect(hold.withLock { $0 } != nil)
        let isTaken = Mutex(false)
        let board = ScriptedBoard(
            scene.clock, watches: [.fails(.wifiAuthenticationFailed), .fails(.wifiAuthenticationFailed)])
        let later = Self.kept("node-1")
        let failure = await scene.run(
            // Meanwhile nothing else of this run is kept.
            board, ScriptedCloud(faults: ["add": [.network, .network]]),
            OnboardingRequest(
                network: .given(Scene.home),
                otherNetwork: { _ in
                    let isFirst = hold.withLock { hold in
                        defer { hold = nil }
                        return hold != nil
                    }
                    if isFirst { return Scene.home }
                    isTaken.withLock { $0 = scene.pending.hold(node: NodeID("node-1")) == nil }
                    scene.pending.save(later)
                    return nil
                })
        ).failure
        #expect(failure?.isPendingKept == false)
        #expect(isTaken.withLock { $0 })
        #expect(scene.pending.all() == [later])
    }

    @Test("a cloud that cannot be asked about another board does not fail the run")
    func deferred() async throws {
        let left = Self.kept("node-9", peer: "elsewhere", request: RequestID("purged"))
        let scene = Scene(pending: [left])
        let node = try await scene.run(
            ScriptedBoard(scene.clock), ScriptedCloud(faults: ["status": [.serverFault]])
        ).get()
        #expect(node.mapping == .confirmed)
        #expect(scene.pending.all() == [left])
    }

    @Test("a mapping from before the board had Wi-Fi is removed, and the cloud is not asked about it")
    func useless() async throws {
        let scene = Scene(pending: [Self.kept("node-9", .associated)])
        let cloud = ScriptedCloud()
        _ = try await scene.run(ScriptedBoard(scene.clock), cloud).get()
        #expect(await cloud.calls == ["user", "add", "status"])
        #expect(scene.pending.all().isEmpty)
    }

    @Test("mappings of another user are not changed")
    func othersArePrivate() async throws {
        let kept = PendingMapping(
            node: NodeID("node-9"), user: UserID("somebody-else"),
            proof: .signature([1], request: RequestID("r")), stage: .online, peer: "elsewhere")
        let scene = Scene(pending: [kept])
        let cloud = ScriptedCloud()
        _ = try await scene.run(ScriptedBoard(scene.clock), cloud).get()
        #expect(await cloud.calls == ["user", "add", "status"])
        #expect(scene.pending.all() == [kept])
    }

    /// A mapping whose secret both the board and the cloud have.
    private static func told(_ node: String, peer: String = "board-under-test", label: String? = nil) -> PendingMapping
    {
        var mapping = kept(node, .online, peer: peer, request: RequestID("told-\(node)"))
        mapping.label = label
        return mapping
    }

    @Test("boards that never came online do not make others wait", arguments: ["board-under-test", "elsewhere"])
    func manyThatNeverCome(peer: String) async throws {
        let left = (1...60).map { Self.told("left-\($0)", peer: peer) }
        let scene = Scene(pending: left)
        let cloud = ScriptedCloud(statuses: [MappingStatus](repeating: .requested, count: 60) + [.confirmed])
        let node = try await scene.run(ScriptedBoard(scene.clock), cloud).get()
        #expect(node.nodeID == NodeID("node-1"))
        #expect(await cloud.calls.filter { $0 == "status" }.count == 61)
        #expect(node.elapsed == .zero)
        #expect(Set(scene.pending.all().map(\.node)) == Set(left.map(\.node)))
    }

    @Test("mappings that the cloud has only just received wait two seconds together")
    func manyThatAreNews() async throws {
        let scene = Scene(pending: (1...9).map { Self.kept("left-\($0)", .online, peer: "elsewhere") })
        _ = await scene.run(
            ScriptedBoard(scene.clock), ScriptedCloud(statuses: [.requested]),
            OnboardingRequest(network: .none, deadline: .seconds(60)))
        let began = try #require(scene.told.first { $0.step == .identify })
        #expect(began.elapsed >= .seconds(2) && began.elapsed < .seconds(3), "\(began.elapsed)")
    }

    @Test("a cloud that answers slowly is asked for ten seconds before this run's board is set up")
    func slowCloud() async throws {
        let left = (1...60).map { Self.told("left-\($0)") }
        let scene = Scene(pending: left)
        let cloud = ScriptedCloud(statuses: [.requested], clock: scene.clock, delay: .seconds(1))
        _ = await scene.run(
            ScriptedBoard(scene.clock), cloud, OnboardingRequest(network: .given(Scene.home), deadline: .seconds(60)))
        let began = try #require(scene.told.first { $0.step == .identify })
        #expect(began.elapsed < .seconds(12), "\(began.elapsed)")
    }

    @Test(
        "if no board answers, the cloud is asked until the board of the earlier run has reported",
        arguments: [true, false])
    func reportsLate(waitsForBoard: Bool) async throws {
        let scene = Scene(pending: [Self.told("node-9")])
        let board = ScriptedBoard(
            scene.clock, faults: ["identify": [BoardError.Code](repeating: .unavailable, count: 1000)])
        let cloud = ScriptedCloud(statuses: [.requested, .requested, .requested, .requested, .confirmed])
        let node = try await scene.run(
            board, cloud, OnboardingRequest(network: .given(Scene.home), waitsForBoard: waitsForBoard)
        ).get()
        #expect(node.nodeID == NodeID("node-9"))
        #expect(node.resumed)
        #expect(node.elapsed < .seconds(10), "\(node.elapsed)")
        #expect(scene.finishedSteps.last == .identify)
    }

    @Test("a board that never reports is looked for no longer than its limit, and its mapping stays for the next run")
    func neverReports() async throws {
        let left = Self.told("node-9")
        let scene = Scene(pending: [left])
        let board = ScriptedBoard(
            scene.clock, faults: ["identify": [BoardError.Code](repeating: .unavailable, count: 1000)])
        let failure = await scene.run(board, ScriptedCloud(statuses: [.requested])).failure
        guard case .board(let cause)? = failure?.cause else {
            return #expect(Bool(false), "\(String(describing: failure))")
        }
        #expect(cause.code == .unavailable)
        #expect(failure?.isPendingKept == true)
        #expect(scene.pending.all() == [left])
        let last = try #require(scene.told.last)
        #expect(last.elapsed >= .seconds(20) && last.elapsed < .seconds(23), "\(last.elapsed)")
    }

    @Test("a user who joins the board's network waits no longer than until the cloud has confirmed the earlier mapping")
    func waitingPerson() async throws {
        let scene = Scene(pending: [Self.told("node-9")])
        let board = ScriptedBoard(scene.clock, faults: ["identify": [.unavailable]])
        let node = try await scene.run(
            board, ScriptedCloud(), OnboardingRequest(network: .given(Scene.home), waitsForBoard: true)
        ).get()
        #expect(node.nodeID == NodeID("node-9"))
        #expect(node.elapsed == .zero)
    }

    @Test(
        "an earlier mapping of one board is not a success for another board at the same port",
        arguments: [("PROV_aaaaaa", "PROV_bbbbbb"), (nil, "PROV_bbbbbb"), ("PROV_aaaaaa", nil)] as [(String?, String?)])
    func otherBoardAtThePort(left: String?, atHand: String?) async throws {
        let scene = Scene(pending: [Self.told("node-a", label: left)])
        let absent = ScriptedBoard(scene.clock, faults: ["identify": [.neverAnswered]])
        let failure = await scene.run(
            absent, ScriptedCloud(), OnboardingRequest(network: .given(Scene.home), label: atHand)
        ).failure
        guard case .board(let cause)? = failure?.cause else {
            return #expect(Bool(false), "\(String(describing: failure))")
        }
        #expect(cause.code == .neverAnswered)
        // The mapping is finished anyway, and reported.
        #expect(scene.pending.all().isEmpty)
        #expect(
            scene.told.contains { if case .progress(.resumed(NodeID("node-a"))) = $0.state { true } else { false } })
    }

    @Test("the label is kept with the mapping")
    func keepsLabel() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.fails(.deviceLost)])
        _ = await scene.run(
            board, ScriptedCloud(statuses: [.requested]),
            OnboardingRequest(network: .given(Scene.home), label: "PROV_aaaaaa"))
        #expect(scene.pending.all().map(\.label) == ["PROV_aaaaaa"])
    }

    @Test("a board that still answers gets the same secret again, since it may be joining with it")
    func sameSecret() async throws {
        let left = Self.told("node-1")
        let scene = Scene(pending: [left])
        let board = ScriptedBoard(scene.clock)
        let cloud = ScriptedCloud(statuses: [.requested, .requested, .confirmed])
        let node = try await scene.run(board, cloud).get()
        #expect(node.mapping == .confirmed)
        #expect(left.proof == .secret(try #require(await board.secret), request: RequestID("told-node-1")))
        #expect(await cloud.calls == ["user", "status", "status", "status"])
        #expect(scene.pending.all().isEmpty)
        #expect(scene.pending.hold(node: NodeID("node-1")) != nil)
    }

    @Test("the mapping is kept unchanged if the board accepts no Wi-Fi settings any more")
    func sameSecretKept() async throws {
        let left = Self.told("node-1")
        let scene = Scene(pending: [left])
        let failure = await scene.run(
            ScriptedBoard(scene.clock, faults: ["join": [.rejected]]), ScriptedCloud(statuses: [.requested])
        ).failure
        #expect(failure?.isPendingKept == true)
        #expect(scene.pending.all() == [left])
    }

    @Test("another board gets its own secret, and the earlier mapping stays")
    func anotherSecret() async throws {
        let left = Self.told("node-9")
        let scene = Scene(pending: [left])
        let board = ScriptedBoard(scene.clock)
        let node = try await scene.run(board, ScriptedCloud(statuses: [.requested, .confirmed])).get()
        #expect(node.nodeID == NodeID("node-1"))
        #expect(await board.calls.filter { $0 == "associate" }.count == 2)
        #expect(left.proof != .secret(try #require(await board.secret), request: RequestID("told-node-9")))
        #expect(scene.pending.all() == [left])
        #expect(scene.pending.hold(node: NodeID("node-9")) != nil)
    }

    @Test("of several mappings that were left at one port the last one counts", arguments: [true, false])
    func lastOne(reports: Bool) async throws {
        let scene = Scene(pending: [Self.told("node-1"), Self.told("node-2")])
        let absent = ScriptedBoard(
            scene.clock, faults: ["identify": [BoardError.Code](repeating: .unavailable, count: 1000)])
        // The cloud is asked about the last one first.
        let cloud = ScriptedCloud(statuses: [.requested, .confirmed, .requested, reports ? .confirmed : .requested])
        let result = await scene.run(absent, cloud)
        #expect(result.value?.nodeID == (reports ? NodeID("node-2") : nil))
        #expect(scene.pending.all().map(\.node) == (reports ? [] : [NodeID("node-2")]))
    }

    @Test("a cloud that cannot be reached does not end the search for a board")
    func cloudAwayWhileSearching() async throws {
        let scene = Scene(pending: [Self.told("node-9")])
        let absent = ScriptedBoard(
            scene.clock, faults: ["identify": [BoardError.Code](repeating: .unavailable, count: 1000)])
        let failure = await scene.run(
            absent, ScriptedCloud(faults: ["status": [AccountError.Code](repeating: .network, count: 1000)]),
            OnboardingRequest(network: .given(Scene.home), deadline: .seconds(90), waitsForBoard: true)
        ).failure
        guard case .deadline? = failure?.cause else { return #expect(Bool(false), "\(String(describing: failure))") }
        #expect(failure?.step == .identify)
        #expect(failure?.isPendingKept == true)
    }

    @Test("a run whose time is over while the cloud is asked reports what is kept")
    func deadlineWhileAsking() async throws {
        let left = Self.told("node-9")
        let scene = Scene(pending: [left])
        let failure = await scene.run(
            ScriptedBoard(scene.clock), ScriptedCloud(clock: scene.clock, delay: .seconds(4)),
            OnboardingRequest(network: .given(Scene.home), deadline: .seconds(2))
        ).failure
        guard case .deadline? = failure?.cause else { return #expect(Bool(false), "\(String(describing: failure))") }
        #expect(failure?.step == .resume)
        #expect(failure?.isPendingKept == true)
        #expect(scene.pending.all() == [left])
    }
}
