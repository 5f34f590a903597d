import RainAccount
import RainMaker
import ESPProvisioning
import Logging
import RainCore

/// The step in which board and claim service talk to each other through us.
extension OnboardingRun {
    /// Over a radio that loses one session in twenty, more than that is not bad luck.
    private static var maximumClaims: Int { 5 }

    func claim() async throws(OnboardingError) {
        guard let service = cloud?.claiming else { return }
        if try await hasBeenClaimed() { return }
        var tries = 0
        var claimed: NodeID?
        while claimed == nil {
            tries += 1
            do throws(OnboardingError) {
                claimed = try await claim(with: service)
            } catch {
                // Firmware begins anew from wherever a claim stands.
                guard case .board(let cause) = error.cause, cause.code == .claimInterrupted, tries < Self.maximumClaims
                else { throw await afterEnding(error) }
            }
        }
        guard let node = claimed else { return }
        claimedNode = node
        remember { store throws(RecordStoreError) in try store.save(node) }
        emit(.progress(.claimed(node)))
        // What it says of itself may be different now. It may also still ask to be claimed, until it restarts.
        let identity = try await ask { (board) throws(ProvisioningError) in try await board.identify() }
        self.identity = identity
    }

    /// Whether an earlier run claimed the board, and something else went wrong after it: a Wi-Fi password, say. The board does not say
    /// so before it restarts, but it says its name when it is tied to an account, which may be done again.
    private func hasBeenClaimed() async throws(OnboardingError) -> Bool {
        guard let user, request.mapsToUser, let method = identity?.association else { return false }
        guard let nodes = try? cloud?.claimed.all(), !nodes.isEmpty else { return false }
        let bytes = randomBytes(16)
        do throws(ProvisioningError) {
            let question: AssociationRequest =
                method == .userMapping ? .userMapping(user, MappingSecret(randomBytes: bytes)) : .challenge(bytes)
            return nodes.contains(try await board.associate(question).nodeID)
        } catch {
            guard [.cancelled, .deviceLost].contains(error.code) else { return false }
            throw failure(error)
        }
    }

    /// The board is on its network, and is not asked again before it has restarted.
    func forgetClaim() {
        guard let nodeID else { return }
        remember { store throws(RecordStoreError) in try store.remove(nodeID) }
    }

    /// What cannot be remembered costs a restart of the board, at worst.
    private func remember(_ change: (any ClaimedBoardStore) throws(RecordStoreError) -> Void) {
        guard let store = cloud?.claimed else { return }
        do { try change(store) } catch { logger.debug("claim not remembered", metadata: ["cause": "\(error)"]) }
    }

    private func claim(with service: any NodeClaiming) async throws(OnboardingError) -> NodeID {
        let introduction = try await ask { (board) throws(ProvisioningError) in try await board.startClaim() }
        let invitation = try await tell { () throws(AccountError) in try await service.initiateClaim(introduction) }
        // The board has no certificate of that name, or of none that still counts.
        remember { store throws(RecordStoreError) in try store.remove(invitation.node) }
        emit(.progress(.claimInitiated(invitation.node)))
        let request = try await ask { (board) throws(ProvisioningError) in
            try await board.requestCertificate(invitation.reply)
        }
        emit(.progress(.certificateRequested))
        let certificate = try await tell { () throws(AccountError) in try await service.verifyClaim(request) }
        try await ask { (board) throws(ProvisioningError) in try await board.storeCertificate(certificate) }
        return invitation.node
    }

    /// Tells the board that it gets no certificate where another try would end the same way. An abort ends claiming for it until it
    /// restarts (esp-rainmaker, `esp_rmaker_claim.c`); so after a broken link, an outage or an ended session it hears nothing, and
    /// the next run begins where this one did.
    private func afterEnding(_ error: OnboardingError) async -> OnboardingError {
        switch error.cause {
        case .board(let cause) where cause.code == .claimFailed:
            // The message knows already whether to restart it.
            await board.abortClaim()
        case .account(var cause) where cause.isRefusal:
            guard await board.abortClaim() else { break }
            cause.message += Self.restartSentence(after: cause.message)
            return failure(cause)
        default: break
        }
        return error
    }

    private static func restartSentence(after message: String) -> String {
        (message.hasSuffix(".") ? "" : ".") + " The board knows that its claim is over: restart it before the next try."
    }

    /// Asks the service, for a while also one that cannot be reached: it answers the same question the same way.
    private func tell<Reply: Sendable>(
        _ question: @Sendable () async throws(AccountError) -> Reply
    ) async throws(OnboardingError) -> Reply {
        var knocking = PollSchedule.unreachable
        var knocks = 0
        let began = time.elapsed()
        while true {
            do throws(AccountError) {
                return try await question()
            } catch {
                guard error.isTransient, error.code != .rateLimited, time.elapsed() - began < Patience.claimOutage
                else { throw failure(error) }
                if knocks == 0 { emit(.progress(.waitingForCloud)) }
                knocks += 1
            }
            try await pause(max(knocking.next(), .milliseconds(50)))
        }
    }
}
