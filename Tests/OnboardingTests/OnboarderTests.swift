import Account
import ESPProvisioning
import Onboarding
import RainMaker
import Synchronization
import Testing
import Vocabulary

@Suite("Onboarder")
struct OnboarderTests {
    @Test("a user mapping goes through every step in order, with one secret at both ends")
    func userMapping() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.joins(after: .milliseconds(700))])
        let cloud = ScriptedCloud(statuses: [.requested, .requested, .confirmed])
        let node = try await scene.run(board, cloud).get()
        #expect(node.nodeID == NodeID("node-1"))
        #expect(node.mapping == .confirmed)
        #expect(node.network?.address == "192.168.1.20")
        #expect(
            scene.finishedSteps == [.account, .resume, .identify, .secure, .associate, .join, .connect, .confirm])
        #expect(await board.calls == ["identify", "secure", "associate", "join", "watch", "close"])
        #expect(await cloud.secret == board.secret)
        #expect(scene.pending.all().isEmpty)
    }

    @Test("the user's half of the mapping goes out while the board is still joining")
    func announcesEarly() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.neverEnds])
        let cloud = ScriptedCloud()
        let failure = await scene.run(
            board, cloud, OnboardingRequest(network: .given(Scene.home), deadline: .seconds(3))
        ).failure
        guard case .deadline? = failure?.cause else { return #expect(Bool(false), "\(String(describing: failure))") }
        #expect(failure?.step == .connect)
        #expect(await cloud.calls == ["user", "add"])
        #expect(scene.pending.all().map(\.stage) == [.applied])
        #expect(failure?.isPendingKept == true)
    }

    @Test("a challenge is signed by the board and verified before any Wi-Fi is handed over")
    func challengeResponse() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, association: .challengeResponse)
        let cloud = ScriptedCloud()
        let node = try await scene.run(board, cloud).get()
        #expect(node.mapping == .confirmed)
        #expect(await cloud.calls == ["user", "challenge", "verify"])
        #expect(await cloud.signature == [3, 2, 1])
        #expect(
            scene.finishedSteps
                == [.account, .resume, .identify, .challenge, .secure, .associate, .verify, .join, .connect, .confirm])
    }

    @Test("where the board's network has no internet, the challenge is fetched first and verified later")
    func deferredVerification() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, association: .challengeResponse)
        let cloud = ScriptedCloud(faults: ["verify": [.network, .network]])
        let node = try await scene.run(
            board, cloud, OnboardingRequest(network: .given(Scene.home), fetchesChallengeFirst: true)
        ).get()
        #expect(node.mapping == .confirmed)
        #expect(await cloud.calls == ["user", "challenge", "verify", "verify", "verify"])
        #expect(await board.calls.first == "identify")
        #expect(scene.pending.all().isEmpty)
    }

    @Test("a wrong Wi-Fi password ends the run with the board reset and nothing pending")
    func wrongPassword() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.fails(.wifiAuthenticationFailed)])
        let failure = await scene.run(board, ScriptedCloud()).failure
        guard case .board(let cause)? = failure?.cause else { return #expect(Bool(false)) }
        #expect(cause.code == .wifiAuthenticationFailed)
        #expect(failure?.isPendingKept == false)
        #expect(await board.calls.suffix(2) == ["reset", "close"])
        #expect(scene.pending.all().isEmpty)
    }

    @Test("other credentials are tried in the same session")
    func secondAttempt() async throws {
        let scene = Scene()
        let board = ScriptedBoard(
            scene.clock, watches: [.fails(.wifiAuthenticationFailed), .joins(after: .milliseconds(300))])
        let other = try WiFiNetwork(ssid: SSID("Other"), passphrase: Secret("another one"))
        let node = try await scene.run(
            board, ScriptedCloud(), OnboardingRequest(network: .given(Scene.home), otherNetwork: { _ in other })
        ).get()
        #expect(node.mapping == .confirmed)
        #expect(
            await board.calls
                == ["identify", "secure", "associate", "join", "watch", "reset", "join", "watch", "close"])
        #expect(await board.network?.ssid == SSID("Other"))
    }

    @Test("a board that is lost after it took its Wi-Fi is a success once the cloud confirms it")
    func lostButConfirmed() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.fails(.deviceLost)])
        let node = try await scene.run(board, ScriptedCloud(statuses: [.requested, .confirmed])).get()
        #expect(node.mapping == .confirmed)
        #expect(node.network == nil)
    }

    @Test("a board that is lost and never heard of again is lost, and its mapping is kept")
    func lostForGood() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.fails(.deviceLost)])
        let failure = await scene.run(board, ScriptedCloud(statuses: [.requested])).failure
        guard case .board(let cause)? = failure?.cause else { return #expect(Bool(false)) }
        #expect(cause.code == .deviceLost)
        #expect(scene.pending.all().map(\.stage) == [.applied])
    }

    @Test("a cloud that is down before the start leaves the board alone")
    func cloudDownFirst() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock)
        let failure = await scene.run(board, ScriptedCloud(faults: ["user": [.network]])).failure
        guard case .account(let cause)? = failure?.cause else { return #expect(Bool(false)) }
        #expect(cause.code == .network)
        #expect(await board.calls == ["close"])
    }

    @Test("a cloud that goes down later is waited for, and then the mapping is kept")
    func cloudDownLater() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock)
        let down = [AccountError.Code](repeating: .network, count: 1000)
        let failure = await scene.run(board, ScriptedCloud(faults: ["add": down])).failure
        guard case .account(let cause)? = failure?.cause else { return #expect(Bool(false)) }
        #expect(cause.code == .network)
        #expect(failure?.isPendingKept == true)
        #expect(scene.pending.all().map(\.stage) == [.online])
    }

    @Test("the next run finishes what was kept, although the board is gone")
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

    @Test("what another run is at work on is left to it, and is nobody's board")
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

    @Test("while a run is at work on a board, its mapping is held; afterwards it is not")
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
        #expect(scene.pending.hold(node: NodeID("node-1")) != nil)
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
        // From there on it is about the board at hand.
        let others = scene.told.drop { $0.step == .account || $0.step == .resume }.filter {
            $0.nodeID == NodeID("node-9")
        }
        #expect(others.isEmpty, "\(others)")
    }

    @Test("a run takes its board as soon as the other run lets go, and leaves what a later run keeps of the board")
    func handedOver() async throws {
        let scene = Scene()
        let hold = Mutex(scene.pending.hold(node: NodeID("node-1")))
        #expect(hold.withLock { $0 } != nil)
        let isTaken = Mutex(false)
        let board = ScriptedBoard(
            scene.clock, watches: [.fails(.wifiAuthenticationFailed), .fails(.wifiAuthenticationFailed)])
        let later = Self.kept("node-1")
        let failure = await scene.run(
            // Nothing else of this run is kept meanwhile.
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

    @Test("a cloud that cannot be asked about another board fails no run")
    func deferred() async throws {
        let left = Self.kept("node-9", peer: "elsewhere", request: RequestID("purged"))
        let scene = Scene(pending: [left])
        let node = try await scene.run(
            ScriptedBoard(scene.clock), ScriptedCloud(faults: ["status": [.serverFault]])
        ).get()
        #expect(node.mapping == .confirmed)
        #expect(scene.pending.all() == [left])
    }

    @Test("what a run left before its board had Wi-Fi is removed, and nobody is asked about it")
    func useless() async throws {
        let scene = Scene(pending: [Self.kept("node-9", .associated)])
        let cloud = ScriptedCloud()
        _ = try await scene.run(ScriptedBoard(scene.clock), cloud).get()
        #expect(await cloud.calls == ["user", "add", "status"])
        #expect(scene.pending.all().isEmpty)
    }

    @Test("what another user left is not touched")
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

    @Test("a mapping that the cloud discards fails and is not kept", arguments: [MappingStatus.discarded, .timedOut])
    func discarded(status: MappingStatus) async throws {
        let scene = Scene()
        let failure = await scene.run(ScriptedBoard(scene.clock), ScriptedCloud(statuses: [status])).failure
        guard case .mappingRefused(let refused)? = failure?.cause else {
            Issue.record("not refused: \(String(describing: failure))")
            return
        }
        #expect(refused == status)
        #expect(failure?.step == .confirm)
        #expect(failure?.isPendingKept == false)
        #expect(scene.pending.all().isEmpty)
    }

    @Test("without mapping the cloud is never asked")
    func withoutMapping() async throws {
        let scene = Scene()
        let cloud = ScriptedCloud()
        let node = try await scene.run(
            ScriptedBoard(scene.clock), cloud, OnboardingRequest(network: .given(Scene.home), mapsToUser: false)
        ).get()
        #expect(node.mapping == .skipped)
        #expect(await cloud.calls.isEmpty)
    }

    @Test("cancelling closes the board and says so")
    func cancellation() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.hangs])
        let work = Task {
            await scene.run(
                board, ScriptedCloud(), OnboardingRequest(network: .given(Scene.home), deadline: .seconds(1_000_000)))
        }
        while await !board.calls.contains("watch") { await Task.yield() }
        work.cancel()
        let failure = await work.value.failure
        guard case .cancelled? = failure?.cause else { return #expect(Bool(false), "\(String(describing: failure))") }
        #expect(await board.calls.last == "close")
    }

    @Test("a board that is done by the time that the run is given up is told as done")
    func doneMeanwhile() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.joinsWhenGivenUp])
        let request = OnboardingRequest(network: .given(Scene.home), mapsToUser: false, deadline: .seconds(3))
        let node = try await scene.run(board, nil, request).get()
        #expect(node.network?.address == "192.168.1.20")
        #expect(await board.calls.last == "close")
    }
}
