// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import TestSupport
import Testing

/// The first five cases are those of `test_security1.c` in ESP-IDF: firmware once read one member of a oneof as another, or
/// none at all.
@Suite("Handshakes, malformed messages")
struct MalformedMessageTests {
    enum Confusion: CaseIterable, Sendable {
        case noScheme, command0WithoutMember, command0WithMemberOfCommand1, command1WithoutMember
        case command1WithMemberOfCommand0, response0, unknownType

        func one(_ command0: [UInt8], _ command1: [UInt8]) throws -> SessionData {
            var first = Security1Payload()
            var second = Security1Payload()
            if case .security1(let payload)? = try SessionData(decoding: command0).payload { first = payload }
            if case .security1(let payload)? = try SessionData(decoding: command1).payload { second = payload }
            var confused = SessionData(.security1(first))
            switch self {
            case .noScheme: confused.payload = nil
            case .command0WithoutMember: first.payload = nil
            case .command0WithMemberOfCommand1: first.payload = second.payload
            case .command1WithoutMember:
                first.message = .command1
                first.payload = nil
            case .command1WithMemberOfCommand0: first.message = .command1
            case .response0: first.message = .response0
            case .unknownType: first.message = HandshakeMessageType(rawValue: 77)
            }
            if self != .noScheme { confused.payload = .security1(first) }
            return confused
        }

        func two(_ command0: [UInt8], _ command1: [UInt8]) throws -> SessionData {
            var first = Security2Payload()
            var second = Security2Payload()
            if case .security2(let payload)? = try SessionData(decoding: command0).payload { first = payload }
            if case .security2(let payload)? = try SessionData(decoding: command1).payload { second = payload }
            var confused = SessionData(.security2(first))
            switch self {
            case .noScheme: confused.payload = nil
            case .command0WithoutMember: first.payload = nil
            case .command0WithMemberOfCommand1: first.payload = second.payload
            case .command1WithoutMember:
                first.message = .command1
                first.payload = nil
            case .command1WithMemberOfCommand0: first.message = .command1
            case .response0: first.message = .response0
            case .unknownType: first.message = HandshakeMessageType(rawValue: 77)
            }
            if self != .noScheme { confused.payload = .security2(first) }
            return confused
        }
    }

    @Test("a device refuses a message whose type and member disagree, in either state", arguments: Confusion.allCases)
    func typeConfusion(_ confusion: Confusion) throws {
        var client = client1()
        var device = device1()
        let command0 = try client.start().request
        let reply0 = try device.respond(to: command0).reply
        let command1 = try client.receive(reply0).request
        let confused = try confusion.one(command0, command1).encoded()
        #expect(throws: HandshakeError.malformed) { try device.respond(to: confused) }
        var fresh = device1()
        #expect(throws: HandshakeError.malformed) { try fresh.respond(to: confused) }

        var knowing = client2()
        var two = device2(try verifier2())
        let opening = try knowing.start().request
        let proof = try knowing.receive(two.respond(to: opening).reply).request
        let muddled = try confusion.two(opening, proof).encoded()
        #expect(throws: HandshakeError.malformed) { try two.respond(to: muddled) }
    }

    @Test("every end refuses a message that names another scheme", arguments: 0...3)
    func wrongVersion(_ number: Int32) throws {
        func reply(to request: [UInt8]) throws -> [UInt8] {
            var message = try SessionData(decoding: request)
            message.version = SecurityVersion(rawValue: number)
            return message.encoded()
        }
        let vector = Vector.all
        for (name, scheme) in [("sec0", 0), ("sec1_pop", 1), ("sec2_patch1", 2)] as [(String, Int32)]
        where scheme != number {
            var device = try vector[name]!.device(name)
            #expect(throws: HandshakeError.versionMismatch) {
                try device.respond(to: reply(to: hex(vector[name]!.handshake[0].req)))
            }
            var client = try vector[name]!.client(name)
            _ = try client.start()
            #expect(throws: HandshakeError.versionMismatch) {
                try client.receive(reply(to: hex(vector[name]!.handshake[0].resp)))
            }
        }
    }

    @Test("no part of a message is taken for the whole", arguments: ["sec1_pop", "sec2_patch0", "sec2_patch1"])
    func truncation(_ name: String) throws {
        let vector = Vector.named(name)
        for round in vector.handshake.indices {
            var client = try vector.client(name)
            var device = try vector.device(name)
            _ = try client.start()
            for exchange in vector.handshake[..<round] {
                _ = try device.respond(to: hex(exchange.req))
                _ = try client.receive(hex(exchange.resp))
            }
            let (request, response) = (hex(vector.handshake[round].req), hex(vector.handshake[round].resp))
            for length in 0..<request.count {
                var device = device
                #expect(throws: HandshakeError.self) { try device.respond(to: Array(request.prefix(length))) }
            }
            for length in 0..<response.count {
                var client = client
                #expect(throws: HandshakeError.self) { try client.receive(Array(response.prefix(length))) }
            }
        }
    }
}
