// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import Testing

@testable import ESPProvisioning

/// What it means that the board did not answer, at each step of a claim.
@Suite("A claim that is not answered")
struct ClaimAttemptTests {
    enum Stage: Sendable { case start, request, certificate }

    private static func attempt(_ stage: Stage) throws -> ClaimAttempt {
        func answer(_ type: ClaimMessageType, _ text: [UInt8] = []) -> ClaimPayload {
            let buffer = PayloadBuffer(payload: text, totalLength: UInt32(text.count))
            return ClaimPayload(type, .response(PayloadResponse(buffer: buffer)))
        }
        var attempt = ClaimAttempt()
        _ = attempt.start(room: nil, lostLinks: 0)
        guard stage != .start else { return attempt }
        _ = try attempt.receive(answer(.responseStart, [0x7B, 0x7D]), lostLinks: 0)
        _ = try attempt.relay([1, 2, 3])
        guard stage == .certificate else { return attempt }
        _ = try attempt.receive(answer(.responseInit, [4, 5, 6]), lostLinks: 0)
        _ = try attempt.relay([7, 8, 9])
        return attempt
    }

    struct Case: Sendable {
        var stage: Stage
        var fault: BoardError.Code
        var restoresLinks = false
        var meaning: BoardError.Code
        /// A part of the message; nil where it is the fault's own.
        var words: String?
    }

    static let cases = [
        Case(stage: .start, fault: .rejected, meaning: .claimFailed, words: "does not accept a claim now"),
        Case(stage: .start, fault: .rejected, restoresLinks: true, meaning: .claimInterrupted, words: "Move nearer"),
        Case(
            stage: .start, fault: .malformed, restoresLinks: true, meaning: .claimFailed,
            words: "does not accept a claim now"),
        Case(stage: .start, fault: .deviceLost, meaning: .deviceLost),
        Case(stage: .request, fault: .rejected, meaning: .claimFailed, words: "stopped in the middle"),
        Case(stage: .request, fault: .rejected, restoresLinks: true, meaning: .claimInterrupted, words: "Move nearer"),
        Case(stage: .request, fault: .securityMismatch, meaning: .claimFailed, words: "stopped in the middle"),
        Case(stage: .request, fault: .deviceLost, restoresLinks: true, meaning: .deviceLost),
        Case(stage: .request, fault: .cancelled, meaning: .cancelled),
        Case(stage: .certificate, fault: .rejected, meaning: .claimFailed, words: "Only a restart shows"),
        Case(
            stage: .certificate, fault: .rejected, restoresLinks: true, meaning: .claimFailed,
            words: "Only a restart shows"),
        Case(stage: .certificate, fault: .deviceLost, meaning: .deviceLost, words: "Only a restart shows"),
        Case(stage: .certificate, fault: .cancelled, meaning: .cancelled),
    ]

    @Test("what the next run can do depends on the step of the claim", arguments: cases)
    func fault(example: Case) throws {
        var attempt = try Self.attempt(example.stage)
        let meaning = attempt.fault(
            BoardError(example.fault, message: "its own"), restoresLinks: example.restoresLinks)
        #expect(meaning.code == example.meaning)
        #expect(meaning.message.contains(example.words ?? "its own"))
    }

    @Test("a faulty answer is named", arguments: [Stage.start, .request])
    func answered(stage: Stage) throws {
        var attempt = try Self.attempt(stage)
        var error = BoardError(.malformed, message: "its own")
        error.faultyAnswer = "HTTP status 500"
        let message = attempt.fault(error, restoresLinks: false).message
        #expect(message.contains("endpoint rmaker_claim answered with HTTP status 500"), "\(message)")
    }

    @Test("a refusal at the start is a broken link once, and again only after a claim that was taken")
    func refusedTwice() throws {
        let refusal = BoardError(.rejected, message: "its own")
        var attempt = try Self.attempt(.start)
        #expect(attempt.fault(refusal, restoresLinks: true).code == .claimInterrupted)
        // To give a claim up does not make that forgotten.
        #expect(attempt.abort() == false)
        _ = attempt.start(room: nil, lostLinks: 1)
        #expect(attempt.fault(refusal, restoresLinks: true).code == .claimFailed)

        _ = attempt.start(room: nil, lostLinks: 1)
        let buffer = PayloadBuffer(payload: [0x7B, 0x7D], totalLength: 2)
        _ = try attempt.receive(
            ClaimPayload(.responseStart, .response(PayloadResponse(buffer: buffer))), lostLinks: 1)
        _ = attempt.start(room: nil, lostLinks: 1)
        #expect(attempt.fault(refusal, restoresLinks: true).code == .claimInterrupted)
    }

    @Test("a wrong answer after a link was made again is the link's fault")
    func answeredTwice() throws {
        let gap = PayloadBuffer(offset: 200, payload: [1], totalLength: 400)
        let answer = ClaimPayload(.responseInit, .response(PayloadResponse(buffer: gap)))
        for lostLinks in [0, 1] {
            var attempt = try Self.attempt(.request)
            let error = #expect(throws: BoardError.self) {
                try attempt.receive(answer, lostLinks: lostLinks)
            }
            #expect(error?.code == (lostLinks == 0 ? .claimFailed : .claimInterrupted))
        }
    }
}
