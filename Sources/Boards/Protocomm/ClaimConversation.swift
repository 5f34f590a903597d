// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

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
