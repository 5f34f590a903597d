// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import RainCore

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
                    + "access point, then run this again.", remedies: [.otherTransport])
        }
        // After a claim that was broken off.
        if await session.state == .outOfStep { try await secureForClaim() }
        return try await text(beginningWith: claim.start(room: room, lostLinks: lostLinks))
    }

    /// The link of the claim before may still be about to break.
    private func secureForClaim() async throws(ProvisioningError) {
        do throws(ProvisioningError) {
            try await secureAgain()
        } catch {
            guard session.restoresLinks, error.code != .cancelled, error.code != .deviceLost else { throw error }
            throw .claimInterrupted(error.message)
        }
    }

    public func requestCertificate(_ reply: [UInt8]) async throws(ProvisioningError) -> [UInt8] {
        try await text(beginningWith: try claim.relay(reply))
    }

    public func storeCertificate(_ reply: [UInt8]) async throws(ProvisioningError) {
        guard case .claimed = try await converse(try claim.relay(reply)) else {
            throw ProvisioningError.unexpectedAnswer(on: .claim)
        }
        claim.finish()
        logger.debug("board claimed", metadata: ["peer": "\(peer)"])
    }

    /// Only in the session in which the claim began: a board that broke it off has most likely restarted and is ready for a new claim,
    /// which an abort would prevent.
    @discardableResult
    public func abortClaim() async -> Bool {
        guard claim.abort(), await session.state == .secured else { return false }
        do {
            // Not twice: the first may have reached the board.
            _ = try await askOnce(ClaimPayload(.commandAbort, .command(PayloadBuffer())), on: .claim)
        } catch {
            logger.debug("board may not know of the end of its claim", metadata: ["cause": "\(error.code)"])
        }
        return true
    }

    private func text(beginningWith request: ClaimPayload) async throws(ProvisioningError) -> [UInt8] {
        guard case .tellService(let text) = try await converse(request) else {
            throw ProvisioningError.unexpectedAnswer(on: .claim)
        }
        return text
    }

    /// Goes on asking the board until the service has to reply, or the claim is done.
    private func converse(_ first: ClaimPayload) async throws(ProvisioningError) -> ClaimConversation.Step {
        var request = first
        while true {
            let answer: ClaimPayload
            do throws(ProvisioningError) {
                answer = try await answerInClaim(to: request)
            } catch {
                throw claim.fault(error, restoresLinks: session.restoresLinks)
            }
            let step = try claim.receive(answer, lostLinks: lostLinks)
            guard case .send(let next) = step else { return step }
            request = next
        }
    }

    /// Asks again where the link broke, except for the one thing that a board must not be asked twice.
    private func answerInClaim(to request: ClaimPayload) async throws(ProvisioningError) -> ClaimPayload {
        guard claim.isAtItsEnd else { return try await ask(request, on: .claim, repeats: 0) }
        guard let answer = try await askOnce(request, on: .claim) else {
            throw .claimEndUnknown(.claimFailed, nil)
        }
        return answer
    }
}
