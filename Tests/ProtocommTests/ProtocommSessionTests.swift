// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import RainKitTesting
import Testing

@Suite("A protocomm session")
struct ProtocommSessionTests {
    typealias Fault = InMemoryTransport.Fault

    /// A session over a toy board. `faults` are indexed by exchange; a handshake takes exchanges 0 and 1.
    func makeSession(
        board: ToyBoard = ToyBoard(), clock: ManualClock = ManualClock(), limit: Int? = nil, faults: [Int: Fault] = [:]
    ) -> ProtocommSession {
        let transport = InMemoryTransport(
            maximumRequestLength: limit, clock: clock, fault: { number, _ in faults[number] }
        ) { request, endpoint in
            await board.answer(request, onSession: endpoint == .session, isVersion: endpoint == .version)
        }
        return ProtocommSession(transport: transport, clock: clock)
    }

    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test("the version is asked in clear, before any handshake and in the middle of a session")
    func versionInClear() async throws {
        let session = makeSession()
        #expect(text(try await session.versionInfo()) == "{}")
        #expect(await session.state == .clear)
        try await session.handshake(ToyScheme())
        #expect(text(try await session.versionInfo()) == "{}")
        #expect(text(try await session.request(Array("R1".utf8), on: .config)) == "1R")
    }

    @Test("nothing is sent before the handshake")
    func handshakeFirst() async throws {
        let board = ToyBoard()
        let session = makeSession(board: board)
        let error = await #expect(throws: BoardError.self) { try await session.request([1], on: .config) }
        #expect(error?.code == .handshakeNeeded)
        #expect(board.mostInside == 0)
    }

    /// A cipher that takes nothing for an answer.
    private struct StrictCipher: SessionCipher {
        mutating func encrypt(_ plaintext: [UInt8]) throws(CipherError) -> [UInt8] { plaintext }
        mutating func decrypt(_ ciphertext: [UInt8]) throws(CipherError) -> [UInt8] { throw .authenticationFailed }
    }

    private struct StrictScheme: SecurityScheme {
        mutating func start() throws(HandshakeError) -> HandshakeStep { .send([0]) }
        mutating func receive(_ response: [UInt8]) throws(HandshakeError) -> HandshakeStep { .established }
        consuming func finish() throws(HandshakeError) -> StrictCipher { StrictCipher() }
    }

    @Test(
        "an answer that cannot be decrypted says whether it was encrypted at all",
        arguments: [
            (Array("not encrypted".utf8), "answer on prov-config (13 bytes) is not encrypted"),
            ([0x80, 0x01, 0xFF], "The board's answer on prov-config cannot be decrypted"),
        ])
    func undecryptable(answer: [UInt8], words: String) async throws {
        let session = ProtocommSession(transport: InMemoryTransport { _, _ in answer })
        try await session.handshake(StrictScheme())
        let error = await #expect(throws: BoardError.self) { try await session.request([1], on: .config) }
        #expect(error?.code == .cipherFailure && error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test("a hundred concurrent requests are served one at a time, each with its own answer")
    func hundredConcurrentRequests() async throws {
        let board = ToyBoard()
        let session = makeSession(board: board)
        try await session.handshake(ToyScheme())
        try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for number in 0..<100 {
                group.addTask {
                    let answer = try await session.request(Array("R\(number)".utf8), on: .config)
                    return (number, String(decoding: answer, as: UTF8.self))
                }
            }
            for try await (number, answer) in group { #expect(answer == String("R\(number)".reversed())) }
        }
        #expect(board.mostInside == 1)
        #expect(board.received.count == 100)
    }

    @Test("requests leave in the order in which they were asked for")
    func firstComeFirstServed() async throws {
        let board = ToyBoard()
        let clock = ManualClock()
        let session = makeSession(board: board, clock: clock, faults: [2: .delay(.seconds(1))])
        try await session.handshake(ToyScheme())
        // Number 0 is held up, so that all others have to queue; each is queued before the next one asks.
        var tasks: [Task<[UInt8], any Error>] = []
        for number in 0..<50 {
            tasks.append(Task { try await session.request(Array("R\(number)".utf8), on: .config) })
            if number == 0 { await clock.waitForSleepers(2) }
            while await session.waitingCount < number { await Task.yield() }
        }
        clock.advance(by: .seconds(1))
        for task in tasks { _ = try await task.value }
        #expect(board.received.map(text) == (0..<50).map { "R\($0)" })
    }

    @Test("a waiter that is cancelled never sends, and the others go on")
    func cancelledWaiter() async throws {
        let board = ToyBoard()
        let clock = ManualClock()
        let session = makeSession(board: board, clock: clock, faults: [2: .delay(.seconds(1))])
        try await session.handshake(ToyScheme())
        let first = Task { try await session.request(Array("R1".utf8), on: .config) }
        await clock.waitForSleepers(2)
        let second = Task { try await session.request(Array("R2".utf8), on: .config) }
        while await session.waitingCount < 1 { await Task.yield() }
        let third = Task { try await session.request(Array("R3".utf8), on: .config) }
        while await session.waitingCount < 2 { await Task.yield() }
        second.cancel()
        let error = await #expect(throws: BoardError.self) { try await second.value }
        #expect(error?.code == .cancelled)
        clock.advance(by: .seconds(1))
        #expect(text(try await first.value) == "1R")
        #expect(text(try await third.value) == "3R")
        #expect(board.received.map(text) == ["R1", "R3"])
    }

    @Test("after an exchange is cancelled in flight, both ends are out of step until a new handshake")
    func cancelledExchange() async throws {
        let board = ToyBoard()
        let clock = ManualClock()
        let session = makeSession(board: board, clock: clock, faults: [2: .loseAnswer])
        try await session.handshake(ToyScheme())
        let task = Task { try await session.request(Array("R1".utf8), on: .config) }
        await clock.waitForSleepers(1)
        task.cancel()
        let cancelled = await #expect(throws: BoardError.self) { try await task.value }
        #expect(cancelled?.code == .cancelled)
        #expect(await session.state == .outOfStep)
        let refused = await #expect(throws: BoardError.self) { try await session.request([1], on: .config) }
        #expect(refused?.code == .handshakeNeeded)
        try await session.handshake(ToyScheme())
        #expect(text(try await session.request(Array("R2".utf8), on: .config)) == "2R")
    }

    @Test("an exchange has a deadline, which is longer for the handshake", arguments: [0, 2])
    func deadlines(silentExchange: Int) async throws {
        let clock = ManualClock()
        let session = makeSession(clock: clock, faults: [silentExchange: .loseRequest])
        let task = Task {
            try await session.handshake(ToyScheme())
            return try await session.request(Array("R1".utf8), on: .config)
        }
        let limit: Duration = silentExchange == 0 ? .seconds(15) : .seconds(10)
        while clock.nextDeadline?.offset != limit { await Task.yield() }
        clock.advance(by: limit - .nanoseconds(1))
        await clock.waitForSleepers(1)
        clock.advance(by: .nanoseconds(1))
        let error = await #expect(throws: BoardError.self) { _ = try await task.value }
        #expect(error?.code == (silentExchange == 0 ? .neverAnswered : .timeout))
        #expect(error?.endpoint == (silentExchange == 0 ? .session : .config))
        // What has not answered yet may be any device.
        let subject = silentExchange == 0 ? "The device at " : "The board at "
        #expect(error?.message.hasPrefix(subject) == true, "\(error as Any)")
        #expect(error?.message.contains("has not answered") == false)
    }

    @Test("a request that never left is sent again as the same bytes, and no other one in its place")
    func unsentRequest() async throws {
        let session = makeSession(faults: [2: .fail(.unreachable), 4: .fail(.unreachable)])
        try await session.handshake(ToyScheme())
        let error = await #expect(throws: BoardError.self) {
            try await session.request(Array("R1".utf8), on: .config)
        }
        #expect(error?.code == .unreachable)
        #expect(text(try await session.request(Array("R1".utf8), on: .config)) == "1R")
        _ = try? await session.request(Array("R2".utf8), on: .config)
        let other = await #expect(throws: BoardError.self) {
            try await session.request(Array("R3".utf8), on: .config)
        }
        #expect(other?.code == .handshakeNeeded)
    }

    @Test("a refused request, a broken answer and a lost connection each ask for a new handshake")
    func outOfStep() async throws {
        for (fault, code) in [
            (Fault.refuse, BoardError.Code.refused), (.fail(.lost), .lost), (.fail(.malformed), .malformed),
        ] {
            let session = makeSession(faults: [2: fault])
            try await session.handshake(ToyScheme())
            let error = await #expect(throws: BoardError.self) {
                try await session.request(Array("R1".utf8), on: .config)
            }
            #expect(error?.code == code)
            #expect(await session.state == .outOfStep)
        }
    }

    @Test("a request too long for the transport is refused before it is encrypted")
    func tooLong() async throws {
        let session = makeSession(limit: 10)
        try await session.handshake(ToyScheme())
        let error = await #expect(throws: BoardError.self) {
            try await session.request([UInt8](repeating: 0x52, count: 11), on: .config)
        }
        #expect(error?.code == .tooLong)
        #expect(text(try await session.request(Array("R1".utf8), on: .config)) == "1R")
    }

    @Test("a handshake that the transport cannot carry is a security mismatch, and nothing is sent")
    func handshakeTooLong() async throws {
        let board = ToyBoard()
        let session = makeSession(board: board, limit: 0)
        let error = await #expect(throws: BoardError.self) { try await session.handshake(ToyScheme()) }
        #expect(error?.code == .securityMismatch)
        #expect(board.mostInside == 0)
    }

    @Test("a refused first command is a security mismatch, a refused second one a wrong proof of possession")
    func inference() async throws {
        for (exchange, code) in [
            (0, BoardError.Code.securityMismatch), (1, .wrongProofOfPossession),
        ] {
            let session = makeSession(faults: [exchange: .refuse])
            let error = await #expect(throws: BoardError.self) { try await session.handshake(ToyScheme()) }
            #expect(error?.code == code)
        }
        let session = makeSession()
        let error = await #expect(throws: BoardError.self) { try await session.handshake(ToyScheme(proof: 41)) }
        #expect(error?.code == .wrongProofOfPossession)
    }

    @Test("a board that proves itself wrongly, or answers with something else, is not trusted")
    func unverifiedBoard() async throws {
        for (exchange, code) in [
            (0, BoardError.Code.securityMismatch), (1, .wrongProofOfPossession),
        ] {
            let session = makeSession(faults: [exchange: .truncateAnswer(1)])
            let error = await #expect(throws: BoardError.self) { try await session.handshake(ToyScheme()) }
            #expect(error?.code == code)
            #expect(await session.state == .outOfStep)
        }
    }

    @Test("ending the session tells those who wait, cuts off the exchange in flight, and is final")
    func ending() async throws {
        let clock = ManualClock()
        let session = makeSession(clock: clock, faults: [2: .loseRequest])
        try await session.handshake(ToyScheme())
        let inFlight = Task { try await session.request(Array("R1".utf8), on: .config) }
        await clock.waitForSleepers(1)
        let waiting = Task { try await session.request(Array("R2".utf8), on: .config) }
        while await session.waitingCount < 1 { await Task.yield() }
        await session.end()
        for task in [inFlight, waiting, Task { try await session.request([1], on: .config) }] {
            let error = await #expect(throws: BoardError.self) { try await task.value }
            #expect(error?.code == .ended)
        }
        #expect(await session.state == .ended)
    }
}
