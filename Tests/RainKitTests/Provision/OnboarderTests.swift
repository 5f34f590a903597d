// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainKit
import RainKitTesting
import RainMaker
import Synchronization
import Testing

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

    @Test(
        "a board whose log has another name than its label gets nothing",
        arguments: [("PROV_aabbcc", true), ("prov_AABBCC", true), ("PROV_other1", false)])
    func otherBoard(label: String, isThis: Bool) async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock)
        await board.print(serviceName: "PROV_aabbcc")
        var request = OnboardingRequest(network: .given(Scene.home))
        request.label = label
        let outcome = await scene.run(board, ScriptedCloud(statuses: [.confirmed]), request)
        #expect((outcome.failure == nil) == isThis)
        if let failure = outcome.failure {
            #expect(failure.reason == "unexpected_node")
            #expect(failure.message.hasPrefix("This board is PROV_aabbcc according to its log, not PROV_other1."))
            #expect(await board.calls == ["identify", "close"])
        }
    }

    @Test("the user's half of the mapping is sent while the board is still joining")
    func announcesEarly() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.neverEnds])
        let cloud = ScriptedCloud(statuses: [.requested])
        let failure = await scene.run(
            board, cloud, OnboardingRequest(network: .given(Scene.home), deadline: .seconds(3))
        ).failure
        guard case .deadline? = failure?.cause else { return #expect(Bool(false), "\(String(describing: failure))") }
        #expect(failure?.step == .connect)
        #expect(await cloud.calls.prefix(2) == ["user", "add"])
        #expect(scene.pending.all().map(\.stage) == [.applied])
        #expect(failure?.isPendingKept == true)
    }

    @Test("a challenge is signed by the board and verified before any Wi-Fi settings are sent")
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

    @Test("if the board's network has no internet, the challenge is fetched first and verified later")
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

    @Test("a cloud without challenges still gets the boards that need none, over their own access point")
    func noChallenges() async throws {
        let scene = Scene()
        let cloud = ScriptedCloud(faults: ["challenge": [.unsupported]])
        let node = try await scene.run(
            ScriptedBoard(scene.clock), cloud,
            OnboardingRequest(network: .given(Scene.home), fetchesChallengeFirst: true)
        ).get()
        #expect(node.mapping == .confirmed)
        #expect(await cloud.calls.prefix(2) == ["user", "challenge"])
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
                == ["identify", "secure", "associate", "join", "watch", "scan", "reset", "join", "watch", "close"])
        #expect(await board.network?.ssid == SSID("Other"))
        // Events show the two steps begin again, with the number of the attempt.
        let told = scene.told.filter { [.join, .connect].contains($0.step) }.compactMap { event -> String? in
            switch event.state {
            case .started: "\(event.step.rawValue) \(event.attempt) started"
            case .finished: "\(event.step.rawValue) \(event.attempt) finished"
            case .failed: "\(event.step.rawValue) \(event.attempt) failed"
            case .progress, .deferred: nil
            }
        }
        #expect(
            told == [
                "join 1 started", "join 1 finished", "connect 1 started", "connect 1 failed", "join 2 started",
                "join 2 finished", "connect 2 started", "connect 2 finished",
            ])
    }

    @Test("a board that is lost after it took its Wi-Fi settings is a success once the cloud confirms it")
    func lostButConfirmed() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.fails(.deviceLost)])
        let node = try await scene.run(board, ScriptedCloud(statuses: [.requested, .confirmed])).get()
        #expect(node.mapping == .confirmed)
        #expect(node.network == nil)
    }

    @Test("a board that is lost and never reports again is lost, and its mapping is kept")
    func lostForGood() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.fails(.deviceLost)])
        let failure = await scene.run(board, ScriptedCloud(statuses: [.requested])).failure
        guard case .board(let cause)? = failure?.cause else { return #expect(Bool(false)) }
        #expect(cause.code == .deviceLost)
        #expect(scene.pending.all().map(\.stage) == [.applied])
    }

    @Test("a board that fell silent while it got its Wi-Fi settings is a success once the cloud confirms it")
    func silentInJoin() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, faults: ["join": [.mayBeJoining]])
        let node = try await scene.run(board, ScriptedCloud(statuses: [.requested, .confirmed])).get()
        #expect(node.mapping == .confirmed)
        #expect(node.network == nil)
        #expect(await board.calls == ["identify", "secure", "associate", "join", "close"])
        #expect(scene.pending.all().isEmpty)
    }

    @Test("if the cloud never hears from it the board is lost, and its mapping is kept")
    func silentForGood() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, faults: ["join": [.mayBeJoining]])
        let failure = await scene.run(board, ScriptedCloud(statuses: [.requested])).failure
        guard case .board(let cause)? = failure?.cause else { return #expect(Bool(false)) }
        #expect(cause.code == .mayBeJoining)
        #expect(failure?.isPendingKept == true)
        #expect(scene.pending.all().map(\.stage) == [.applied])
    }

    @Test("a run that ends while the board takes its Wi-Fi settings leaves the data that the next one needs")
    func cancelledInJoin() async throws {
        let scene = Scene()
        let failure = await scene.run(
            ScriptedBoard(scene.clock, faults: ["join": [.cancelled]]), ScriptedCloud()
        ).failure
        guard case .cancelled? = failure?.cause else { return #expect(Bool(false), "\(String(describing: failure))") }
        #expect(failure?.isPendingKept == true)
        #expect(scene.pending.all().map(\.stage) == [.applied])
    }

    @Test(
        "Wi-Fi settings that a board certainly did not take leave no mapping",
        arguments: [
            BoardError.Code.rejected, .invalidArgument, .unsupported, .deviceLost,
        ])
    func refusedInJoin(code: BoardError.Code) async throws {
        let scene = Scene()
        let failure = await scene.run(ScriptedBoard(scene.clock, faults: ["join": [code]]), ScriptedCloud()).failure
        guard case .board(let cause)? = failure?.cause else { return #expect(Bool(false)) }
        #expect(cause.code == code)
        #expect(failure?.isPendingKept == false)
        #expect(scene.pending.all().isEmpty)
    }

    @Test("a board that signed, and then may or may not be joining, is not reported as done")
    func silentAfterSigning() async throws {
        let scene = Scene()
        let board = ScriptedBoard(
            scene.clock, association: .challengeResponse, faults: ["join": [.mayBeJoining]])
        let failure = await scene.run(board, ScriptedCloud()).failure
        guard case .board(let cause)? = failure?.cause else { return #expect(Bool(false)) }
        #expect(cause.code == .mayBeJoining)
        #expect(cause.message.contains("in your account, but it is not known whether it is on the network"))
    }

    @Test("a board whose signature the cloud gets only then is not reported as done either")
    func silentBeforeVerifying() async throws {
        let scene = Scene()
        let board = ScriptedBoard(
            scene.clock, association: .challengeResponse, faults: ["join": [.mayBeJoining]])
        let failure = await scene.run(board, ScriptedCloud(faults: ["verify": [.network]])).failure
        guard case .board(let cause)? = failure?.cause else { return #expect(Bool(false)) }
        #expect(cause.code == .mayBeJoining)
        #expect(failure?.isPendingKept == false && scene.pending.all().isEmpty)
        #expect(!scene.finishedSteps.contains(.verify) && !scene.finishedSteps.contains(.join))
    }

    @Test("cancelling the question for another network cancels the run")
    func cancelledAtQuestion() async throws {
        let scene = Scene()
        let failure = await scene.run(
            ScriptedBoard(scene.clock, watches: [.fails(.wifiAuthenticationFailed)]), ScriptedCloud(),
            OnboardingRequest(
                network: .given(Scene.home),
                otherNetwork: { _ in
                    withUnsafeCurrentTask { $0?.cancel() }
                    return nil
                })
        ).failure
        guard case .cancelled? = failure?.cause else { return #expect(Bool(false), "\(String(describing: failure))") }
        #expect(scene.pending.all().isEmpty)
    }

    @Test("the time in which the user is asked does not count toward the deadline; the time after the answer does")
    func timeAsked() async throws {
        for isAskedLong in [true, false] {
            let scene = Scene()
            let clock = scene.clock
            let asked = Mutex(Duration.zero)
            var request = OnboardingRequest(
                network: .given(Scene.home), deadline: .seconds(30),
                otherNetwork: { _ in
                    for _ in 0..<20 {
                        clock.advance(by: .seconds(10))
                        if isAskedLong { asked.withLock { $0 += .seconds(10) } }
                        // The deadline is the only sleeper, until it is over.
                        while clock.sleeperCount == 0, !Task.isCancelled { await Task.yield() }
                    }
                    return try! WiFiNetwork(ssid: SSID("Cafe"), passphrase: Secret("correct horse"))
                })
            request.timeAsked = { asked.withLock { $0 } }
            let outcome = await scene.run(
                ScriptedBoard(
                    clock, watches: [.fails(.wifiAuthenticationFailed), .joins(after: .milliseconds(300))]),
                ScriptedCloud(), request)
            if isAskedLong {
                #expect((try? outcome.get()) != nil, "\(outcome)")
            } else {
                guard case .deadline? = outcome.failure?.cause else { return #expect(Bool(false), "\(outcome)") }
            }
        }
    }

    @Test("the last event has the reason why a run ended, also when its time was over")
    func lastEvent() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.neverEnds])
        _ = await scene.run(
            board, ScriptedCloud(), OnboardingRequest(network: .given(Scene.home), deadline: .seconds(3)))
        let failures = scene.told.compactMap { if case .failed(let error) = $0.state { error } else { nil } }
        guard failures.count == 1, case .deadline? = failures.first?.cause, case .failed? = scene.told.last?.state
        else {
            return #expect(Bool(false), "\(failures)")
        }
    }

    @Test(
        "the board is not blamed for a step that had too little time",
        arguments: [
            (Duration.milliseconds(300), "The run did not finish within 0.3 s"),
            (.seconds(3), "The run did not finish within 3 s"),
            (
                .seconds(6),
                "The board is still trying to join: it may be too far away, or the network may give it no address"
            ),
        ])
    func tooLittleTime(deadline: Duration, words: String) async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.neverEnds])
        let failure = await scene.run(
            board, ScriptedCloud(statuses: [.requested]),
            OnboardingRequest(network: .given(Scene.home), deadline: deadline)
        ).failure
        #expect(failure?.message.hasPrefix(words) == true, "\(failure?.message ?? "")")
        #expect(failure?.remedies.isEmpty == (deadline == .seconds(6)))
    }

    @Test("when the time is over, the message has what is known of a board that has not answered", arguments: [6, 8])
    func unfinished(seconds: Int) async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.isSilent("the board at X has not answered since noon")])
        let failure = await scene.run(
            board, ScriptedCloud(statuses: [.requested]),
            OnboardingRequest(network: .given(Scene.home), deadline: .seconds(seconds))
        ).failure
        #expect(
            failure?.message
                == "The board at X has not answered since noon. The run did not finish within \(seconds) s, and ended while waiting for the board to join the network."
        )
        #expect(failure?.code == .deadline)
    }

    @Test("if the cloud is down before the start, the board is not contacted")
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

    @Test("a mapping that the cloud discards fails and is not kept")
    func discarded() async throws {
        let scene = Scene()
        let failure = await scene.run(ScriptedBoard(scene.clock), ScriptedCloud(statuses: [.discarded])).failure
        guard case .mappingRefused(let refused)? = failure?.cause else {
            Issue.record("not refused: \(String(describing: failure))")
            return
        }
        #expect(refused == .discarded)
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

    @Test("cancelling closes the board, and the error reports it")
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

    @Test("a board that is done by the time that the run is given up is reported as done")
    func doneMeanwhile() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, watches: [.joinsWhenGivenUp])
        let request = OnboardingRequest(network: .given(Scene.home), mapsToUser: false, deadline: .seconds(3))
        let node = try await scene.run(board, nil, request).get()
        #expect(node.network?.address == "192.168.1.20")
        #expect(await board.calls.last == "close")
    }
}
