import Logging
import Protocomm
import ProtocommWire

extension ProtocommBoard {
    /// What the frame around a text takes: the message's fields, and the tag of Security 2.
    private static var frameBytes: Int { 48 }
    /// Room for a piece of the usual size; a console's line has less.
    private static var minimumRoom: Int { ClaimConversation.standardPiece }

    public func startClaim() async throws(ProvisioningError) -> [UInt8] {
        let room = session.maximumRequestLength(on: .claim).map { $0 - Self.frameBytes }
        if let room, room < Self.minimumRoom {
            throw ProvisioningError(
                .unsupported,
                message:
                    "A claim needs longer messages than this console's lines: claim the board over Bluetooth or its own "
                    + "access point (--transport ble or softap), then run this again.")
        }
        // After a claim that was broken off.
        if await session.state == .outOfStep { try await secureForClaim() }
        var conversation = ClaimConversation(room: room)
        let first = conversation.start()
        claim = conversation
        lostLinksBeforeClaim = lostLinks
        let introduction = try await text(beginningWith: first)
        wasRefusedAtStart = false
        return introduction
    }

    /// The link of the claim before may still be about to break.
    private func secureForClaim() async throws(ProvisioningError) {
        do throws(ProvisioningError) {
            try await secureAgain()
        } catch {
            guard session.restoresLinks, error.code != .cancelled, error.code != .deviceLost else { throw error }
            throw Self.interrupted(error.message)
        }
    }

    public func requestCertificate(_ reply: [UInt8]) async throws(ProvisioningError) -> [UInt8] {
        try await text(beginningWith: try relay(reply))
    }

    public func storeCertificate(_ reply: [UInt8]) async throws(ProvisioningError) {
        guard case .claimed = try await converse(try relay(reply)) else {
            throw ProvisioningError.unexpectedAnswer(on: .claim)
        }
        claim = nil
        logger.debug("board claimed", metadata: ["peer": "\(peer)"])
    }

    /// Only while the session stands in which the claim began: a board that broke it off has restarted, most likely, and waits for
    /// a claim, which an abort would end for it.
    @discardableResult
    public func abortClaim() async -> Bool {
        guard let conversation = claim else { return false }
        claim = nil
        guard conversation.canBeAborted, await session.state == .secured else { return false }
        do {
            // Not twice: the first may have reached the board.
            _ = try await askOnce(ClaimPayload(.commandAbort, .command(PayloadBuffer())), on: .claim)
        } catch {
            logger.debug("board may not know of the end of its claim", metadata: ["cause": "\(error.code)"])
        }
        return true
    }

    private static func interrupted(_ cause: String?) -> ProvisioningError {
        ProvisioningError(
            .claimInterrupted,
            message:
                "The board was not claimed: the connection broke in the middle. Move nearer to the board, then run this "
                + "again.", cause: cause)
    }

    private func relay(_ reply: [UInt8]) throws(ProvisioningError) -> ClaimPayload {
        guard var conversation = claim else { throw ClaimConversation.failure("no claim was begun") }
        let request = try conversation.relay(reply)
        claim = conversation
        return request
    }

    private func text(beginningWith request: ClaimPayload) async throws(ProvisioningError) -> [UInt8] {
        guard case .tellService(let text) = try await converse(request) else {
            throw ProvisioningError.unexpectedAnswer(on: .claim)
        }
        return text
    }

    /// Asks on until the service has its turn, or all is done.
    private func converse(_ first: ClaimPayload) async throws(ProvisioningError) -> ClaimConversation.Step {
        var request = first
        while true {
            let answer: ClaimPayload
            do throws(ProvisioningError) {
                answer = try await answerInClaim(to: request)
            } catch {
                throw broken(error, isStart: request.message == .commandStart)
            }
            guard var conversation = claim else { throw ClaimConversation.brokenOff(nil) }
            let step: ClaimConversation.Step
            do throws(ProvisioningError) {
                step = try conversation.receive(answer)
            } catch {
                claim = conversation
                // What was asked twice over a new connection was answered with the piece after the one that got lost.
                guard lostLinks > lostLinksBeforeClaim else { throw error }
                throw Self.interrupted(error.message)
            }
            claim = conversation
            guard case .send(let next) = step else { return step }
            request = next
        }
    }
    /// Asks again where the link broke, except for the one thing that a board must not be asked twice.
    private func answerInClaim(to request: ClaimPayload) async throws(ProvisioningError) -> ClaimPayload {
        guard claim?.isAtItsEnd == true else { return try await ask(request, on: .claim) }
        guard let answer = try await askOnce(request, on: .claim) else {
            throw ClaimConversation.unknownEnd(.claimFailed, nil)
        }
        return answer
    }

    /// What it means for the claim that there was no answer.
    private func broken(_ error: ProvisioningError, isStart: Bool) -> ProvisioningError {
        let cause = error.cause ?? error.message
        // A board that answers with nothing has lost its place, most likely by a restart.
        let isBroken = [.rejected, .malformed, .invalidArgument, .securityMismatch].contains(error.code)
        if claim?.isAtItsEnd == true {
            guard isBroken || error.code == .deviceLost else { return error }
            return ClaimConversation.unknownEnd(isBroken ? .claimFailed : error.code, cause)
        }
        guard isBroken else { return error }
        // A link that breaks just then looks like a refusal; one that breaks twice in the same place does not.
        if session.restoresLinks, error.code == .rejected, !(isStart && wasRefusedAtStart) {
            if isStart { wasRefusedAtStart = true }
            return Self.interrupted(error.cause)
        }
        return isStart ? ClaimConversation.notTaken(cause) : ClaimConversation.brokenOff(cause)
    }
}
