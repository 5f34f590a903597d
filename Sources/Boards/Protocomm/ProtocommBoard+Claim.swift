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

/// The client's side of `rmaker_claim` as a value: it relays texts between board and claim service, piece by piece, and finds out
/// when one of them does not go through whole.
///
/// Bounds are the firmware's own (esp-rainmaker, `esp_rmaker_claim.c`): a text is at most 3071 bytes; a piece of the request
/// cannot be had twice, because the board moves on when it answers. With an abort and with the last piece of a certificate,
/// stored or refused, the claim ends at the board, which then frees its data: until it restarts, no command may follow.
struct ClaimConversation: Sendable {
    /// `MAX_PAYLOAD_SIZE` without its NUL.
    static let maximumText = 3071
    /// `CLAIM_FRAGMENT_SIZE`: what is sent when the board's own pieces do not say.
    static let standardPiece = 200
    /// Smaller pieces than that would make a claim endless.
    static let smallestPiece = 32
    /// The board's first message: an address and a platform.
    private static let maximumIntroduction = 512

    enum Step: Equatable {
        /// To the board; its answer goes to ``receive(_:)``.
        case send(ClaimPayload)
        /// To the service; its reply goes to ``relay(_:)``.
        case tellService([UInt8])
        case claimed
    }

    private enum State: Equatable {
        case idle
        case starting
        case introduced
        case requesting(text: [UInt8], total: Int?)
        case requested
        case delivering(text: [UInt8], sent: Int)
        case over
    }

    private var state = State.idle
    /// Whether the board has begun, and does not have all of the certificate yet.
    private(set) var canBeAborted = false
    private var piece = standardPiece
    /// The most that the transport carries of a text in one piece.
    private let room: Int

    /// - Parameter room: nil where the transport sets no limit.
    init(room: Int? = nil) { self.room = room ?? Self.maximumText }

    /// Whether the board is about to decide, and with that to end the claim.
    var isAtItsEnd: Bool {
        guard case .delivering(let text, let sent) = state else { return false }
        return sent == text.count
    }

    /// Whether the board has not said yet that it takes a claim.
    var isStarting: Bool { state == .starting }

    mutating func start() -> ClaimPayload {
        state = .starting
        return ClaimPayload(.commandStart, .command(PayloadBuffer()))
    }

    /// Takes the board's answer.
    mutating func receive(_ answer: ClaimPayload) throws(ProvisioningError) -> Step {
        do throws(ProvisioningError) {
            return try take(answer)
        } catch {
            state = .over
            throw error
        }
    }

    /// Takes the service's reply.
    mutating func relay(_ reply: [UInt8]) throws(ProvisioningError) -> ClaimPayload {
        guard (1...Self.maximumText).contains(reply.count) else {
            throw .claimFailure(
                "the service's reply has \(reply.count) bytes, and a board takes \(Self.maximumText) at most")
        }
        switch state {
        case .introduced:
            guard reply.count <= room else {
                throw .claimFailure(
                    "the service's reply has \(reply.count) bytes and must go in one piece, and this way to the board "
                        + "carries \(room)")
            }
            state = .requesting(text: [], total: nil)
            let buffer = PayloadBuffer(payload: reply, totalLength: UInt32(reply.count))
            return ClaimPayload(.commandInit, .command(buffer))
        case .requested: return deliver(reply, from: 0)
        default: throw .claimFailure("its steps came out of order")
        }
    }

    private mutating func take(_ answer: ClaimPayload) throws(ProvisioningError) -> Step {
        guard case .response(let response)? = answer.payload else { throw .unexpectedInClaim }
        switch (state, answer.message) {
        case (.starting, .responseStart):
            guard response.status == .success else { throw .claimNotTaken("status \(response.status.rawValue)") }
            canBeAborted = true
            return try introduce(response.buffer ?? PayloadBuffer())
        case (.requesting(let text, let total), .responseInit):
            guard response.status == .success else { throw Self.refusal(response.status, of: "the service's reply") }
            return try collect(response.buffer ?? PayloadBuffer(), after: text, total: total)
        case (.delivering(let text, let sent), .responseVerify):
            guard response.status == .success else { throw Self.refusal(response.status, of: "the certificate") }
            if sent < text.count { return .send(deliver(text, from: sent)) }
            state = .over
            return .claimed
        default: throw .unexpectedInClaim
        }
    }

    private mutating func introduce(_ buffer: PayloadBuffer) throws(ProvisioningError) -> Step {
        guard buffer.offset == 0, (1...Self.maximumIntroduction).contains(buffer.payload.count),
            Int(buffer.totalLength) == buffer.payload.count
        else { throw .claimFailure("the board did not say in one piece what it is") }
        state = .introduced
        return .tellService(buffer.payload)
    }

    private mutating func collect(
        _ buffer: PayloadBuffer, after text: [UInt8], total: Int?
    ) throws(ProvisioningError) -> Step {
        let expected = total ?? Int(buffer.totalLength)
        guard Int(buffer.totalLength) == expected else {
            throw .claimFailure("the length of the board's request changed in the middle")
        }
        guard (1...Self.maximumText).contains(expected) else {
            throw .claimFailure("the board's request has \(expected) bytes, of at most \(Self.maximumText)")
        }
        guard Int(buffer.offset) == text.count else {
            throw .claimFailure("a piece of the board's request was lost, and it cannot be had again")
        }
        let collected = text + buffer.payload
        guard collected.count <= expected else { throw .claimFailure("the board's request is longer than it said") }
        let isWhole = collected.count == expected
        guard isWhole || buffer.payload.count >= Self.smallestPiece else {
            throw .claimFailure(
                "the board's request comes in pieces of \(buffer.payload.count) bytes, which never ends")
        }
        if text.isEmpty { piece = max(Self.smallestPiece, min(Self.standardPiece, buffer.payload.count)) }
        guard isWhole else {
            state = .requesting(text: collected, total: expected)
            return .send(ClaimPayload(.commandInit, .command(PayloadBuffer())))
        }
        state = .requested
        return .tellService(collected)
    }

    private mutating func deliver(_ text: [UInt8], from start: Int) -> ClaimPayload {
        let end = min(start + min(piece, room), text.count)
        state = .delivering(text: text, sent: end)
        canBeAborted = end < text.count
        let buffer = PayloadBuffer(
            offset: UInt32(start), payload: Array(text[start..<end]), totalLength: UInt32(text.count))
        return ClaimPayload(.commandVerify, .command(buffer))
    }

    private static func refusal(_ status: ClaimStatus, of what: String) -> ProvisioningError {
        switch status {
        case .invalidState: .claimFailure("it lost its place, as after a restart", cause: "status \(status.rawValue)")
        case .noMemory: .claimFailure("\(what) does not fit into its memory", cause: "status \(status.rawValue)")
        default: .claimFailure("it did not accept \(what)", cause: "status \(status.rawValue)")
        }
    }
}

/// How a claim comes to nothing, and what that means for the next: whether the board has to restart first.
extension ProvisioningError {
    /// A claim that is over for the board, or has to be: it is aborted where it is not.
    static func claimFailure(_ why: String, cause: String? = nil) -> ProvisioningError {
        ProvisioningError(
            .claimFailed, message: "The board was not claimed: \(why). Restart the board, then run this again.",
            cause: cause)
    }

    static var unexpectedInClaim: ProvisioningError {
        claimFailure("its answer is not the one that belongs there")
    }

    /// The board begins no claim. Nothing has happened to it.
    static func claimNotTaken(_ cause: String?) -> ProvisioningError {
        ProvisioningError(
            .claimFailed,
            message:
                "The board takes no claim now: it has had one since it started, or is still starting. Restart the board, "
                + "then run this again.", cause: cause)
    }

    /// The board has most likely restarted, and then waits for a claim.
    static func claimBrokenOff(_ cause: String?) -> ProvisioningError {
        ProvisioningError(
            .claimFailed,
            message:
                "The board was not claimed: it broke off in the middle, as after a restart. Then run this again; if that "
                + "does not help, restart the board first.", cause: cause)
    }

    /// Nobody answered to the last piece of the certificate.
    static func claimEndUnknown(_ code: Code, _ cause: String?) -> ProvisioningError {
        ProvisioningError(
            code,
            message:
                "The connection broke while the board took its certificate, and only a restart tells whether it has it: "
                + "restart the board, then run this again.", cause: cause)
    }

    /// The link broke and can be made again, and the claim begun anew.
    static func claimInterrupted(_ cause: String?) -> ProvisioningError {
        ProvisioningError(
            .claimInterrupted,
            message:
                "The board was not claimed: the connection broke in the middle. Move nearer to the board, then run this "
                + "again.", cause: cause)
    }
}
