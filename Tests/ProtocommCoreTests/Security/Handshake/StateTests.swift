// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import TestSupport
import Testing

@Suite("Handshakes, order and restarts")
struct StateTests {
    @Test("there is no cipher before the device is verified")
    func noCipherBefore() throws {
        var one = client1()
        #expect(throws: HandshakeError.notEstablished) { try one.finish() }
        var device = device1()
        let command0 = try one.start().request
        #expect(throws: HandshakeError.notEstablished) { try one.finish() }
        let command1 = try one.receive(device.respond(to: command0).reply).request
        #expect(throws: HandshakeError.notEstablished) { try one.finish() }
        #expect(try one.receive(device.respond(to: command1).reply) == .established)
        _ = try one.finish()
        let zero = Security0Client()
        #expect(throws: HandshakeError.notEstablished) { try zero.finish() }
    }

    @Test("a step out of turn is refused")
    func outOfTurn() throws {
        var one = client1()
        #expect(throws: HandshakeError.notEstablished) { try one.receive([]) }
        var two = client2()
        _ = try two.start()
        #expect(throws: HandshakeError.notEstablished) { try two.start() }
    }

    @Test("a client that met a bad answer takes no better one")
    func noSecondAnswer() throws {
        var client = client1()
        var device = device1()
        let genuine = try device.respond(to: client.start().request).reply
        #expect(throws: HandshakeError.malformed) { try client.receive([0xFF]) }
        #expect(throws: HandshakeError.notEstablished) { try client.receive(genuine) }
    }

    @Test("after a wrong proof the device takes the right one, without a new first command")
    func rightAfterWrong() throws {
        var one = device1()
        var honest = client1()
        let right = try honest.receive(one.respond(to: honest.start().request).reply).request
        var wrong = right
        wrong[wrong.count - 1] ^= 1
        #expect(throws: HandshakeError.proofMismatch) { try one.respond(to: wrong) }
        #expect(try honest.receive(one.respond(to: right).reply) == .established)

        var two = device2(try verifier2())
        var knowing = client2()
        let proof = try knowing.receive(two.respond(to: knowing.start().request).reply).request
        var forged = proof
        forged[forged.count - 1] ^= 1
        #expect(throws: HandshakeError.proofMismatch) { try two.respond(to: forged) }
        #expect(try knowing.receive(two.respond(to: proof).reply) == .established)
    }

    @Test("a first command starts over at any time, and a proof of before is worth nothing then")
    func restart() throws {
        var device = device1()
        var first = client1(seed: 3)
        let stale = try first.receive(device.respond(to: first.start().request).reply).request
        let (client, board) = try shakeHands(client1(seed: 4), &device)
        var (sending, receiving) = (client, board)
        #expect(try receiving.decrypt(sending.encrypt([1, 2])) == [1, 2])
        #expect(throws: HandshakeError.notEstablished) { try device.respond(to: stale) }
        _ = try shakeHands(client1(seed: 5), &device)
        var two = device2(try verifier2())
        _ = try shakeHands(client2(seed: 6), &two)
        _ = try shakeHands(client2(seed: 7), &two)
    }

    @Test("two handshakes never use the same keys")
    func freshKeys() throws {
        var device = device1()
        var (first, _) = try shakeHands(client1(), &device)
        var (second, _) = try shakeHands(client1(), &device)
        let zeros = [UInt8](repeating: 0, count: 32)
        #expect(try first.encrypt(zeros) != second.encrypt(zeros))
    }

    @Test("a status other than success is reported")
    func rejected() throws {
        let status = Status.cryptoError
        var zero = Security0Client()
        _ = try zero.start()
        #expect(throws: HandshakeError.rejected(status: 6)) {
            try zero.receive(SessionData(.security0(.init(.response(.init(status))))).encoded())
        }
        var one = client1()
        _ = try one.start()
        #expect(throws: HandshakeError.rejected(status: 6)) {
            try one.receive(SessionData(.security1(.init(.response0(.init(status: status))))).encoded())
        }
        var two = client2()
        _ = try two.start()
        #expect(throws: HandshakeError.rejected(status: 6)) {
            try two.receive(SessionData(.security2(.init(.response0(.init(status: status))))).encoded())
        }
    }
}
