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
        if await session.state == .outOfStep { try await secureAgain() }
        var conversation = ClaimConversation(room: room)
        let first = conversation.start()
        claim = conversation
        lostLinksBeforeClaim = lostLinks
        return try await text(beginningWith: first)
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

    /// The session is opened again for it where the claim broke with the session.
    public func abortClaim() async {
        guard claim != nil else { return }
        claim = nil
        let abort = ClaimPayload(.commandAbort, .command(PayloadBuffer()))
        do {
            if await session.state != .secured { try await secureAgain() }
            _ = try await ask(abort, on: .claim)
        } catch {
            logger.debug("board not told of the end of its claim", metadata: ["cause": "\(error.code)"])
        }
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
                answer = try await ask(request, on: .claim)
            } catch {
                // A link that breaks just then looks like a refusal.
                if session.restoresLinks, error.code == .rejected { throw Self.interrupted(error.cause) }
                // A board that answers with nothing has lost its place, most likely by a restart.
                guard [.rejected, .malformed, .invalidArgument, .securityMismatch].contains(error.code) else {
                    throw error
                }
                throw ClaimConversation.failure(
                    "it broke off in the middle, as after a restart", cause: error.cause ?? error.message)
            }
            guard var conversation = claim else { throw ClaimConversation.failure("it was broken off") }
            let step: ClaimConversation.Step
            do throws(ProvisioningError) {
                step = try conversation.receive(answer)
            } catch {
                // What was asked twice over a new connection was answered with the piece after the one that got lost.
                guard lostLinks > lostLinksBeforeClaim else { throw error }
                throw Self.interrupted(error.message)
            }
            claim = conversation
            guard case .send(let next) = step else { return step }
            request = next
        }
    }
}
