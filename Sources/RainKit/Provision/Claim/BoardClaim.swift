// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore
import RainMaker

/// The step in which board and claim service exchange messages through this run.
struct BoardClaim: Sendable {
    let context: RunContext
    let board: any Board
    let account: SignedIn
    let service: any NodeClaiming
    let memory: ClaimMemory

    /// A radio may lose one session in twenty. More failures in a row than this have another cause.
    private static let maximumTries = 5

    /// Returns the board after its claim.
    func claim(_ found: IdentifiedBoard) async throws(RainKitError) -> IdentifiedBoard {
        if try await hasBeenClaimed(found.identity) { return found }
        let node = try await claimNode()
        await memory.add(node)
        context.status.update { $0.boardName = node }
        context.tell(.claimed(node))
        var claimed = found
        claimed.claimedNode = node
        // The board's identity may be different now. It may also still ask to be claimed, until it restarts.
        claimed.identity = try await context.ask(board) { (board) throws(BoardError) in
            try await board.identify()
        }
        return claimed
    }

    /// Whether an earlier run claimed the board and then failed, for example with a wrong Wi-Fi password. The board does not report its
    /// claim before it restarts. But it reports its name when it is tied to an account, and that may be done again.
    private func hasBeenClaimed(_ identity: BoardIdentity) async throws(RainKitError) -> Bool {
        guard context.request.mapsToUser else { return false }
        let nodes = await memory.nodes()
        guard !nodes.isEmpty else { return false }
        let bytes = context.randomBytes(16)
        do throws(BoardError) {
            let question: AssociationRequest =
                identity.association == .userMapping
                ? .userMapping(account.user, MappingSecret(randomBytes: bytes)) : .challenge(bytes)
            return nodes.contains(try await board.associate(question).nodeID)
        } catch {
            guard [.cancelled, .deviceLost].contains(error.code) else { return false }
            throw RainKitError(error)
        }
    }

    private func claimNode() async throws(RainKitError) -> NodeID {
        var tries = 0
        while true {
            tries += 1
            do throws(RainKitError) {
                return try await claimOnce()
            } catch {
                // Firmware restarts an interrupted claim, whichever step it had reached.
                guard case .board(let cause) = error.cause, cause.code == .claimInterrupted, tries < Self.maximumTries
                else { throw await afterTelling(error) }
            }
        }
    }

    private func claimOnce() async throws(RainKitError) -> NodeID {
        let introduction = try await context.ask(board) { (board) throws(BoardError) in
            try await board.startClaim()
        }
        let invitation = try await ask { () throws(AccountError) in try await service.initiateClaim(introduction) }
        // The board has no certificate of that name, or no longer a valid one.
        await memory.remove(invitation.node)
        context.tell(.claimInitiated(invitation.node))
        let request = try await context.ask(board) { (board) throws(BoardError) in
            try await board.requestCertificate(invitation.reply)
        }
        context.tell(.certificateRequested)
        let certificate = try await ask { () throws(AccountError) in try await service.verifyClaim(request) }
        try await context.ask(board) { (board) throws(BoardError) in
            try await board.storeCertificate(certificate)
        }
        return invitation.node
    }

    /// Asks the service. Repeats the request for a while if the service cannot be reached, since it answers the same request the same way.
    private func ask<Reply: Sendable>(
        _ question: @Sendable () async throws(AccountError) -> Reply
    ) async throws(RainKitError) -> Reply {
        var schedule = PollSchedule.unreachable
        var isFirst = true
        let began = context.time.elapsed()
        while true {
            do throws(AccountError) {
                return try await question()
            } catch {
                guard error.isTransient, error.code != .rateLimited,
                    context.time.elapsed() - began < WaitLimits.claimOutage
                else { throw RainKitError(error) }
                if isFirst { context.tell(.waitingForCloud) }
                isFirst = false
            }
            try await context.pause(max(schedule.next(), .milliseconds(50)))
        }
    }

    /// Aborts the claim on the board if another try would end the same way. An abort ends claiming for the board until it restarts
    /// (esp-rainmaker, `esp_rmaker_claim.c`). After a broken link, an outage or an ended session there is therefore no abort, and the next
    /// run begins where this one did.
    private func afterTelling(_ failure: RainKitError) async -> RainKitError {
        switch failure.cause {
        case .board(let cause) where cause.code == .claimFailed:
            // The message already includes whether to restart it.
            await board.abortClaim()
        case .account(var cause) where cause.isRefusal:
            // The reason is in the service's text, not in its status.
            if let words = cause.serverMessage.map(presentable), !words.isEmpty {
                cause.message = "The claim service refused the claim: \"\(words)\". \(cause.message.asSentence)"
            }
            guard await board.abortClaim() else { break }
            cause.message += Self.restartSentence(after: cause.message)
            return RainKitError(cause)
        default: break
        }
        return failure
    }

    private static func restartSentence(after message: String) -> String {
        (message.hasSuffix(".") ? "" : ".")
            + " The claim was aborted on the board. Restart the board before the next try."
    }
}

/// The boards that this run and earlier runs have claimed. If one cannot be remembered, the board may have to be restarted.
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
