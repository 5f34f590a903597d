// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import RainCore

extension ProtocommBoard {
    /// The overhead around a text: the message's fields, and the tag of Security 2.
    private static var frameBytes: Int { 48 }
    /// The minimum length for a piece of the usual size; a console's line has less.
    private static var minimumRoom: Int { ClaimConversation.standardPiece }

    public func startClaim() async throws(BoardError) -> [UInt8] {
        let room = session.maximumRequestLength(on: .claim).map { $0 - Self.frameBytes }
        if let room, room < Self.minimumRoom {
            throw BoardError(
                .unsupported,
                message:
                    "The messages of a claim are too long for this console's lines: claim the board over Bluetooth or its own "
                    + "access point, then try again.", remedies: [.otherTransport])
        }
        // The previous claim broke off.
        if await session.state == .outOfStep { try await secureForClaim() }
        return try await text(beginningWith: claim.start(room: room, lostLinks: lostLinks))
    }

    /// Opens a new session. The link of the previous claim may still be about to break, also in the middle of the handshake. A refused
    /// handshake does not mean the end of the service here: a board that waits for a claim has no network.
    private func secureForClaim() async throws(BoardError) {
        do throws(BoardError) {
            try await secureAgain()
        } catch {
            guard session.restoresLinks, error.code != .cancelled, error.code != .deviceLost || error.isRefusedHandshake
            else { throw error }
            throw .claimInterrupted(error.message)
        }
    }

    public func requestCertificate(_ reply: [UInt8]) async throws(BoardError) -> [UInt8] {
        try await text(beginningWith: try claim.relay(reply))
    }

    public func storeCertificate(_ reply: [UInt8]) async throws(BoardError) {
        guard case .claimed = try await converse(try claim.relay(reply)) else {
            throw BoardError.unexpectedAnswer(on: .claim)
        }
        claim.finish()
        logger.debug("board claimed", metadata: ["peer": "\(peer)"])
    }

    /// Sent only in the session in which the claim began. A board that broke it off has most likely restarted and is ready for a new claim,
    /// which an abort would prevent.
    @discardableResult
    public func abortClaim() async -> Bool {
        guard claim.abort(), await session.state == .secured else { return false }
        do {
            // Sent only once, since the first may have reached the board.
            _ = try await askOnce(ClaimPayload(.commandAbort, .command(PayloadBuffer())), on: .claim)
        } catch {
            logger.debug("board may not have received the end of its claim", metadata: ["cause": "\(error.code)"])
        }
        return true
    }

    private func text(beginningWith request: ClaimPayload) async throws(BoardError) -> [UInt8] {
        guard case .tellService(let text) = try await converse(request) else {
            throw BoardError.unexpectedAnswer(on: .claim)
        }
        return text
    }

    /// Asks the board until the service has to reply, or the claim is done.
    private func converse(_ first: ClaimPayload) async throws(BoardError) -> ClaimConversation.Step {
        var request = first
        while true {
            let answer: ClaimPayload
            do throws(BoardError) {
                answer = try await answerInClaim(to: request)
            } catch {
                throw claim.fault(error, restoresLinks: session.restoresLinks)
            }
            let step = try claim.receive(answer, lostLinks: lostLinks)
            guard case .send(let next) = step else { return step }
            request = next
        }
    }

    /// Repeats the request after a broken link, except for the one request that must not reach a board twice.
    private func answerInClaim(to request: ClaimPayload) async throws(BoardError) -> ClaimPayload {
        guard claim.isAtItsEnd else { return try await ask(request, on: .claim, repeats: 0) }
        guard let answer = try await askOnce(request, on: .claim) else {
            throw .claimEndUnknown(.claimFailed, nil)
        }
        return answer
    }
}

/// The current claim of a board, and the relevant facts about the previous one: the meaning of a failure depends on both.
struct ClaimAttempt: Sendable {
    private var conversation: ClaimConversation?
    /// How many links had broken when the claim began.
    private var lostLinksBefore = 0
    /// Whether the previous claim was refused at its first request, or its link broke there.
    private var wasRefusedAtStart = false

    /// Whether the board is about to decide, so that the request must not be repeated.
    var isAtItsEnd: Bool { conversation?.isAtItsEnd == true }

    /// Begins a claim; an earlier one is forgotten.
    mutating func start(room: Int?, lostLinks: Int) -> ClaimPayload {
        var conversation = ClaimConversation(room: room)
        defer { self.conversation = conversation }
        lostLinksBefore = lostLinks
        return conversation.start()
    }

    /// Takes the service's reply and returns the next request.
    mutating func relay(_ reply: [UInt8]) throws(BoardError) -> ClaimPayload {
        guard var conversation else { throw .claimFailure("no claim was started") }
        let request = try conversation.relay(reply)
        self.conversation = conversation
        return request
    }

    /// Takes the board's answer and returns the next step.
    mutating func receive(_ answer: ClaimPayload, lostLinks: Int) throws(BoardError) -> ClaimConversation.Step {
        // The claim may have been ended during the request.
        guard var conversation else { throw .claimBrokenOff(nil) }
        defer { self.conversation = conversation }
        let wasStarting = conversation.isStarting
        do throws(BoardError) {
            let step = try conversation.receive(answer)
            if wasStarting { wasRefusedAtStart = false }
            return step
        } catch {
            // A repeated request over a new connection was answered with the piece after the lost one.
            throw lostLinks > lostLinksBefore ? .claimInterrupted(error.message) : error
        }
    }

    /// Returns the meaning of a missing answer for the claim.
    ///
    /// - Parameter restoresLinks: whether the transport restores a broken link.
    mutating func fault(_ error: BoardError, restoresLinks: Bool) -> BoardError {
        let cause = error.cause ?? error.message
        // A board that sends an empty answer, or has another session, has lost its state, most likely by a restart.
        let isBroken =
            [.rejected, .malformed, .invalidArgument, .securityMismatch].contains(error.code)
            || error.reason == "session_taken"
        if isAtItsEnd {
            guard isBroken || error.code == .deviceLost else { return error }
            return .claimEndUnknown(isBroken ? .claimFailed : error.code, cause)
        }
        if restoresLinks, error.isRefusedHandshake { return .claimInterrupted(cause) }
        guard isBroken else { return error }
        let isStart = conversation?.isStarting == true
        // A link that breaks at this moment looks like a refusal, but it will not break twice in the same place.
        if restoresLinks, error.code == .rejected, !(isStart && wasRefusedAtStart) {
            if isStart { wasRefusedAtStart = true }
            return .claimInterrupted(error.cause)
        }
        let answer = error.faultyAnswer
        return isStart ? .claimNotTaken(cause, answer: answer) : .claimBrokenOff(cause, answer: answer)
    }

    /// Ends the claim: the board has its certificate.
    mutating func finish() { conversation = nil }

    /// Gives up the claim; returns whether the board needs an abort.
    mutating func abort() -> Bool {
        defer { conversation = nil }
        return conversation?.canBeAborted == true
    }
}

/// The client's side of `rmaker_claim` as a value. It relays texts between the board and the claim service piece by piece, and detects
/// texts that are incomplete.
///
/// The limits are the firmware's (esp-rainmaker, `esp_rmaker_claim.c`). A text has at most 3071 bytes. A piece of the request cannot be
/// read twice, because the board moves on when it answers. The claim ends at the board with an abort, and with the last piece of a
/// certificate, stored or refused. The board then frees its data: no command may follow until it restarts.
struct ClaimConversation: Sendable {
    /// `MAX_PAYLOAD_SIZE` without its NUL.
    static let maximumText = 3071
    /// `CLAIM_FRAGMENT_SIZE`: the size that is used if the board's own pieces do not show one.
    static let standardPiece = 200
    /// Smaller pieces would make a claim endless.
    static let smallestPiece = 32
    /// The maximum length of the board's first message: an address and a platform.
    private static let maximumIntroduction = 512

    enum Step: Equatable {
        /// Send this to the board; its answer goes to ``receive(_:)``.
        case send(ClaimPayload)
        /// Send this to the service; its reply goes to ``relay(_:)``.
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
    /// Whether the board has begun, and has not received all of the certificate yet.
    private(set) var canBeAborted = false
    private var piece = standardPiece
    /// The maximum length of a piece of text over this transport.
    private let room: Int

    /// - Parameter room: nil if the transport sets no limit.
    init(room: Int? = nil) { self.room = room ?? Self.maximumText }

    /// Whether the board is about to decide, which ends the claim.
    var isAtItsEnd: Bool {
        guard case .delivering(let text, let sent) = state else { return false }
        return sent == text.count
    }

    /// Whether the board has not accepted the claim yet.
    var isStarting: Bool { state == .starting }

    mutating func start() -> ClaimPayload {
        state = .starting
        return ClaimPayload(.commandStart, .command(PayloadBuffer()))
    }

    /// Takes the board's answer and returns the next step.
    mutating func receive(_ answer: ClaimPayload) throws(BoardError) -> Step {
        do throws(BoardError) {
            return try take(answer)
        } catch {
            state = .over
            throw error
        }
    }

    /// Takes the service's reply and returns the next request.
    mutating func relay(_ reply: [UInt8]) throws(BoardError) -> ClaimPayload {
        guard (1...Self.maximumText).contains(reply.count) else {
            throw .claimFailure(
                "the service's reply has \(reply.count) bytes, and a board accepts at most \(Self.maximumText)")
        }
        switch state {
        case .introduced:
            guard reply.count <= room else {
                throw .claimFailure(
                    "the service's reply has \(reply.count) bytes and must be sent in one piece, but this transport "
                        + "carries only \(room)")
            }
            state = .requesting(text: [], total: nil)
            let buffer = PayloadBuffer(payload: reply, totalLength: UInt32(reply.count))
            return ClaimPayload(.commandInit, .command(buffer))
        case .requested: return deliver(reply, from: 0)
        default: throw .claimFailure("the steps of the claim were out of order")
        }
    }

    private mutating func take(_ answer: ClaimPayload) throws(BoardError) -> Step {
        guard case .response(let response)? = answer.payload else { throw .unexpectedInClaim }
        switch (state, answer.message) {
        case (.starting, .responseStart):
            guard response.status == .success else { throw .claimNotTaken(nil, answer: response.status.title) }
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

    private mutating func introduce(_ buffer: PayloadBuffer) throws(BoardError) -> Step {
        guard buffer.offset == 0, (1...Self.maximumIntroduction).contains(buffer.payload.count),
            Int(buffer.totalLength) == buffer.payload.count
        else { throw .claimFailure("the board's first message did not arrive in one piece") }
        state = .introduced
        return .tellService(buffer.payload)
    }

    private mutating func collect(
        _ buffer: PayloadBuffer, after text: [UInt8], total: Int?
    ) throws(BoardError) -> Step {
        let expected = total ?? Int(buffer.totalLength)
        guard Int(buffer.totalLength) == expected else {
            throw .claimFailure("the length of the board's request changed during the transfer")
        }
        guard (1...Self.maximumText).contains(expected) else {
            throw .claimFailure(
                "the board's request has \(expected) bytes, more than the maximum of \(Self.maximumText)")
        }
        guard Int(buffer.offset) == text.count else {
            throw .claimFailure("a piece of the board's request was lost, and this piece cannot be read again")
        }
        let collected = text + buffer.payload
        guard collected.count <= expected else { throw .claimFailure("the board's request is longer than announced") }
        let isWhole = collected.count == expected
        guard isWhole || buffer.payload.count >= Self.smallestPiece else {
            throw .claimFailure(
                "the board's request arrives in pieces of \(buffer.payload.count) bytes, which are too small")
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

    private static func refusal(_ status: ClaimStatus, of what: String) -> BoardError {
        switch status {
        case .invalidState:
            .claimFailure("it lost its state, perhaps because it restarted", cause: status.title)
        case .noMemory: .claimFailure("\(what) does not fit into its memory", cause: status.title)
        default: .claimFailure("it did not accept \(what), and answered with \(status.title)", cause: status.title)
        }
    }
}

/// Errors of a claim that failed. They tell whether the board must restart before the next one.
extension BoardError {
    /// The claim is over for the board, or must be ended by an abort.
    static func claimFailure(_ why: String, cause: String? = nil) -> BoardError {
        BoardError(
            .claimFailed, message: "The board was not claimed: \(why). Restart the board, then try again.",
            cause: cause)
    }

    static var unexpectedInClaim: BoardError {
        claimFailure("its answer does not belong to this step")
    }

    /// The board does not begin a claim. Nothing has changed on it.
    ///
    /// - Parameter answer: the board's answer; nil if it sent none.
    static func claimNotTaken(_ cause: String?, answer: String? = nil) -> BoardError {
        let why = answer.map { ": its endpoint \(Endpoint.claim) answered with \($0)" } ?? ""
        return BoardError(
            .claimFailed,
            message:
                "The board does not accept a claim now\(why). It may still be starting, or may allow only one claim per start. Restart the "
                + "board, then try again.", cause: cause ?? answer)
    }

    /// The board has most likely restarted, and then waits for a claim.
    static func claimBrokenOff(_ cause: String?, answer: String? = nil) -> BoardError {
        let why =
            answer.map { "because the board's endpoint \(Endpoint.claim) answered with \($0)" }
            ?? "perhaps because the board restarted"
        return BoardError(
            .claimFailed,
            message:
                "The board was not claimed: the claim stopped in the middle, \(why). Try again; if that does not help, restart the board "
                + "first.", cause: cause)
    }

    /// The board did not answer the last piece of the certificate.
    static func claimEndUnknown(_ code: Code, _ cause: String?) -> BoardError {
        BoardError(
            code,
            message:
                "The connection broke while the board received its certificate. Only a restart shows whether the certificate is complete: "
                + "restart the board, then try again.", cause: cause)
    }

    /// The link broke; it can be restored, and the claim repeated.
    static func claimInterrupted(_ cause: String?) -> BoardError {
        BoardError(
            .claimInterrupted,
            message:
                "The board was not claimed: the connection broke in the middle. Move nearer to the board, then try "
                + "again.", cause: cause)
    }
}
