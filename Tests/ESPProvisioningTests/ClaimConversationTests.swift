// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import TestSupport
import Testing

@testable import ESPProvisioning

/// The client's side of a claim, against the answers of a board and a service that are written by hand.
@Suite("A claim, as the client leads it")
struct ClaimConversationTests {
    private static let reply = Array(#"{"node_id":"assigned"}"#.utf8)

    private static func answer(
        _ type: ClaimMessageType, _ status: ClaimStatus = .success, offset: Int = 0, text: [UInt8] = [],
        total: Int? = nil
    ) -> ClaimPayload {
        let buffer = PayloadBuffer(
            offset: UInt32(offset), payload: text, totalLength: UInt32(total ?? text.count))
        return ClaimPayload(type, .response(PayloadResponse(status: status, buffer: buffer)))
    }

    /// One that the board has introduced itself to.
    private static func begun(room: Int? = nil) throws -> ClaimConversation {
        var claim = ClaimConversation(room: room)
        _ = claim.start()
        _ = try claim.receive(answer(.responseStart, text: [0x7B, 0x7D]))
        return claim
    }

    @Test(
        "a request in pieces is put together, and the certificate goes in pieces of the same size",
        arguments: [200, 64, 33])
    func whole(piece: Int) throws {
        var claim = ClaimConversation()
        #expect(claim.start() == ClaimPayload(.commandStart, .command(PayloadBuffer())))
        #expect(try claim.receive(Self.answer(.responseStart, text: [1, 2, 3])) == .tellService([1, 2, 3]))
        #expect(
            try claim.relay(Self.reply)
                == ClaimPayload(
                    .commandInit,
                    .command(PayloadBuffer(payload: Self.reply, totalLength: UInt32(Self.reply.count)))))
        let text = (0..<611).map { UInt8(truncatingIfNeeded: $0) }
        var step: ClaimConversation.Step?
        for start in stride(from: 0, to: text.count, by: piece) {
            step = try claim.receive(
                Self.answer(
                    .responseInit, offset: start, text: Array(text[start..<min(start + piece, text.count)]),
                    total: text.count))
            if start + piece < text.count {
                #expect(step == .send(ClaimPayload(.commandInit, .command(PayloadBuffer()))))
            }
        }
        #expect(step == .tellService(text))

        let certificate = [UInt8](repeating: 0x63, count: 1001)
        var sent: [PayloadBuffer] = []
        var next = ClaimConversation.Step.send(try claim.relay(certificate))
        while case .send(let message) = next {
            guard message.message == .commandVerify, case .command(let buffer)? = message.payload else {
                return #expect(Bool(false), "\(message)")
            }
            sent.append(buffer)
            next = try claim.receive(Self.answer(.responseVerify))
        }
        #expect(next == .claimed)
        #expect(sent.map(\.payload).reduce([], +) == certificate)
        #expect(sent.allSatisfy { $0.totalLength == 1001 && $0.payload.count <= piece })
        #expect(sent.map { Int($0.offset) } == Array(stride(from: 0, to: 1001, by: piece)))
    }

    struct Broken: Sendable {
        var what: String
        var answers: [ClaimPayload]
    }

    static let brokenRequests = [
        Broken(
            what: "the first piece is missing", answers: [answer(.responseInit, offset: 200, text: [1], total: 201)]),
        Broken(
            what: "a piece in the middle is missing",
            answers: [
                answer(.responseInit, text: [UInt8](repeating: 1, count: 200), total: 600),
                answer(.responseInit, offset: 400, text: [UInt8](repeating: 1, count: 200), total: 600),
            ]),
        Broken(
            what: "a piece comes twice",
            answers: [
                answer(.responseInit, text: [UInt8](repeating: 1, count: 200), total: 600),
                answer(.responseInit, text: [UInt8](repeating: 1, count: 200), total: 600),
            ]),
        Broken(
            what: "the last piece is lost, and an empty one comes",
            answers: [
                answer(.responseInit, text: [UInt8](repeating: 1, count: 200), total: 300),
                answer(.responseInit, offset: 300, total: 300),
            ]),
        Broken(
            what: "the length changes",
            answers: [
                answer(.responseInit, text: [UInt8](repeating: 1, count: 200), total: 600),
                answer(.responseInit, offset: 200, text: [UInt8](repeating: 1, count: 200), total: 601),
            ]),
        Broken(what: "more comes than was said", answers: [answer(.responseInit, text: [1, 2, 3], total: 2)]),
        Broken(what: "nothing comes", answers: [answer(.responseInit)]),
        Broken(
            what: "it is too long",
            answers: [answer(.responseInit, text: [UInt8](repeating: 1, count: 200), total: 3072)]),
        Broken(what: "it comes in bytes", answers: [answer(.responseInit, text: [1], total: 600)]),
        Broken(what: "the board refuses the reply", answers: [answer(.responseInit, .invalidParameter)]),
        Broken(what: "the board has no memory", answers: [answer(.responseInit, .noMemory)]),
        Broken(what: "the board was restarted", answers: [answer(.responseInit, .invalidState)]),
        Broken(
            what: "the answer is a status nobody knows", answers: [answer(.responseInit, ClaimStatus(rawValue: 99))]),
        Broken(what: "the answer is to another question", answers: [answer(.responseVerify)]),
        Broken(what: "the answer is a question", answers: [ClaimPayload(.commandInit, .command(PayloadBuffer()))]),
        Broken(what: "the answer is empty", answers: [ClaimPayload()]),
    ]

    @Test("a request that does not come through whole ends the claim", arguments: brokenRequests)
    func broken(_ example: Broken) throws {
        var claim = try Self.begun()
        _ = try claim.relay(Self.reply)
        for answer in example.answers.dropLast() { _ = try claim.receive(answer) }
        let last = try #require(example.answers.last)
        let error = #expect(throws: BoardError.self) { try claim.receive(last) }
        #expect([.claimFailed, .malformed].contains(error?.code))
        #expect(error?.message.hasSuffix(".") == true)
        // It is over: nothing goes on from here.
        #expect(throws: BoardError.self) { try claim.receive(last) }
        #expect(throws: BoardError.self) { try claim.relay(Self.reply) }
    }

    @Test(
        "a certificate that the board does not store ends the claim",
        arguments: [ClaimStatus.invalidParameter, .fail, .noMemory])
    func refusedCertificate(status: ClaimStatus) throws {
        var claim = try Self.begun()
        _ = try claim.relay(Self.reply)
        _ = try claim.receive(Self.answer(.responseInit, text: [1, 2]))
        _ = try claim.relay([1])
        #expect(throws: BoardError.self) { try claim.receive(Self.answer(.responseVerify, status)) }
    }

    @Test("a board that is not ready is reported", arguments: [ClaimStatus.invalidState, .fail])
    func notReady(status: ClaimStatus) {
        var claim = ClaimConversation()
        _ = claim.start()
        #expect(throws: BoardError.self) { try claim.receive(Self.answer(.responseStart, status, text: [1])) }
    }

    @Test("an introduction is short, whole and not empty")
    func introduction() {
        for bad in [
            Self.answer(.responseStart), Self.answer(.responseStart, offset: 1, text: [1]),
            Self.answer(.responseStart, text: [1], total: 2),
            Self.answer(.responseStart, text: [UInt8](repeating: 1, count: 513)),
        ] {
            var claim = ClaimConversation()
            _ = claim.start()
            #expect(throws: BoardError.self) { try claim.receive(bad) }
        }
    }

    @Test("a reply of the service has to fit into the board, and its first into one message of the transport")
    func room() throws {
        for (count, room, fits) in [
            (0, nil, false), (1, nil, true), (3071, nil, true), (3072, nil, false), (433, 433, true), (434, 433, false),
        ] as [(Int, Int?, Bool)] {
            var claim = try Self.begun(room: room)
            let reply = [UInt8](repeating: 0x7B, count: count)
            if fits {
                _ = try claim.relay(reply)
            } else {
                #expect(throws: BoardError.self) { try claim.relay(reply) }
            }
        }
        // Pieces are as small as the transport wants them.
        var claim = try Self.begun(room: 100)
        _ = try claim.relay(Self.reply)
        _ = try claim.receive(Self.answer(.responseInit, text: [UInt8](repeating: 1, count: 200)))
        guard case .command(let buffer)? = try claim.relay([UInt8](repeating: 1, count: 900)).payload else {
            return #expect(Bool(false))
        }
        #expect(buffer.payload.count == 100)
    }

    @Test("a board's answers, fuzzed: every conversation ends within its bounds")
    func fuzzed() async throws {
        try await withOwnProcessInSoak {
            let examples = [
                Self.answer(.responseStart, text: [0x7B, 0x7D]),
                Self.answer(.responseInit, text: [UInt8](repeating: 1, count: 200), total: 600),
                Self.answer(.responseInit, offset: 200, text: [UInt8](repeating: 1, count: 200), total: 600),
                Self.answer(.responseInit, text: [1, 2]), Self.answer(.responseVerify),
                Self.answer(.responseVerify, .invalidState),
            ].map { $0.encoded() }
            let report = fuzz("claim answers", from: examples, seed: 35, maximumLength: 4096) { input in
                guard let answer = try? ClaimPayload(decoding: input) else { return }
                for stage in 0..<3 {
                    var claim = ClaimConversation()
                    _ = claim.start()
                    if stage > 0, (try? claim.receive(Self.answer(.responseStart, text: [1]))) == nil { return }
                    if stage > 0, (try? claim.relay(Self.reply)) == nil { return }
                    if stage > 1, (try? claim.receive(Self.answer(.responseInit, text: [1, 2]))) == nil { return }
                    if stage > 1, (try? claim.relay(Self.reply)) == nil { return }
                    // The same answer again and again: a board cannot keep a client busy.
                    var rounds = 0
                    while let step = try? claim.receive(answer), case .send = step { rounds += 1 }
                    #expect(rounds <= 100)
                }
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
