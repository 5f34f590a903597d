// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// The claim under way at a board, and what is still relevant of the one before: the meaning of a fault depends on both.
struct ClaimAttempt: Sendable {
    private var conversation: ClaimConversation?
    /// How many links had broken when it began.
    private var lostLinksBefore = 0
    /// Whether the claim before was refused at its very start, or its link broke there.
    private var wasRefusedAtStart = false

    /// Whether the board is about to decide, and must not be asked twice.
    var isAtItsEnd: Bool { conversation?.isAtItsEnd == true }

    /// Begins one; an earlier one is forgotten.
    mutating func start(room: Int?, lostLinks: Int) -> ClaimPayload {
        var conversation = ClaimConversation(room: room)
        defer { self.conversation = conversation }
        lostLinksBefore = lostLinks
        return conversation.start()
    }

    /// Takes the service's reply.
    mutating func relay(_ reply: [UInt8]) throws(ProvisioningError) -> ClaimPayload {
        guard var conversation else { throw .claimFailure("no claim was begun") }
        let request = try conversation.relay(reply)
        self.conversation = conversation
        return request
    }

    /// Takes the board's answer.
    mutating func receive(_ answer: ClaimPayload, lostLinks: Int) throws(ProvisioningError) -> ClaimConversation.Step {
        // It may have been ended while the board was asked.
        guard var conversation else { throw .claimBrokenOff(nil) }
        defer { self.conversation = conversation }
        let wasStarting = conversation.isStarting
        do throws(ProvisioningError) {
            let step = try conversation.receive(answer)
            if wasStarting { wasRefusedAtStart = false }
            return step
        } catch {
            // What was asked twice over a new connection was answered with the piece after the one that got lost.
            throw lostLinks > lostLinksBefore ? .claimInterrupted(error.message) : error
        }
    }

    /// What it means for the claim that there was no answer.
    ///
    /// - Parameter restoresLinks: whether the transport makes a link again that broke.
    mutating func fault(_ error: ProvisioningError, restoresLinks: Bool) -> ProvisioningError {
        let cause = error.cause ?? error.message
        // A board that answers with nothing, or has another session, has lost its state, most likely by a restart.
        let isBroken =
            [.rejected, .malformed, .invalidArgument, .securityMismatch].contains(error.code)
            || error.reason == "session_taken"
        if isAtItsEnd {
            guard isBroken || error.code == .deviceLost else { return error }
            return .claimEndUnknown(isBroken ? .claimFailed : error.code, cause)
        }
        guard isBroken else { return error }
        let isStart = conversation?.isStarting == true
        // A link that breaks just then looks like a refusal; one that breaks twice in the same place does not.
        if restoresLinks, error.code == .rejected, !(isStart && wasRefusedAtStart) {
            if isStart { wasRefusedAtStart = true }
            return .claimInterrupted(error.cause)
        }
        return isStart ? .claimNotTaken(cause) : .claimBrokenOff(cause)
    }

    /// The board has its certificate.
    mutating func finish() { conversation = nil }

    /// Gives the claim up; returns whether the board must still be told.
    mutating func abort() -> Bool {
        defer { conversation = nil }
        return conversation?.canBeAborted == true
    }
}
