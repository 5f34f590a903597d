import RainAccount
import RainWaiting
import ESPProvisioning
import Logging
import RainMaker
import RainCore

/// The steps that talk to the board.
extension OnboardingRun {
    /// Finds the board, or finds out that an earlier run has finished with it: then there is no ``OnboardingRun/identity``.
    func identify() async throws(OnboardingError) {
        var schedule = PollSchedule.unreachable
        let began = time.elapsed()
        while true {
            let absence: ProvisioningError
            do throws(ProvisioningError) {
                identity = try await board.identify()
                break
            } catch {
                guard error.isAbsence else { throw failure(error) }
                absence = error
            }
            if try await isFinishedWithoutBoard() { return }
            let isAwaited = awaited != nil && time.elapsed() - began < Patience.lostBoard
            guard request.waitsForBoard || isAwaited else { throw failure(absence) }
            emit(.progress(.waitingForBoard))
            try await pause(schedule.next())
        }
        guard let identity else { return }
        // Where the board says its name at once, it says as well whether it is the one that was left.
        if let node = identity.nodeID, node != awaited?.mapping.node { awaited = nil }
        emit(.progress(.identified(identity)))
        guard cloud == nil || cloud?.claiming != nil || !identity.needsClaim else {
            throw OnboardingError(
                .claimNeeded, step: step,
                message:
                    "The board has no cloud certificate yet, and this deployment has no claim service that "
                    + "could give it one.")
        }
    }

    func chooseNetwork() async throws(OnboardingError) {
        guard case .chosen(let choose) = request.network else { return }
        let heard = try await ask { (board) throws(ProvisioningError) in try await board.scan() }
        emit(.progress(.heard(heard)))
        network = await choose(heard)
        if network == nil { throw cancelled }
    }

    func associate() async throws(OnboardingError) {
        guard let identity, let user else { return }
        switch identity.association {
        case .userMapping:
            guard try await !associateAgain(user) else { break }
            let secret = MappingSecret(randomBytes: randomBytes(16))
            let node = try await associate(user, secret)
            pending = PendingMapping(
                node: node, user: user, proof: .secret(secret, request: nil), stage: .associated,
                peer: board.peer, label: request.label, notes: request.notes, since: clock.now)
        case .challengeResponse:
            guard let challenge else { return }
            let reply = try await ask { (board) throws(ProvisioningError) in
                try await board.associate(.challenge(challenge.challenge))
            }
            try check(reply.nodeID)
            pending = PendingMapping(
                node: reply.nodeID, user: user, proof: .signature(reply.signature, request: challenge.request),
                stage: .associated, peer: board.peer, label: request.label, notes: request.notes, since: clock.now)
        }
        // Where another run has this node in hand, the board has just been told ours: that run's mapping is none any more.
        try keep { _ in }
    }

    /// Tells a board that an earlier run may have left the same secret again: it may be on its way to its network with that one, and the
    /// cloud may have been told.
    ///
    /// - Returns: false where there is none, or where the board is another, which is to have a secret of its own.
    private func associateAgain(_ user: UserID) async throws(OnboardingError) -> Bool {
        guard let left = awaited, case .secret(let secret, let request) = left.mapping.proof,
            try await associate(user, secret) == left.mapping.node
        else {
            awaited = nil
            return false
        }
        (awaited, pending, hold) = (nil, left.mapping, left.hold)
        // What the cloud has been told went with the notes of that run.
        if request == nil { pending?.notes = self.request.notes }
        return true
    }

    private func associate(_ user: UserID, _ secret: MappingSecret) async throws(OnboardingError) -> NodeID {
        let reply = try await ask { (board) throws(ProvisioningError) in
            try await board.associate(.userMapping(user, secret))
        }
        try check(reply.nodeID)
        return reply.nodeID
    }

    /// A board that was claimed has to answer by its new name; under its old one the cloud would wait for it in vain.
    private func check(_ node: NodeID) throws(OnboardingError) {
        guard let claimedNode, claimedNode != node else { return }
        throw failure(
            ProvisioningError(
                .claimFailed,
                message: "The board was claimed as \(claimedNode) and still calls itself \(node): restart it, then run "
                    + "this again."))
    }

    func join() async throws(OnboardingError) {
        if case .given(let given) = request.network { network = given }
        try await handOver()
    }

    private func handOver() async throws(OnboardingError) {
        guard let network else { return }
        // However the run ends while the board applies them, it may be on its way to its network: the next run needs what the cloud
        // has not heard yet.
        let before = pending?.stage
        try keep { $0.stage = .applied }
        do throws(ProvisioningError) {
            try await board.join(network)
        } catch {
            switch error.code {
            case .cancelled: break
            case .mayBeJoining:
                // Only a board that is on its network makes the cloud confirm a secret; a signature says nothing of Wi-Fi.
                guard case .secret? = pending?.proof else { break }
                lostBoard = (error, time.elapsed())
                return
            default: if let before { try keep { $0.stage = before } }
            }
            throw failure(error)
        }
    }

    /// Follows the board onto its network while the cloud hears the user's half of the mapping.
    func connect() async throws(OnboardingError) {
        async let half: Void = announceMapping()
        try await followWiFi()
        await half
    }

    private func followWiFi() async throws(OnboardingError) {
        while lostBoard == nil {
            let board = board
            let verdict = await race(against: { try await self.hearsOfBoard() }) {
                () async throws(ProvisioningError) in
                try await board.watch { progress in await self.emit(.progress(.wifi(progress))) }
            }
            switch verdict {
            case .success(let network)?:
                joined = network
                emit(.progress(.connected(network)))
                return try keep { $0.stage = .online }
            case .failure(let error)?:
                guard try await survives(error) else { return }
            // A console whose log is off says nothing of the board's Wi-Fi, and the cloud has heard from the board.
            case nil: return
            }
        }
    }

    /// Decides what a failed watch means: throws when the run is over, true when another attempt has begun, false when the
    /// cloud will know.
    private func survives(_ error: ProvisioningError) async throws(OnboardingError) -> Bool {
        switch error.code {
        case .wifiAuthenticationFailed, .wifiNetworkNotFound, .wifiFailed:
            try keep { $0.stage = .associated }
            let other = await request.otherNetwork?(error)
            do {
                // Also without another network: the board is then ready for the next run.
                try await board.reset()
            } catch {
                logger.debug("board did not reset after a Wi-Fi failure", metadata: ["cause": "\(error.code)"])
                if other != nil { throw failure(error) }
            }
            if Task.isCancelled { throw cancelled }
            guard let other else { throw failure(error) }
            emit(.failed(failure(error)))
            network = other
            attempt += 1
            try await handOver()
            return true
        case .deviceLost where pending != nil || isConfirmed:
            lostBoard = (error, time.elapsed())
            return false
        default:
            throw failure(error)
        }
    }

    func pause(_ duration: Duration) async throws(OnboardingError) {
        do {
            try await time.sleep(duration)
        } catch {
            throw cancelled
        }
    }
}
