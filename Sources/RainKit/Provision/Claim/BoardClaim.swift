// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore
import RainMaker

/// The step in which board and claim service talk to each other through us.
struct BoardClaim: Sendable {
    let context: RunContext
    let account: SignedIn
    let service: any NodeClaiming
    let memory: ClaimMemory

    /// Over a radio that loses one session in twenty, more than that is not bad luck.
    private static let maximumTries = 5

    /// The board as it is afterwards.
    func claim(_ board: IdentifiedBoard) async throws(StepFailure) -> IdentifiedBoard {
        if try await hasBeenClaimed(board.identity) { return board }
        let node = try await claimNode()
        await memory.add(node)
        context.status.update { $0.boardName = node }
        context.tell(.claimed(node))
        var board = board
        board.claimedNode = node
        // What it says of itself may be different now. It may also still ask to be claimed, until it restarts.
        board.identity = try await context.ask { (board) throws(ProvisioningError) in try await board.identify() }
        return board
    }

    /// Whether an earlier run claimed the board, and something else went wrong after it: a Wi-Fi password, say. The board does not say
    /// so before it restarts, but it says its name when it is tied to an account, which may be done again.
    private func hasBeenClaimed(_ identity: BoardIdentity) async throws(StepFailure) -> Bool {
        guard context.request.mapsToUser else { return false }
        let nodes = await memory.nodes()
        guard !nodes.isEmpty else { return false }
        let bytes = context.randomBytes(16)
        do throws(ProvisioningError) {
            let question: AssociationRequest =
                identity.association == .userMapping
                ? .userMapping(account.user, MappingSecret(randomBytes: bytes)) : .challenge(bytes)
            return nodes.contains(try await context.board.associate(question).nodeID)
        } catch {
            guard [.cancelled, .deviceLost].contains(error.code) else { return false }
            throw StepFailure(error)
        }
    }

    private func claimNode() async throws(StepFailure) -> NodeID {
        var tries = 0
        while true {
            tries += 1
            do throws(StepFailure) {
                return try await claimOnce()
            } catch {
                // Firmware begins anew from wherever a claim stands.
                guard case .board(let cause) = error.cause, cause.code == .claimInterrupted, tries < Self.maximumTries
                else { throw await afterTelling(error) }
            }
        }
    }

    private func claimOnce() async throws(StepFailure) -> NodeID {
        let introduction = try await context.ask { (board) throws(ProvisioningError) in try await board.startClaim() }
        let invitation = try await ask { () throws(AccountError) in try await service.initiateClaim(introduction) }
        // The board has no certificate of that name, or of none that still counts.
        await memory.remove(invitation.node)
        context.tell(.claimInitiated(invitation.node))
        let request = try await context.ask { (board) throws(ProvisioningError) in
            try await board.requestCertificate(invitation.reply)
        }
        context.tell(.certificateRequested)
        let certificate = try await ask { () throws(AccountError) in try await service.verifyClaim(request) }
        try await context.ask { (board) throws(ProvisioningError) in try await board.storeCertificate(certificate) }
        return invitation.node
    }

    /// Asks the service, for a while also one that cannot be reached: it answers the same question the same way.
    private func ask<Reply: Sendable>(
        _ question: @Sendable () async throws(AccountError) -> Reply
    ) async throws(StepFailure) -> Reply {
        var schedule = PollSchedule.unreachable
        var isFirst = true
        let began = context.time.elapsed()
        while true {
            do throws(AccountError) {
                return try await question()
            } catch {
                guard error.isTransient, error.code != .rateLimited,
                    context.time.elapsed() - began < Patience.claimOutage
                else { throw StepFailure(error) }
                if isFirst { context.tell(.waitingForCloud) }
                isFirst = false
            }
            try await context.pause(max(schedule.next(), .milliseconds(50)))
        }
    }

    /// Tells the board that it gets no certificate where another try would end the same way. An abort ends claiming for it until it
    /// restarts (esp-rainmaker, `esp_rmaker_claim.c`); so after a broken link, an outage or an ended session it hears nothing, and
    /// the next run begins where this one did.
    private func afterTelling(_ failure: StepFailure) async -> StepFailure {
        switch failure.cause {
        case .board(let cause) where cause.code == .claimFailed:
            // The message knows already whether to restart it.
            await context.board.abortClaim()
        case .account(var cause) where cause.isRefusal:
            guard await context.board.abortClaim() else { break }
            cause.message += Self.restartSentence(after: cause.message)
            return StepFailure(cause)
        default: break
        }
        return failure
    }

    private static func restartSentence(after message: String) -> String {
        (message.hasSuffix(".") ? "" : ".") + " The board knows that its claim is over: restart it before the next try."
    }
}

/// Which boards have been claimed, by this run and earlier ones. What cannot be remembered costs a restart of the board, at worst.
struct ClaimMemory: Sendable {
    let store: any ClaimedBoardStore
    let logger: Logger

    func nodes() async -> [NodeID] { (try? await store.all()) ?? [] }

    func add(_ node: NodeID) async {
        do { try await store.save(node) } catch { note(error) }
    }

    func remove(_ node: NodeID) async {
        do { try await store.remove(node) } catch { note(error) }
    }

    private func note(_ error: RecordStoreError) {
        logger.debug("claim not remembered", metadata: ["cause": "\(error)"])
    }
}
